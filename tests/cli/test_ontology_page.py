"""The page about ontologies: its commands do what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Kgnav

PAGE = (Path(__file__).parents[2] / "docs" / "ontologies.md").read_text(encoding="utf-8")
FILES = re.findall(r"```text (\S+)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"```console\n\$ kgnav ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
SUMMARY = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def _files(empty_folder: Path) -> None:
    for name, text in FILES:
        (empty_folder / name).write_text(text, encoding="utf-8")


def test_the_commands_of_the_page_print_what_it_shows(kgnav: Kgnav) -> None:
    (load, _), *questions = COMMANDS
    loaded = kgnav(*shlex.split(load))
    assert loaded.exit_code == 0, loaded.output
    assert [SUMMARY[0]] == ["".join(line for line in loaded.stdout.splitlines(keepends=True) if line.startswith("  "))]
    assert len(questions) == 10
    for command, shown in questions:
        answer = kgnav(*shlex.split(command))
        lines = answer.stdout.splitlines(keepends=True)
        assert (command, "".join(line for line in lines if not line.startswith("Next: "))) == (command, shown)
