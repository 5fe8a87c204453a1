"""A run of many attempts: each outcome is told apart, nothing is lost, and a run that was killed goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.client import script as command_path
from kgnav_bench.records import Answer, Attempt, Outcome, Question, Tokens, read_records, write_records
from tests.bench.model_server import ModelServer, Play, Script, model_server

DONE = Play('Final answer: ["Rembrandt van Rijn"]')
NOBODY = ("search", {"entity": "nobody", "direction": "outgoing"})
LOOK = ("search", {"entity": "the_night_watch", "direction": "outgoing"})


def questions(folder: Path, *names: str) -> Path:
    """A file of questions that have these ids, and texts with them."""
    data = folder / "questions.jsonl"
    write_records(
        data, [Question(id=name, text=f"[{name}]?", answers=(Answer(names=("x",)),), kind=name[0]) for name in names]
    )
    return data


def ask(server: ModelServer, data: Path, *options: str, arm: str = "io") -> Result:
    endpoint = ["--model", "scripted", "--url", server.url, "--data", str(data), "--timeout", "5"]
    return CliRunner().invoke(main, ["ask", "--arm", arm, *endpoint, "-o", str(data.with_name("run.jsonl")), *options])


def attempts(data: Path) -> dict[str, Attempt]:
    return {each.question: each for each in read_records(data.with_name("run.attempts.jsonl"), Attempt)}


def name_of(body: Mapping[str, Any]) -> str:
    """The question's id in a request."""
    first = next(each["content"] for each in body["messages"] if each["role"] == "user")
    return first.partition("[")[2].partition("]")[0]


PLAYS: Mapping[str, tuple[list[Play], Outcome, str]] = {
    "right": ([Play(calls=[LOOK]), DONE], Outcome.ANSWERED, ""),
    "parallel": ([Play(calls=[LOOK, LOOK]), DONE], Outcome.ANSWERED, ""),
    "unknown_tool": ([Play(calls=[("sparql", {"q": "x"})]), DONE], Outcome.ANSWERED, "Unknown tool 'sparql'"),
    "unoffered": ([Play(calls=[("find_node", {"hint": "x"})]), DONE], Outcome.ANSWERED, "Unknown tool 'find_node'"),
    "malformed": ([Play(calls=[("search", '{"entity": ')]), DONE], Outcome.ANSWERED, "not a JSON object: "),
    "wrong": (
        [Play(calls=[NOBODY]), DONE],
        Outcome.ANSWERED,
        "nobody",
    ),
    "cut_call": ([Play(calls=[LOOK], finish="length"), DONE], Outcome.ANSWERED, "The reply was cut within this call"),
    "endless": ([Play(calls=[LOOK])], Outcome.EXHAUSTED, ""),
    "reminded": ([Play("Rembrandt"), DONE], Outcome.ANSWERED, ""),
    "unreadable": ([Play("Rembrandt"), Play("It is Rembrandt.")], Outcome.UNREADABLE, ""),
    "empty": ([Play("")], Outcome.UNREADABLE, ""),
    "none": ([Play("Final answer: []")], Outcome.ABSTAINED, ""),
    "refused": ([Play("No.", calls=[LOOK], finish="content_filter")], Outcome.REFUSED, ""),
    "cut": ([Play('Final answer: ["Rembr', finish="length")], Outcome.EXHAUSTED, ""),
    "cut_behind": ([Play('Final answer: ["Rembrandt"]\nI think', finish="length")], Outcome.ANSWERED, ""),
    "full": ([Play(calls=[LOOK]), Play("maximum context length is 9", status=400)], Outcome.EXHAUSTED, ""),
    "failed": ([Play(calls=[LOOK]), Play("overloaded", status=400)], Outcome.FAILED, ""),
    "again": ([Play(status=429, headers={"Retry-After": "0.01"}), DONE], Outcome.ANSWERED, ""),
}


def scripted(counts: Counter[str]) -> Script:
    def script(body: Mapping[str, Any]) -> Play:
        name = name_of(body)
        counts[name] += 1
        plays = PLAYS[name][0]
        return plays[min(counts[name], len(plays)) - 1]

    return script


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Attempt], str, Counter[str]]:
    """The attempts of one run of all plays, its report, and the number of requests for each."""
    folder = tmp_path_factory.mktemp("played")
    arm = folder / "looking.toml"
    arm.write_text(
        'toolsets = "sog,linking"\n[[phases]]\nprompt = "{question} {form}"\ntools = ["search"]\nmax_turns = 3\n',
        encoding="utf-8",
    )
    counts: Counter[str] = Counter()
    with model_server(scripted(counts)) as server:
        data = questions(folder, *PLAYS)
        result = ask(server, data, "--concurrency", "4", arm=str(arm))
    assert result.exit_code == 0, result.output
    return attempts(data), result.output, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYS)
def test_each_end_of_an_attempt_is_told_apart(name: str, played: tuple[dict[str, Attempt], str, Counter[str]]):
    attempt = played[0][name]
    plays, outcome, problem = PLAYS[name]
    assert attempt.outcome is outcome, attempt
    calls = [call for turn in attempt.turns for call in turn.calls]
    if problem:
        assert [call.is_error for call in calls] == [True]
        assert problem in calls[0].result
    elif name in {"right", "parallel", "endless"}:
        assert all("Rembrandt van Rijn" in call.result and not call.is_error for call in calls)
        assert len(calls) == {"right": 1, "parallel": 2, "endless": 3}[name]
    if outcome is Outcome.ANSWERED:
        assert attempt.answers == (("Rembrandt",) if name == "cut_behind" else ("Rembrandt van Rijn",))
        assert attempt.turns[-1].tokens == Tokens(prompt=100, completion=10)
    else:
        assert attempt.answers == ()
    if name in {"unreadable", "refused", "cut"}:
        assert attempt.text == plays[-1].text  # kept as it was written
    if name in {"failed", "full"}:
        assert len(attempt.turns) == 1  # what was before is kept, too
        assert attempt.error


def test_a_refused_reply_makes_no_calls(played: tuple[dict[str, Attempt], str, Counter[str]]):
    assert [turn.calls for turn in played[0]["refused"].turns] == [()]


def test_the_report_counts_every_outcome_by_kind(played: tuple[dict[str, Attempt], str, Counter[str]]):
    kept, report, _ = played
    ended = Counter(attempt.outcome for attempt in kept.values())
    (row,) = [line for line in report.splitlines() if line.startswith("| all ")]
    assert [int(cell) for cell in row.split("|")[2:9]] == [len(PLAYS), *(ended[each] for each in Outcome)]
    assert "Failed attempts: 1, the last one because" in report


def test_the_same_command_repeats_failed_attempts_alone(tmp_path: Path):
    data = questions(tmp_path, "a", "b", "c")
    broken = {"b"}
    with model_server(lambda body: Play("down", status=400) if name_of(body) in broken else DONE) as server:
        assert ask(server, data).exit_code == 0
        assert {name: each.outcome.value for name, each in attempts(data).items()} == {
            "a": "answered",
            "b": "failed",
            "c": "answered",
        }
        broken.clear()
        asked = len(server.requests)
        assert ask(server, data, "--price-prompt", "10000", "--price-completion", "0").exit_code == 0
        assert [name_of(body) for body in server.requests[asked:]] == ["b"]
    kept = attempts(data)
    assert all(each.outcome is Outcome.ANSWERED for each in kept.values())
    assert [each.price for each in kept.values()] == [1.0, 1.0, 1.0]


def test_failures_in_a_row_stop_the_run_with_the_reason_and_it_goes_on_later(tmp_path: Path):
    data = questions(tmp_path, *(f"q{number}" for number in range(9)))
    up: list[bool] = []
    with model_server(lambda _: DONE if up else Play("no credit", status=402)) as server:
        stopped = ask(server, data, "--stop-after", "3")
        assert stopped.exit_code == 1
        assert "3 attempts in a row failed, the last one because" in stopped.output
        assert "no credit" in stopped.output
        assert [each.outcome for each in attempts(data).values()] == [Outcome.FAILED] * 3
        report = (tmp_path / "run.md").read_text(encoding="utf-8")
        assert "questions: 3" in report
        assert "Failed attempts: 3, the last one because" in report
        assert "run.md" in stopped.output
        up.append(True)
        assert ask(server, data, "--stop-after", "3").exit_code == 0
    assert [each.outcome for each in attempts(data).values()] == [Outcome.ANSWERED] * 9


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_without_repeating_or_losing_attempts(tmp_path: Path):
    names = [f"q{number}" for number in range(12)]
    data, output = questions(tmp_path, *names), tmp_path / "run.jsonl"
    slow = [0.1]

    def script(_: Mapping[str, Any]) -> Play:
        return Play(DONE.text, wait=slow[0])

    with model_server(script) as server:
        command = ["ask", "--arm", "io", "--model", "scripted", "--url", server.url, "--data", str(data)]
        rest = ["--timeout", "5", "-o", str(output), "--repeats", "2"]
        process = subprocess.Popen([command_path("kgnav-bench"), *command, *rest], stderr=subprocess.DEVNULL)
        while not output.exists() or output.read_bytes().count(b"\n") < 6:
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with output.open("ab") as file:
            file.write(b'{"key": "attempts/q9#1", "val')  # as if killed within a line
        kept = [json.loads(line)["key"] for line in output.read_bytes().splitlines()[1:-1]]
        asked, slow[0] = len(server.requests), 0.0
        resumed = CliRunner().invoke(main, [*command, *rest])
        assert resumed.exit_code == 0, resumed.output
        assert len(server.requests) - asked == 2 * len(names) - len(kept)
    keys = [json.loads(line)["key"] for line in output.read_bytes().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 2 * len(names)
    assert keys[: len(kept)] == kept
    made = list(read_records(tmp_path / "run.attempts.jsonl", Attempt))
    assert [(each.repeat, each.question) for each in made] == [(repeat, name) for repeat in (0, 1) for name in names]


@pytest.mark.parametrize("limit", [("--max-calls", "2"), ("--token-budget", "250")])
def test_calls_and_tokens_of_an_attempt_are_limited(limit: tuple[str, str], tmp_path: Path):
    data = questions(tmp_path, "q")
    with model_server([Play(calls=[("search", {})])]) as server:
        assert ask(server, data, *limit, "--max-turns", "20").exit_code == 0
    attempt = attempts(data)["q"]
    assert (attempt.outcome, len(attempt.turns)) == (Outcome.EXHAUSTED, 3)
    assert attempt.error == ("2 calls without an answer" if "calls" in limit[0] else "330 tokens without an answer")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "a", "text": "x", "answers": []}\n' * 2, "several questions with the id 'a'"),
        ("", "has no questions"),
        ('{"id": "a"}\n', "line 1 of .* cannot be read as a question: text"),
    ],
)
def test_a_file_without_proper_questions_is_refused(lines: str, message: str, tmp_path: Path):
    data = tmp_path / "questions.jsonl"
    data.write_text(lines, encoding="utf-8")
    with model_server([DONE]) as server:
        result = ask(server, data)
    assert result.exit_code == 1
    assert re.search(message, result.output)


def test_a_sample_is_the_same_for_a_seed(tmp_path: Path):
    data = questions(tmp_path, *(f"q{number}" for number in range(50)))
    with model_server([DONE]) as server:
        assert ask(server, data, "--sample", "5", "--seed", "7").exit_code == 0
        first = list(attempts(data))
        assert ask(server, data, "--sample", "5", "--seed", "7", "--again").exit_code == 0
    assert list(attempts(data)) == first
    assert len(first) == 5
