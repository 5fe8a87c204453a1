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
from kgnav_bench.commands import measurement
from kgnav_bench.runs import Run


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


COMMANDS = dict(commands(main))
PREPARATIONS = {
    ("convert",),
    *(("dataset", name) for name in ("list", "fetch", "read", "graph")),
    ("graphwalk", "make"),
    ("plans", "make"),
    ("neo4j", "make"),
    ("neo4j", "films"),
    *(("walks", name) for name in ("make", "check", "questions", "overlap", "roll")),
}
"""Commands that write what is measured, and measure nothing."""


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_the_help_has_an_example_that_the_command_accepts(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for file in ("films.kg", "questions.jsonl", "attempts.jsonl", "walks.jsonl"):
        Path(file).touch()
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


def test_a_store_is_named_without_its_password_and_may_be_cleared_to_resume(tmp_path: Path):
    @click.command()
    @click.option("--neo4j")
    @click.option("--clear", is_flag=True)
    @measurement
    def command(record: Run, neo4j: str, clear: bool) -> str:
        return f"{record.finished} {neo4j} {clear}"

    results = tmp_path / "results.jsonl"
    for given in ((), ("--clear",)):
        ran = CliRunner().invoke(command, ["--neo4j", "bolt://me:secret@host:1", "-o", str(results), *given])
        assert "bolt://me:secret@host:1" in ran.output
    assert "secret" not in results.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["freebase", "wikidata"])
def test_a_folder_without_the_files_of_a_dataset_is_not_converted(tmp_path: Path, name: str):
    target = tmp_path / "graph.nt.gz"
    ran = CliRunner().invoke(main, ["convert", "--dataset", name, str(tmp_path), str(target)])
    assert f"is not a folder of {name}" in ran.output
    assert not target.exists()
