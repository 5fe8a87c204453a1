"""The commands of this distribution's pages are accepted, and their links lead to pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from kgnav_bench.cli import main

FOLDER = Path(__file__).parents[2] / "bench"
PAGES = [FOLDER / "README.md", *sorted((FOLDER / "docs").glob("*.md"))]
_FILES = re.compile(r"[\w.-]+\.(?:jsonl?|kg|toml)")


def commands(page: Path) -> list[str]:
    """The commands in the page's shell examples, without comments, each on one line."""
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", page.read_text(encoding="utf-8"))
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("kgnav-bench ")]


@pytest.mark.parametrize(
    "command", [pytest.param(each, id=f"{page.stem}: {each}") for page in PAGES for each in commands(page)]
)
def test_a_command_of_a_page_is_accepted(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for file in _FILES.findall(command):
        Path(file).touch()
    Path("metaqa").mkdir()
    _, *arguments = shlex.split(command, comments=True)
    group: click.Command = main
    names: list[str] = []
    while isinstance(group, click.Group) and arguments and arguments[0] in group.commands:
        names.append(arguments[0])
        group = group.commands[arguments.pop(0)]
    if arguments != ["--help"]:
        assert not isinstance(group, click.Group)
        group.make_context(" ".join(names), arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_pages(page: Path):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).is_file()] == []
    if page.name == "README.md":
        assert {f"docs/{each.name}" for each in PAGES[1:]} <= set(local)
