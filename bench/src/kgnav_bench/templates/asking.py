"""Asks a server the templates' questions by one `run_plan` each, compared with the truth and with Neo4j's Cypher."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import LiteralString, cast

from neo4j import READ_ACCESS, GraphDatabase

from kgnav_bench import report
from kgnav_bench.client import PackageClient, ToolFailedError, load, package_client, server_command
from kgnav_bench.planned import PLANS
from kgnav_bench.runs import Items, Run
from kgnav_bench.tables import UnreadableAnswerError, parse
from kgnav_bench.templates import Question, Shape, generate, questions, write
from kgnav_bench.templates.rdf import write_rdf

_SHOWN_FAILURES = 10
_BOLT = ("bolt", "neo4j")

Rows = tuple[tuple[str, ...], ...]
Bare = Callable[[Question], Rows]


@dataclass(slots=True)
class Asked:
    """The outcome of one question. It passes if `fault` is empty."""

    question: Question
    seconds: float = 0.0
    pages: int = 0
    bare_seconds: float | None = None
    """Seconds of the same Cypher run by the store's own driver."""
    fault: str = ""


@dataclass(slots=True)
class _Answer:
    rows: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    pages: int = 0


def make(folder: Path, nodes: int) -> Sequence[Path]:
    """Write the graph of this size as a node and an edge file, a graph file, and N-Triples."""
    graph = generate(Shape.of(nodes))
    tables, target = write(graph, folder), folder / "graph.kg"
    load(tables, target)
    return *tables, target, write_rdf(graph, folder)


def run(record: Run, location: str, nodes: int, instances: int) -> str:
    """The report on one store with the graph of this size."""
    asked = {
        f"{each.template}: {each.cypher}": each for each in questions(generate(Shape.of(nodes)), instances=instances)
    }
    with record.items(location, Asked, len(asked)) as items:
        missing = {key: question for key, question in asked.items() if key not in items}
        if missing:
            asyncio.run(ask(location, list(missing.values()), partial(_finish, items, iter(missing))))
        outcomes = [items[key] for key in asked]
    title = f"{location.partition('#')[0]}, {nodes:,} nodes: medians in ms"
    return "\n".join((title, "", *_report(outcomes)))


def _finish(items: Items[Asked], keys: Iterator[str], asked: Asked, start: float) -> None:
    items.finish(next(keys), asked, start)


async def ask(
    location: str, asked: Sequence[Question], finish: Callable[[Asked, float], None] | None = None
) -> list[Asked]:
    """Ask each question by one plan, and in Cypher if the store supports it.

    `finish` is called with each outcome, and when its question was begun by the performance counter.
    """
    outcomes: list[Asked] = []
    with bare(location) as run_bare:
        async with package_client([*server_command(location), *PLANS]) as client:
            for question in asked:
                start = perf_counter()
                outcomes.append(await _ask(client, question, run_bare))
                if finish is not None:
                    finish(outcomes[-1], start)
    return outcomes


async def _ask(client: PackageClient, question: Question, run_bare: Bare | None) -> Asked:
    asked = Asked(question)
    truth = tuple(tuple(map(str, row)) for row in question.truth)
    if run_bare is not None:
        start = perf_counter()
        found = run_bare(question)
        asked.bare_seconds = perf_counter() - start
        if found != truth:
            asked.fault = f"bare Cypher has {_shown(found)} where {_shown(truth)} is true"
    start = perf_counter()
    try:
        answer = await _answer(client, question.cypher)
    except (ToolFailedError, UnreadableAnswerError) as error:
        asked.fault = str(error)
        return asked
    asked.seconds, asked.pages = perf_counter() - start, answer.pages
    if tuple(answer.rows) != truth:
        asked.fault = f"{_shown(answer.rows)} where {_shown(truth)} is true"
    return asked


async def _answer(client: PackageClient, cypher: str) -> _Answer:
    answer = _Answer()
    arguments = {"plan": cypher}
    while True:
        page = parse(await client.call("run_plan", arguments))
        answer.rows += page.rows
        answer.pages += 1
        if page.cursor is None:
            return answer
        arguments = {"plan": cypher, "cursor": page.cursor}


@contextmanager
def bare(location: str) -> Generator[Bare | None]:
    """A function that runs a question's Cypher on the store itself; None if it does not support Cypher."""
    if location.partition("://")[0].partition("+")[0] not in _BOLT:
        yield None
        return
    with (
        GraphDatabase.driver(location) as driver,  # pyright: ignore[reportUnknownMemberType] - the driver's own keywords
        driver.session(default_access_mode=READ_ACCESS) as session,  # pyright: ignore[reportUnknownMemberType]
    ):

        def run_bare(question: Question) -> Rows:
            found = session.run(cast("LiteralString", question.cypher))
            return tuple(tuple(map(str, record.values())) for record in found)

        yield run_bare


def _report(asked: Sequence[Asked]) -> Iterable[str]:
    groups: Mapping[str, list[Asked]] = defaultdict(list)
    for each in asked:
        groups[each.question.template].append(each)
    right = sum(not each.fault for each in asked)
    yield report.table(
        ("template", "exact", "in one page", "rows, median", "run_plan", "bare Cypher"),
        [(name, *_row(group)) for name, group in (*groups.items(), ("all", asked))],
    )
    yield ""
    yield from [f"- {each.question.cypher}: {each.fault}" for each in asked if each.fault][:_SHOWN_FAILURES]
    yield report.verdict(right == len(asked), f"{right} of {len(asked)} questions answered by one plan each")


def _row(group: Sequence[Asked]) -> tuple[str, ...]:
    bare_seconds = [each.bare_seconds for each in group if each.bare_seconds is not None]
    return (
        f"{sum(not each.fault for each in group)} of {len(group)}",
        str(sum(each.pages == 1 for each in group)),
        f"{median(len(each.question.truth) for each in group):,.0f}",
        report.milliseconds(median(each.seconds for each in group)),
        report.milliseconds(median(bare_seconds)) if bare_seconds else "",
    )


def _shown(rows: Sequence[Sequence[str]]) -> str:
    return f"{len(rows)} rows {list(rows[:3])}"
