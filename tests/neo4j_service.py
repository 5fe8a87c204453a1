"""A real Neo4j for tests, run by `scripts/service`: with APOC and without, each shared by the session."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.services import SCRIPT, ServiceFailedError

_VARIABLES = ("KGNAV_NEO4J_PORT", "KGNAV_NEO4J_PASSWORD")


class Neo4j:
    """One instance of Neo4j with a home of its own, driven through the script as a person drives it."""

    def __init__(self, home: Path, *, apoc: bool = False) -> None:
        self.home = home
        self._apoc = apoc

    @property
    def url(self) -> str:
        """Its address; the same after a restart."""
        return self._run("url").strip()

    @property
    def process(self) -> int:
        """The id of its process. Asking for it while it does not run is a fault of the test's."""
        return int(self._run("status").rpartition(" ")[2])

    def start(self, **variables: str) -> None:
        """Start it unless it runs, and wait until it answers."""
        self._run("start", *(["--apoc"] if self._apoc else []), **variables)

    def stop(self) -> None:
        """End it as an operator does, and wait."""
        self._run("stop")

    def kill(self) -> None:
        """End it as a crash does. What was committed before stays; `start` brings it back."""
        os.kill(self.process, signal.SIGKILL)
        while script(self.home, "status").returncode == 0:
            time.sleep(0.01)

    def clear(self) -> None:
        """Delete all that is in it."""
        self._run("clear")

    def load(self, paths: Iterable[Path], *, full_text: bool = True) -> None:
        """Empty it, then load node and edge files, and index their names or not."""
        self.clear()
        self._run("load", *map(str, paths), *([] if full_text else ["--no-full-text"]))

    def _run(self, command: str, *arguments: str, **variables: str) -> str:
        done = script(self.home, command, *arguments, **variables)
        if done.returncode:
            raise ServiceFailedError(done.stderr.strip() or done.stdout.strip())
        return done.stdout


def script(home: Path, command: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`scripts/service neo4j COMMAND` on an instance that lives in `home`."""
    environment = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    return subprocess.run(
        [SCRIPT, "neo4j", command, "--home", home, *arguments],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def need_neo4j() -> None:
    """Skip where Java is not installed. On CI it is never skipped: the script installs it or the test fails."""
    if not os.environ.get("CI") and not (shutil.which("javac") and shutil.which("mvn")):
        pytest.skip(
            "Java or Maven is not installed; `scripts/service neo4j start` installs both, as root, with apt-get"
        )


@contextmanager
def _running(home: Path, *, apoc: bool) -> Generator[Neo4j]:
    need_neo4j()
    service = Neo4j(home, apoc=apoc)
    try:
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(service.home)


@pytest.fixture(scope="session")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4j]:
    """A running Neo4j without any plugin, as Aura has it: load a graph of your own, and leave it running."""
    with _running(tmp_path_factory.mktemp("neo4j"), apoc=False) as service:
        yield service


@pytest.fixture(scope="session")
def neo4j_with_apoc(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4j]:
    """A running Neo4j with APOC: as above."""
    with _running(tmp_path_factory.mktemp("neo4j_with_apoc"), apoc=True) as service:
        yield service


@pytest.fixture
def own_neo4j(tmp_path: Path) -> Generator[Neo4j]:
    """An instance of one test's own, not started yet, that may be stopped and killed."""
    need_neo4j()
    service = Neo4j(tmp_path / "own")
    try:
        yield service
    finally:
        service.stop()
