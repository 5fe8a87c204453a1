"""Every command says what it does, with an example that can be pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


COMMANDS = dict(commands(main))
PREPARATIONS = {("convert",), ("graphwalk", "make"), ("plans", "make"), ("neo4j", "make"), ("neo4j", "films")}
"""Commands that write what is measured, and measure nothing."""


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_the_help_has_an_example_that_the_command_accepts(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("films.kg").touch()
    for folder in ("metaqa", "fb15k237"):
        Path(folder).mkdir()
    text = CliRunner().invoke(main, [*names, "--help"]).output
    (example,) = re.findall(r"(?m)^Example:\n  (.*)", text) or re.findall(r"(?m)^  Example:\n    (.*)", text)
    program, *arguments = shlex.split(example)
    assert (program, tuple(arguments[: len(names)])) == ("kgnav-bench", names)
    COMMANDS[names].make_context(" ".join(names), arguments[len(names) :])


@pytest.mark.parametrize("names", sorted(COMMANDS.keys() - PREPARATIONS), ids=" ".join)
def test_what_is_measured_can_be_resumed(names: tuple[str, ...]):
    options = {option for each in COMMANDS[names].params for option in each.opts}
    assert {"--output", "--again", "--progress"} <= options
