"""Checks that every gold relation is offered and every gold answer shown, for all questions of MetaQA or a sample."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from statistics import mean, median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, load, server_command
from kgnav_bench.metaqa import HOPS, PREFIX, graph_source, questions, sample, source_neighbours
from kgnav_bench.planned import PLANS, PlanReplay
from kgnav_bench.replay import Replay, Result

_SHOWN_FAILURES = 10


@contextmanager
def serving(folder: Path, location: str | None, *options: str) -> Generator[tuple[BareClient, str]]:
    """A client of a server of the film graph, and the prefix of its ids. Without `location` it makes a graph file."""
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
    """A replay by walking."""
    with serving(folder, location) as (client, prefix):
        yield Replay(client, source_neighbours(folder), prefix)


@contextmanager
def planning(folder: Path, location: str | None = None) -> Generator[PlanReplay]:
    """A replay by plans."""
    with serving(folder, location, *PLANS) as (client, prefix):
        yield PlanReplay(client, prefix)


def results(replay: Replay | PlanReplay, folder: Path, hops: int, size: int | None) -> list[Result]:
    """Replay the questions with this number of hops: all of them, or a fixed sample."""
    return concurrent_results([replay], folder, hops, size)


def concurrent_results(
    replays: Sequence[Replay | PlanReplay], folder: Path, hops: int, size: int | None
) -> list[Result]:
    """The same with several concurrent replays that share the questions."""
    asked = questions(folder, hops)
    asked = sample(asked, size) if size else asked

    def ask(place: int) -> list[Result]:
        return [replays[place].question(question) for question in asked[place :: len(replays)]]

    with ThreadPoolExecutor(len(replays)) as threads:
        return list(chain.from_iterable(threads.map(ask, range(len(replays)))))


def run(folder: Path, size: int | None, location: str | None = None, *, plans: bool = False, clients: int = 1) -> str:
    """The report on questions of one, two and three hops, by concurrent clients with a server each."""
    begin = perf_counter()
    with ExitStack() as stack:
        start = planning if plans else replaying
        replays = [stack.enter_context(start(folder, location)) for _ in range(clients)]
        walked = {hops: concurrent_results(replays, folder, hops, size) for hops in HOPS}
        made = sum(replay.calls_made for replay in replays)
    seconds = perf_counter() - begin
    everything = [result for group in walked.values() for result in group]
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
        f"{calls:,} calls by {len(everything):,} questions; the {made:,} different ones were made, in {seconds:.0f} s.",
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
