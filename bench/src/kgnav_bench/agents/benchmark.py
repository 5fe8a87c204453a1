"""Runs one arm on all questions of a file, and reports how the attempts ended and what they cost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.agents.arms import Arm
from kgnav_bench.agents.loop import Limits, Loop
from kgnav_bench.agents.server import Server, served
from kgnav_bench.endpoints import Provider, connect
from kgnav_bench.prices import Prices
from kgnav_bench.records import Attempt, Outcome, Question, read_records, write_records
from kgnav_bench.runs import Items, Run

ATTEMPTS = ".attempts.jsonl"
"""Suffix of the file that has only the attempts, beside the file of the run."""


class TooManyFailuresError(Exception):
    """Several attempts in a row failed. The message is that of the last failure."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, and how requests to it are made."""

    url: str
    model: str
    provider: Provider | None = None
    timeout: float = 300.0
    """Maximum seconds for one request."""


@dataclass(frozen=True, slots=True)
class Place:
    """The graph to ask: one to serve, or the URL of a running server. If both are None, the demo graph."""

    graph: str | None = None
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """The questions, the endpoint and the arm of a run."""

    arm: Arm
    endpoint: Endpoint
    place: Place
    limits: Limits
    repeats: int = 1
    concurrency: int = 1
    stop_after: int = 5
    """Number of failed attempts in a row after which the run ends."""
    prices: Prices | None = None


def chosen(path: Path, sample: int | None, seed: int) -> list[Question]:
    """The questions of a file, or a random sample of them in the order of the file.

    Raises:
        UnreadableRecordsError: the file is not one of questions.
        ValueError: two questions have the same id, or there are no questions.
    """
    questions = list(read_records(path, Question))
    twice = [name for name, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has several questions with the id {twice[0]!r}. Make the ids unique.")
    if not questions:
        raise ValueError(f"{path} has no questions.")
    if sample is None or sample >= len(questions):
        return questions
    places = sorted(random.Random(seed).sample(range(len(questions)), sample))  # noqa: S311 - a sample, not a secret
    return [questions[place] for place in places]


def run(record: Run, experiment: Experiment, questions: Sequence[Question]) -> str:
    """Make the attempts that are missing or failed. All attempts and the report are written beside the file of the run.

    Raises:
        TooManyFailuresError: the endpoint or the server keeps failing. Attempts finished before are kept and reported.
        EndpointError: the endpoint cannot be used.
        ServerFailedError: the server does not start.
        ArmError: the server does not have the tools of the arm.
    """
    kinds = {question.id: question.kind for question in questions}
    wanted = {
        f"{question.id}#{repeat}": (question, repeat) for repeat in range(experiment.repeats) for question in questions
    }
    with record.items("attempts", Attempt, len(wanted)) as group:
        missing = {
            key: item for key, item in wanted.items() if key not in group or group[key].outcome is Outcome.FAILED
        }
        try:
            if missing:
                asyncio.run(_ask(group, experiment, missing))
        finally:
            finished = [_priced(group[key], experiment.prices) for key in wanted if key in group]
            write_records(record.path.with_name(record.path.stem + ATTEMPTS), finished)
            report = _report(experiment.arm, experiment.endpoint.model, finished, kinds)
            record.write_report(report)
    return report


def _priced(attempt: Attempt, prices: Prices | None) -> Attempt:
    """The attempt with its price. Kept ones have none, so that a run can be continued with other prices."""
    if prices is None:
        return attempt
    return attempt.model_copy(update={"price": prices.of(turn.tokens for turn in attempt.turns)})


async def _ask(group: Items[Attempt], experiment: Experiment, missing: Mapping[str, tuple[Question, int]]) -> None:
    """Make attempts, some at a time, and keep each when it is finished."""
    endpoint, arm, todo = experiment.endpoint, experiment.arm, iter(missing.items())
    failures = 0
    async with (
        connect(endpoint.url, endpoint.model, provider=endpoint.provider, request_timeout=endpoint.timeout) as model,
        _server(arm, experiment.place) as server,
    ):

        async def work() -> None:
            nonlocal failures
            for key, (question, repeat) in todo:
                begin = perf_counter()
                attempt = await Loop(arm, model, server, question, experiment.limits, repeat).attempt()
                group.finish(key, attempt, begin)
                failures = failures + 1 if attempt.outcome is Outcome.FAILED else 0
                if failures >= experiment.stop_after:
                    raise TooManyFailuresError(attempt.error)

        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(experiment.concurrency, len(missing))):
                    tasks.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors


@asynccontextmanager
async def _server(arm: Arm, place: Place) -> AsyncGenerator[Server | None]:
    """The server if the arm needs one."""
    if arm.needs_server:
        async with served(arm, place.graph, place.server) as server:
            yield server
    else:
        yield None


def _report(arm: Arm, model: str, attempts: Sequence[Attempt], kinds: Mapping[str, str]) -> str:
    by_kind: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_kind.setdefault(kinds[attempt.question] or "-", []).append(attempt)
    groups = dict(sorted(by_kind.items()))
    if len(groups) != 1:
        groups["all"] = list(attempts)
    outcomes = list(Outcome)
    headers = ("kind", "attempts", *outcomes, "calls", "wrong calls", "prompt tokens", "reply tokens", "s, median", "$")
    rows = [(kind, *_row(some, outcomes)) for kind, some in groups.items() if some]
    lines = [f"{arm.name}, {model}; questions: {len({each.question for each in attempts}):,}", ""]
    lines += [report.table(headers, rows), "", "Calls and tokens are means of an attempt, $ is the sum."]
    failed = [each for each in attempts if each.outcome is Outcome.FAILED]
    if failed:
        lines += ["", f"Failed attempts: {len(failed):,}, the last one because: {failed[-1].error}"]
        lines.append("The same command tries them again.")
    return "\n".join(lines)


def _row(attempts: Sequence[Attempt], outcomes: Sequence[Outcome]) -> list[str]:
    ended = Counter(attempt.outcome for attempt in attempts)
    calls = [[call for turn in attempt.turns for call in turn.calls] for attempt in attempts]
    prices = [attempt.price for attempt in attempts if attempt.price is not None]
    return [
        f"{len(attempts):,}",
        *(f"{ended[outcome]:,}" for outcome in outcomes),
        f"{fmean(map(len, calls)):.1f}",
        f"{fmean(sum(call.is_error for call in each) for each in calls):.1f}",
        f"{fmean(sum(turn.tokens.prompt for turn in attempt.turns) for attempt in attempts):,.0f}",
        f"{fmean(sum(turn.tokens.completion for turn in attempt.turns) for attempt in attempts):,.0f}",
        f"{median(attempt.seconds for attempt in attempts):.1f}",
        f"{sum(prices):.4f}" if prices else "-",
    ]
