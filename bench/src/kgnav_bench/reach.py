"""Checks that every gold relation is offered and every gold answer shown, for all questions of MetaQA or a sample."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import TypeVar

from kgnav_bench import report
from kgnav_bench.client import BareClient, load, server_command
from kgnav_bench.metaqa import HOPS, PREFIX, Question, graph_source, questions, sample, source_neighbours
from kgnav_bench.planned import PLANS, PlanReplay
from kgnav_bench.replay import Replay, Result
from kgnav_bench.runs import Run

_SHOWN_FAILURES = 10

T = TypeVar("T")


@contextmanager
def serving(folder: Path, location: str | None, *options: str) -> Generator[tuple[BareClient, str]]:
    """Start a server of the film graph.

    Yields its client and the prefix of its ids. Without `location`, a graph file is created.
    """
    if location is not None:
        with BareClient([*server_command(location), *options]) as client:
            yield client, PREFIX
        return
    with tempfile.TemporaryDirectory() as scratch:
        graph = Path(scratch) / "films.kg"
        load([graph_source(folder)], graph)
        with BareClient([*server_command(graph), *options]) as client:
            yield client, ""


@contextmanager
def replaying(folder: Path, location: str | None = None) -> Generator[Replay]:
    """Start a server, and yield a replay by walking."""
    with serving(folder, location) as (client, prefix):
        yield Replay(client, source_neighbours(folder), prefix)


@contextmanager
def planning(folder: Path, location: str | None = None) -> Generator[PlanReplay]:
    """Start a server, and yield a replay by plans."""
    with serving(folder, location, *PLANS) as (client, prefix):
        yield PlanReplay(client, prefix)


def chosen(folder: Path, size: int | None) -> dict[str, Question]:
    """The questions of each number of hops by their keys: all of them, or a fixed sample of this size each."""
    return {f"{hops} hops {n}": question for hops in HOPS for n, question in enumerate(_chosen(folder, hops, size), 1)}


def _chosen(folder: Path, hops: int, size: int | None) -> Sequence[Question]:
    asked = questions(folder, hops)
    return sample(asked, size) if size else asked


def by_hops(asked: Iterable[Question], values: Iterable[T]) -> dict[int, list[T]]:
    """Group the values of questions by the number of hops."""
    groups: dict[int, list[T]] = {hops: [] for hops in HOPS}
    for question, value in zip(asked, values, strict=True):
        groups[len(question.path)].append(value)
    return groups


@contextmanager
def _replays(
    folder: Path, location: str | None, *, plans: bool, clients: int
) -> Generator[Sequence[Callable[[Question], Result]]]:
    """Concurrent replays, with a server each."""
    with ExitStack() as stack:
        start = planning if plans else replaying
        yield [stack.enter_context(start(folder, location)).question for _ in range(clients)]


def run(
    record: Run, folder: Path, size: int | None, location: str | None = None, *, plans: bool = False, clients: int = 1
) -> str:
    """Replay questions of one, two and three hops with concurrent clients, each with its own server.

    Returns the report.
    """
    asked = chosen(folder, size)
    start = partial(_replays, folder, location, plans=plans, clients=clients)
    results = record.measured("questions", Result, asked, start)
    walked = by_hops(asked.values(), results)
    made = sum(result.sent for result in results)
    everything = results
    complete = not any(result.missing_relations or result.missing_answers for result in everything)
    calls = sum(result.calls for result in everything)
    lines = [
        report.table(
            (
                "hops",
                "questions",
                "gold relations offered",
                "gold answers shown",
                "no other answers",
                "calls a question, median / mean",
                "tokens a question, median / mean",
            ),
            [(hops, *_row(group)) for hops, group in walked.items()],
        ),
        "",
        f"{calls:,} calls by {len(everything):,} questions; the {made:,} that were sent took {record.seconds:.0f} s.",
        *_failures(everything),
        report.verdict(complete, "every gold relation is offered and every gold answer shown"),
    ]
    return "\n".join(lines)


def _row(group: Sequence[Result]) -> tuple[str, ...]:
    hops = sum(len(result.question.path) for result in group)
    missed = sum(len({step for _, step in result.missing_relations}) for result in group)
    answers = sum(len(result.question.answers) for result in group)
    shown = answers - sum(len(result.missing_answers) for result in group)
    pure = sum(not result.surplus_answers for result in group)
    calls, tokens = [result.calls for result in group], [result.tokens[0] for result in group]
    return (
        f"{len(group):,}",
        report.share(hops - missed, hops),
        report.share(shown, answers),
        report.share(pure, len(group)),
        f"{median(calls):.0f} / {mean(calls):.1f}",
        f"{median(tokens):,.0f} / {mean(tokens):,.0f}",
    )


def _failures(everything: Sequence[Result]) -> list[str]:
    failed = [result for result in everything if result.missing_relations or result.missing_answers]
    return [
        f"- {result.question.text!r} from {result.question.topic!r}: "
        f"not offered {result.missing_relations[:3]}, not shown {sorted(result.missing_answers)[:5]}"
        for result in failed[:_SHOWN_FAILURES]
    ]
