"""Scores files of attempts and writes a folder of results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kgnav_bench.endpoints import connect
from kgnav_bench.models import EndpointError
from kgnav_bench.prices import Prices
from kgnav_bench.records import Attempt, Question, write_records
from kgnav_bench.scores.inputs import read_attempts, read_questions
from kgnav_bench.scores.judging import Case, Judgement, case_key, judge_use, open_verdicts
from kgnav_bench.scores.judging import judge as judge_cases
from kgnav_bench.scores.plots import PICTURES, write_plots
from kgnav_bench.scores.reports import write_report
from kgnav_bench.scores.scoring import Scores, Verdict, given_answers, score_attempt
from kgnav_bench.scores.summary import Correct, JudgeUse, Summary, summarize

_SCORES: Final = "scores.jsonl"
_SUMMARY: Final = "summary.json"
_REPORT: Final = "report.md"
_VERDICTS: Final = "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge model at an endpoint."""

    url: str
    model: str
    prices: Prices | None = None
    concurrency: int = 4
    """Maximum number of concurrent requests."""
    again: bool = False
    """Discard the verdicts of earlier runs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How attempts are scored, and where the results are written."""

    folder: Path
    correct: Correct
    resamples: int
    seed: int
    plots: bool | None = None
    """Whether plots are drawn; None: if matplotlib is installed."""
    progress: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a scoring."""

    summary: Summary
    report: str
    files: Sequence[Path]
    warnings: Sequence[str]


def run(attempts: Sequence[Path], data: Sequence[Path], settings: Settings, judge: Judge | None = None) -> Result:
    """Score attempts at questions, given the files of both, and write the results.

    Raises:
        UnreadableRecordsError: a line is not a question or an attempt.
        UnscorableError: the attempts do not belong to the questions, or contradict each other.
        UnusableFileError: the folder has another judge's verdicts.
        EndpointError: the request to the judge failed. Earlier verdicts are kept.
        PlotsMissingError: plots are requested, and matplotlib is not installed.
    """
    questions = read_questions(data)
    scored: list[Scores] = []
    cases: list[Case | None] = []
    for question, attempt in read_attempts(attempts, questions):
        scored.append(score_attempt(question, attempt))
        cases.append(_case(question, attempt))
    settings.folder.mkdir(parents=True, exist_ok=True)
    use: JudgeUse | None = None
    if judge is not None:
        judgements = asyncio.run(_judgements(judge, [case for case in cases if case], settings))
        scored = [_judged(each, case, judgements) for each, case in zip(scored, cases, strict=True)]
        use = judge_use(judge.model, judgements.values(), judge.prices)
    summary = summarize(
        scored,
        correct=settings.correct,
        questions=len(questions),
        resamples=settings.resamples,
        seed=settings.seed,
        judge=use,
    )
    return _write(scored, summary, settings, with_verdicts=judge is not None)


def _case(question: Question, attempt: Attempt) -> Case | None:
    """The question to a judge about an attempt; None if there is no answer to judge."""
    answers = given_answers(attempt)
    return (question, answers) if answers else None


async def _judgements(judge: Judge, cases: Sequence[Case], settings: Settings) -> Mapping[str, Judgement]:
    path = settings.folder / _VERDICTS
    if judge.again:
        path.unlink(missing_ok=True)
    with open_verdicts(path, judge.model, judge.url, progress=settings.progress) as record:
        try:
            async with connect(judge.url, judge.model) as model:
                return await judge_cases(model, cases, record, judge.concurrency)
        except EndpointError as error:
            raise EndpointError(
                f"the judge cannot be asked: {error} {record.finished:,} verdicts are kept in {path}; the same command "
                "asks for the others."
            ) from error


def _judged(scores: Scores, case: Case | None, judgements: Mapping[str, Judgement]) -> Scores:
    """The scores with a verdict. Without an answer it needs no judge: correct only if there is none in the graph."""
    if case is None:
        verdict = Verdict.CORRECT if scores.set_match else Verdict.INCORRECT
    else:
        verdict = judgements[case_key(case)].verdict
    return scores.model_copy(update={"judged": verdict})


def _write(scored: Sequence[Scores], summary: Summary, settings: Settings, *, with_verdicts: bool) -> Result:
    folder = settings.folder
    warnings: list[str] = []
    pictures: list[str] = []
    for name in PICTURES:
        (folder / name).unlink(missing_ok=True)
    if settings.plots or (settings.plots is None and find_spec("matplotlib") is not None):
        pictures = write_plots(summary, folder)
    elif settings.plots is None:
        warnings.append('no plots, because matplotlib is not installed: `pip install "./bench[plots]"` installs it.')
    for each in summary.contenders:
        if each.missing:
            warnings.append(f"{each.name} has no attempt at {len(each.missing):,} questions that others attempted.")
        if each.fewer_repeats:
            warnings.append(f"{each.name} has fewer repeats of {len(each.fewer_repeats):,} questions than of others.")
    report = write_report(summary, pictures)
    write_records(folder / _SCORES, scored)
    (folder / _SUMMARY).write_text(summary.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / _REPORT).write_text(f"{report}\n", encoding="utf-8")
    names = (_SCORES, _SUMMARY, _REPORT, *pictures, *((_VERDICTS,) if with_verdicts else ()))
    return Result(summary, report, [folder / name for name in names], warnings)
