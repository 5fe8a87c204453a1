"""A run that was killed continues where it was, and has the results of one that was not."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main

pytestmark = pytest.mark.slow

KILLED = """
import os, signal, sys
from kgnav_bench.cli import main
from kgnav_bench.runs import Run

left, keep = int(sys.argv.pop(1)), Run.keep

def keep_some(self, key, value, seconds):
    global left
    if left == 0:
        with self.path.open("ab") as file:
            file.write(b'{"key": "questions/2 ho')
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    keep(self, key, value, seconds)

Run.keep = keep_some
main()
"""
"""The command line, which is killed while it writes the line after so many items."""

REACH = ("reach", "metaqa", "--all", "--data")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_effort(report: str) -> str:
    """The report but for the calls that were sent and the time that they took."""
    return re.sub(r"the [\d,]+ that were sent.*", "", report)


def invoked(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


@pytest.fixture
def unbroken(finished: Path, tmp_path: Path) -> Path:
    """The results of a run, with its report, that a test may change."""
    for path in (finished, finished.with_suffix(".md")):
        shutil.copy(path, tmp_path)
    return tmp_path / finished.name


@pytest.fixture(scope="module")
def finished(films: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "unbroken.jsonl"
    result = invoked(*REACH, films, "-o", path)
    assert (result.exit_code, "questions: " in result.stderr) == (0, False), result.output
    return path


def test_a_run_that_is_killed_in_the_middle_has_the_results_of_an_unbroken_one(
    films: Path, unbroken: Path, tmp_path: Path
):
    path = tmp_path / "killed.jsonl"
    killed_after(4, *REACH, films, "-o", path)
    before = path.read_bytes()
    assert not before.endswith(b"\n")
    assert not path.with_suffix(".md").exists()

    resumed = invoked(*REACH, films, "-o", path)

    assert resumed.exit_code == 0, resumed.output
    assert f"4 items are reused from {path}" in resumed.stderr
    assert path.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    both = [{line["key"]: line["value"] for line in lines(each)[1:]} for each in (path, unbroken)]
    assert [[(key, value["missing_answers"], value["calls"]) for key, value in each.items()] for each in both] == [
        [(f"questions/{hops} hops {n}", [], hops) for hops in (1, 2, 3) for n in (1, 2, 3)]
    ] * 2
    reports = [each.with_suffix(".md").read_text(encoding="utf-8") for each in (path, unbroken)]
    assert without_effort(reports[0]) == without_effort(reports[1])
    assert "PASS: every gold relation is offered and every gold answer shown" in reports[0]


def killed_after(items: int, *arguments: str | Path) -> None:
    """Run a command and kill it in the middle of a line."""
    command = [sys.executable, "-c", KILLED, str(items), *arguments]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr


@pytest.mark.extended
@pytest.mark.parametrize(
    "command", [("tokens", "metaqa", "--all"), ("economy", "metaqa", "--all"), ("proof", "--count", "6")], ids=" ".join
)
def test_a_command_that_is_killed_reports_what_an_unbroken_one_reports(
    command: tuple[str, ...], films: Path, tmp_path: Path
):
    arguments = [*command, "--data", films, "-o"]
    assert invoked(*arguments, tmp_path / "unbroken.jsonl").exit_code == 0
    killed_after(3, *arguments, tmp_path / "killed.jsonl")
    kept = lines(tmp_path / "unbroken.jsonl")[1:4]
    resumed = invoked(*arguments, tmp_path / "killed.jsonl")
    assert resumed.exit_code == 0, resumed.output
    assert [line["key"] for line in lines(tmp_path / "killed.jsonl")[1:4]] == [line["key"] for line in kept]
    assert (tmp_path / "killed.md").read_bytes() == (tmp_path / "unbroken.md").read_bytes()


@pytest.mark.extended
def test_the_first_of_two_compared_loads_is_kept(tmp_path: Path):
    path = tmp_path / "load.jsonl"
    killed_after(1, "load", "1000", tmp_path / "loads", "-o", path)
    (tmp_path / "loads" / "zipf-1000.kg").unlink()
    resumed = invoked("load", "1000", tmp_path / "loads", "-o", path)
    assert resumed.exit_code == 0, resumed.output
    first, second = (line["value"] for line in lines(path)[1:])
    assert not (tmp_path / "loads" / "zipf-1000.kg").exists()
    assert f"| graph file | {first['seconds']:.1f} |" in resumed.stdout
    assert f"| pyoxigraph bulk_load | {second['seconds']:.1f} |" in resumed.stdout


def test_a_finished_run_is_reported_without_measuring_again(films: Path, tmp_path: Path):
    own, path = shutil.copytree(films, tmp_path / "metaqa"), tmp_path / "results.jsonl"
    assert invoked(*REACH, own, "-o", path).exit_code == 0
    before, report = path.read_bytes(), path.with_suffix(".md").read_text(encoding="utf-8")
    for file in own.glob("kb*"):
        file.unlink()  # so that no server of it can be started
    again = invoked(*REACH, own, "-o", path)
    assert (again.exit_code, again.stdout) == (0, report)
    assert path.read_bytes() == before


def test_other_parameters_are_refused_and_leave_the_results_alone(films: Path, unbroken: Path):
    before = unbroken.read_bytes()
    refused = invoked(*REACH, films, "--plans", "-o", unbroken)
    assert refused.exit_code == 1
    assert "has results of other parameters: plans False, not True." in refused.stderr
    assert "--again" in refused.stderr
    assert unbroken.read_bytes() == before


def test_results_are_discarded_on_request(films: Path, unbroken: Path):
    again = invoked(*REACH, films, "--plans", "--again", "-o", unbroken)
    assert again.exit_code == 0, again.output
    assert lines(unbroken)[0]["parameters"]["plans"] is True
    assert len(lines(unbroken)) == 10


def test_a_file_of_something_else_is_refused_and_left_alone(films: Path, tmp_path: Path):
    for content in ("a text", "a text\n", '{"a": 1}\n'):
        other = tmp_path / "other.jsonl"
        other.write_text(content, encoding="utf-8")
        refused = invoked(*REACH, films, "-o", other)
        assert (refused.exit_code, other.read_text(encoding="utf-8")) == (1, content)
        assert "was not written by this command" in refused.stderr


def test_a_broken_line_in_the_middle_is_named(films: Path, unbroken: Path):
    content = unbroken.read_bytes().split(b"\n")
    unbroken.write_bytes(b"\n".join((*content[:2], content[2][:20], *content[3:])))
    refused = invoked(*REACH, films, "-o", unbroken)
    assert f"line 3 of {unbroken} is not an item" in refused.stderr


@pytest.mark.extended
def test_without_an_output_the_same_parameters_have_the_same_file(
    films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for arguments in (["--sample", "1"], ["--sample", "2"], ["--sample", "1"]):
        result = invoked("reach", "metaqa", "--plans", "--data", films, *arguments)
        assert result.exit_code == 0, result.output
    files = sorted((tmp_path / "bench-results").iterdir())
    assert sorted(file.suffix for file in files) == [".jsonl", ".jsonl", ".md", ".md"]
    assert {len(lines(file)) for file in files if file.suffix == ".jsonl"} == {4, 7}


@pytest.mark.extended
def test_several_clients_share_the_questions(films: Path, unbroken: Path, tmp_path: Path):
    path = tmp_path / "shared.jsonl"
    result = invoked(*REACH, films, "--clients", "2", "-o", path)
    assert result.exit_code == 0, result.output
    assert {line["key"] for line in lines(path)[1:]} == {line["key"] for line in lines(unbroken)[1:]}
    reports = [each.with_suffix(".md").read_text(encoding="utf-8") for each in (path, unbroken)]
    assert without_effort(reports[0]) == without_effort(reports[1])


def test_bars_are_shown_on_request(films: Path, tmp_path: Path):
    shown = invoked(*REACH, films, "--progress", "-o", tmp_path / "shown.jsonl")
    assert "questions: 100%" in shown.stderr
