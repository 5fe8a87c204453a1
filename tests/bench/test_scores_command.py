"""`kgnav-bench score` reads what was asked and answered, writes a folder, and refuses what does not fit."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.models import Model
from kgnav_bench.records import Attempt, Outcome, Tokens, Turn, read_records, write_records
from kgnav_bench.scores import run
from kgnav_bench.scores.scoring import Scores, Verdict
from kgnav_bench.scores.summary import Summary
from tests.bench.model_server import Play, model_server
from tests.bench.scored import attempt, failed, question, shown
from tests.bench.test_scores_judging import Grader

PRICES = ("--judge-price-prompt", "30", "--judge-price-completion", "60")
COUNTED = Turn(tokens=Tokens(prompt=900, completion=100))
QUESTIONS = [question("Up", name=f"q{n}", kind=f"{1 + n % 2}-hop") for n in range(6)]
WALK = [attempt("Up" if n else "no", question=f"q{n}", turns=shown(failed("Not found: x"), "a|Up")) for n in range(6)]
PLAN = [attempt("Up", question=f"q{n}", arm="plan | text", model="m$1") for n in range(5)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_records(Path("questions.jsonl"), QUESTIONS)
    write_records(Path("walk.jsonl"), WALK)
    write_records(Path("plan.jsonl.gz"), PLAN)
    return tmp_path


def score(*arguments: str) -> Result:
    return CliRunner().invoke(
        main, ["score", *arguments, "--data", "questions.jsonl", "-o", "out", "--resamples", "100"]
    )


def test_the_folder_has_a_record_for_each_attempt_the_summary_and_the_report(folder: Path):
    result = score("walk.jsonl", "plan.jsonl.gz", "--no-plots")
    assert result.exit_code == 0, result.output
    scores = list(read_records(folder / "out/scores.jsonl", Scores))
    assert [each.set_match for each in scores] == [False, *[True] * 10]
    summary = Summary.model_validate_json((folder / "out/summary.json").read_text())
    assert [each.total.measures["accuracy"].mean for each in summary.contenders] == [5 / 6, 1]
    report = (folder / "out/report.md").read_text()
    assert report in result.output
    assert "| walk | 6 | 6 | 0 | 83.3 [" in report
    assert "**plan \\| text (m$1) has no attempt at 1 questions**: `q5`." in report
    assert "Note: plan | text (m$1) has no attempt at 1 questions that others attempted." in result.stderr
    assert "Failed calls of walk: Not found 6." in report
    assert not list((folder / "out").glob("*.svg"))


@pytest.mark.slow
def test_pictures_are_the_same_for_the_same_attempts(folder: Path):
    write_records(Path("asked.jsonl"), [*WALK, attempt("Up", question="q0", arm="plan", turns=(COUNTED,))])
    taken = list[dict[str, bytes]]()
    for _ in range(2):
        assert score("asked.jsonl", "--plots").exit_code == 0
        taken.append({each.name: each.read_bytes() for each in (folder / "out").glob("*.svg")})
    assert taken[0] == taken[1]
    assert sorted(taken[0]) == ["accuracy-by-kind.svg", "accuracy-by-tokens.svg", "accuracy.svg"]
    assert "![accuracy](accuracy.svg)" in (folder / "out/report.md").read_text()


@pytest.mark.usefixtures("folder")
def test_pictures_without_matplotlib_name_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = score("walk.jsonl", "--plots")
    assert result.exit_code == 1
    assert "matplotlib, which the extra `plots` installs" in result.output
    assert "Traceback" not in result.output


def refused(result: Result, *texts: str) -> None:
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    for text in texts:
        assert text in " ".join(result.output.split())
    assert not Path("out").exists()


@pytest.mark.usefixtures("folder")
class TestRefuses:
    def test_an_attempt_at_an_unknown_question(self):
        write_records(Path("other.jsonl"), [attempt("Up", question="q77")])
        refused(score("walk.jsonl", "other.jsonl"), "other.jsonl has an attempt at question 'q77'")

    def test_an_attempt_that_is_there_twice(self):
        write_records(Path("again.jsonl"), WALK[3:4])
        refused(
            score("walk.jsonl", "again.jsonl"), "question 'q3', repeat 0, is in walk.jsonl and again in again.jsonl"
        )

    def test_two_questions_of_one_id(self):
        write_records(Path("questions.jsonl"), [QUESTIONS[0], QUESTIONS[0]])
        refused(score("walk.jsonl"), "two questions of questions.jsonl have the id 'q0'")

    def test_files_without_records(self):
        Path("empty.jsonl").touch()
        refused(score("empty.jsonl"), "empty.jsonl has no attempts")

    def test_a_line_that_is_not_an_attempt(self):
        Path("bad.jsonl").write_text('{"question": "q1"}\n')
        refused(score("bad.jsonl"), "line 1 of bad.jsonl cannot be read as an attempt: arm: Field required")

    def test_a_runs_file_in_place_of_its_attempts(self):
        Path("walk.attempts.jsonl").touch()
        Path("walk.jsonl").write_text('{"parameters": {}}\n')
        refused(score("walk.jsonl"), "its attempts are in walk.attempts.jsonl: name that file")

    def test_half_a_judge(self):
        result = score("walk.jsonl", "--judge-url", "http://x")
        assert result.exit_code == 2
        assert "--judge-model NAME" in result.output


def test_a_judge_decides_what_is_correct_and_reads_only_answers(folder: Path, monkeypatch: pytest.MonkeyPatch):
    graders = list[Grader]()

    @asynccontextmanager
    async def connect(url: str, model: str) -> AsyncGenerator[Model]:
        assert (url, model) == ("http://x/v1", "grader")
        graders.append(Grader())
        yield graders[-1]

    monkeypatch.setattr(run, "connect", connect)
    attempts: Iterable[Attempt] = (attempt("Up", question="q0"), attempt(question="q1", outcome=Outcome.FAILED))
    write_records(Path("asked.jsonl"), attempts)
    judge = ("--judge-url", "http://x/v1", "--judge-model", "grader", *PRICES, "--no-plots")
    score("asked.jsonl", *judge)
    result = score("asked.jsonl", *judge)
    assert result.exit_code == 0, result.output
    assert [len(each.shown) for each in graders] == [1, 0]
    assert "An attempt is correct if the judge says so." in result.output
    assert "grader: 1 verdicts, 0 of them unreadable" in result.output
    assert "0.0036 US dollars" in result.output
    verdicts = [each.judged for each in read_records(folder / "out/scores.jsonl", Scores)]
    assert verdicts == [Verdict.CORRECT, Verdict.INCORRECT]
    assert score("asked.jsonl", *judge, "--again").exit_code == 0
    assert len(graders[-1].shown) == 1


def test_what_ask_writes_can_be_scored_and_judged_by_the_same_endpoint(folder: Path):
    def reply(body: Mapping[str, Any]) -> Play:
        judged = "You grade answers" in str(body["messages"])
        return Play("verdict: correct" if judged else 'Final answer: ["Up"]')

    with model_server(reply) as server:
        endpoint = (
            "--model",
            "m",
            "--url",
            server.url,
            "--data",
            "questions.jsonl",
            "--repeats",
            "2",
            "-o",
            "io.jsonl",
        )
        asked = CliRunner().invoke(main, ["ask", "--arm", "io", *endpoint])
        assert asked.exit_code == 0, asked.output
        judge = ("--judge-url", server.url, "--judge-model", "m")
        result = score("io.attempts.jsonl", *judge, "--no-plots")
    assert result.exit_code == 0, result.output
    (contender,) = Summary.model_validate_json((folder / "out/summary.json").read_text()).contenders
    assert (contender.name, contender.total.attempts, contender.total.pass_at_k) == ("io (m)", 12, {1: 1, 2: 1})
    assert contender.total.measures["set_match"].mean == contender.total.measures["judged"].mean == 1
    assert contender.total.costs["prompt_tokens"].mean > 0
