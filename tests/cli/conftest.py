"""The command line in an empty folder: no configuration of the machine's user, and a cache of the test run's own."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgnav_mcp.cli import main

Kgnav = Callable[..., Result]
Command = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPTS = Path(sysconfig.get_path("scripts"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> Path:
    for name in list(os.environ):
        if name.startswith("KGNAV_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kgnav() -> Kgnav:
    """Runs `kgnav` with arguments in this process; a mistake of the program fails the test."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="kgnav")

    return run


@pytest.fixture
def command() -> Command:
    """Runs an installed command in a process of its own."""

    def run(name: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPTS / name, *arguments], input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """A source of three triples."""
    source = tmp_path / "films.nt"
    name = "<http://www.w3.org/2000/01/rdf-schema#label>"
    source.write_text(
        f"<http://f.example/alien> <http://f.example/director> <http://f.example/scott> .\n"
        f'<http://f.example/alien> {name} "Alien" .\n<http://f.example/scott> {name} "Ridley Scott" .\n',
        encoding="utf-8",
    )
    return source
