"""The examples of the pages: each command or program prints what stands below it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPTS, Kgnav

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("ontologies", "papers", "plans", "tables", "tools")
_FILE = re.compile(r"^```text (\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^\$ kgnav (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_SPEED = re.compile(r", [\d,]+/s, [\d.]+ s$")
_CONTINUES = "...\n"


def lines_of(output: str) -> list[str]:
    """The lines of an output without the advice at its end and the speed of a load."""
    return [_SPEED.sub("", line) for line in output.splitlines() if not line.startswith("Next: ")]


@pytest.mark.parametrize("name", PAGES)
def test_the_console_examples_of_a_page_print_what_it_shows(name: str, kgnav: Kgnav, empty_folder: Path) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for file, content in _FILE.findall(page):
        (empty_folder / file).write_text(content, encoding="utf-8")
    examples = _EXAMPLE.findall("".join(_BLOCK.findall(page)))
    assert examples
    for command, shown in examples:
        output, expected = lines_of(kgnav(*shlex.split(command)).output), lines_of(shown.removesuffix(_CONTINUES))
        assert (command, output[: len(expected)] if shown.endswith(_CONTINUES) else output) == (command, expected)


def test_no_other_page_has_console_examples() -> None:
    assert [path.stem for path in sorted(DOCS.glob("*.md")) if _BLOCK.search(path.read_text("utf-8"))] == [*PAGES]


def test_the_example_of_a_client_in_python_prints_what_the_page_shows() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    [(program, shown)] = re.findall(r"^```python\n(.*?)^```.*?^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    path = os.pathsep.join((str(SCRIPTS), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert (done.stdout, done.stderr) == (shown, "")
