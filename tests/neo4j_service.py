"""A real Neo4j for tests, run by `scripts/service`: with APOC and without, each shared by the session."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import ClassVar

import pytest

from tests.services import SHORT_LIVED, GraphService, running


class Neo4j(GraphService):
    """Neo4j, which holds one graph."""

    store: ClassVar[str] = "neo4j"

    def __init__(self, home: Path, *, apoc: bool = False) -> None:
        super().__init__(home)
        self._flags = ("--apoc",) if apoc else ()

    def start(self, *arguments: str, **variables: str) -> None:
        super().start(*self._flags, *arguments, **SHORT_LIVED, **variables)

    def clear(self) -> None:
        """Delete all that is in it."""
        self._graphs().clear(None)

    def load(self, paths: Iterable[Path], *, full_text: bool = True) -> None:
        """Empty it, then load node and edge files, and index their names or not."""
        self.clear()
        self._graphs(*([] if full_text else ["no-full-text"])).load(list(paths), None)


def need_neo4j() -> None:
    """Skip where Java is not installed. On CI it is never skipped: the script installs it or the test fails."""
    if not os.environ.get("CI") and not (shutil.which("javac") and shutil.which("mvn")):
        pytest.skip(
            "Java or Maven is not installed; `scripts/service neo4j start` installs both, as root, with apt-get"
        )


@pytest.fixture(scope="session")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4j]:
    """A running Neo4j without any plugin, as Aura has it: load a graph of your own, and leave it running."""
    need_neo4j()
    with running(Neo4j(tmp_path_factory.mktemp("neo4j"))) as service:
        yield service


@pytest.fixture(scope="session")
def neo4j_with_apoc(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4j]:
    """A running Neo4j with APOC: as above."""
    need_neo4j()
    with running(Neo4j(tmp_path_factory.mktemp("neo4j_with_apoc"), apoc=True)) as service:
        yield service


@pytest.fixture
def own_neo4j(tmp_path: Path) -> Generator[Neo4j]:
    """An instance of one test's own, not started yet, that may be stopped and killed."""
    need_neo4j()
    service = Neo4j(tmp_path / "own")
    try:
        yield service
    finally:
        service.remove()
