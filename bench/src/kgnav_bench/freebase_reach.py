"""Walks FB15k-237 in Freebase's form through a server of a live endpoint: gold paths, every relation, two hubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import TypeVar

from kgnav_bench import report
from kgnav_bench.client import BareClient, ToolFailedError, server_command
from kgnav_bench.freebase import questions, source_neighbours, source_triples
from kgnav_bench.metaqa import Neighbours, Step
from kgnav_bench.replay import Caller
from kgnav_bench.runs import Run
from kgnav_bench.tables import Table, parse

HUBS = (
    ("m.05zppz", Step("people.person.gender", "incoming")),
    ("m.09c7w0", Step("location.location.contains", "outgoing")),
)
"""Male, the gender of 3,552 people; and the USA, which contain 954 places."""

_LISTS = [(tool, entity, step) for entity, step in HUBS for tool in ("search", "get_triples")]
"""The lists that are read to the end."""

TOP = 20
"""Number of relations that are kept when they are ranked by the question (GraphWalker's ablation)."""

_SHOWN_FAILURES = 10

K = TypeVar("K")
T = TypeVar("T")


def endpoint_command(endpoint: str) -> list[str]:
    """The command that serves a SPARQL endpoint with Freebase."""
    return [*server_command(None), "--graph", f"freebase+{endpoint}"]


@dataclass(frozen=True, slots=True)
class Walk:
    """One gold step: from an entity along a relation to one far end. A `question`, if any, ranks the relations."""

    entity: str
    step: Step
    end: str
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Walked:
    """The result of a walk. `rank` is the relation's position in the list of relations; None if it is not listed."""

    walk: Walk
    rank: int | None
    shown: bool
    calls: int
    fault: str = ""

    @property
    def reached(self) -> bool:
        return self.rank is not None and self.shown


@dataclass(frozen=True, slots=True)
class Paged:
    """A relation of a hub, read to its last page: the far ends in the order shown, and those in the source."""

    tool: str
    entity: str
    step: Step
    pages: int
    shown: Sequence[str] = field(repr=False)
    truth: Sequence[str] = field(repr=False)

    @property
    def lost(self) -> int:
        return sum((Counter(self.truth) - Counter(self.shown)).values())

    @property
    def surplus(self) -> int:
        """Number of rows shown twice or not in the source."""
        return sum((Counter(self.shown) - Counter(self.truth)).values())


def gold_walks(folder: Path) -> list[Walk]:
    """The SimpleQuestions as walks."""
    return [Walk(each.topic, each.path[0], next(iter(each.answers)), each.text) for each in questions(folder)]


def relation_walks(folder: Path) -> list[Walk]:
    """For each relation, its first triple between two entities, walked from the head and from the tail."""
    first: dict[str, tuple[str, str]] = {}
    for head, relation, tail in source_triples(folder):
        if head == tail:
            continue
        first.setdefault(relation, (head, tail))
    forth = [Walk(head, Step(relation, "outgoing"), tail) for relation, (head, tail) in first.items()]
    return forth + [Walk(walk.end, Step(walk.step.relation, "incoming"), walk.entity) for walk in forth]


def by_search(client: Caller, walks: Sequence[Walk]) -> list[Walked]:
    """Walk as Search-on-Graph does: look at the entity, then filter by the gold relation if it is a hub."""
    return [search_walk(client, walk) for walk in walks]


def search_walk(client: Caller, walk: Walk) -> Walked:
    """One walk of `by_search`."""
    asked: dict[str, object] = {"entity": walk.entity, "direction": walk.step.direction}
    rank, shown, calls = None, False, 0
    try:
        for filtered in ({}, {"properties_to_filter_for": [walk.step.relation]}):
            for page in pages(client, "search", asked | filtered):
                calls += 1
                named = page.column("property")
                if rank is None and walk.step.relation in named:
                    rank = page.before + named.index(walk.step.relation) + 1
                ends = zip(named, page.column("value"), strict=False)  # a hub's list of relations has no values
                shown = (walk.step.relation, walk.end) in ends
                if shown or (rank and "value" not in page.columns):
                    break
            if shown or rank is None:
                break
    except ToolFailedError as error:
        return Walked(walk, rank, shown, calls + 1, str(error))
    return Walked(walk, rank, shown, calls)


def by_relations(client: Caller, walks: Sequence[Walk]) -> list[Walked]:
    """Walk as GraphWalker does: list the relations ranked by the question, then the triples of the gold relation."""
    return [relations_walk(client, walk) for walk in walks]


def relations_walk(client: Caller, walk: Walk) -> Walked:
    """One walk of `by_relations`."""
    asked = {"entity": walk.entity} | ({"question": walk.question} if walk.question else {})
    rank, shown, calls = None, False, 0
    try:
        for page in pages(client, "get_relations", asked):
            calls += 1
            sides = list(zip(page.column("relation"), page.column("direction"), strict=True))
            if (walk.step.relation, walk.step.direction) in sides:
                rank = page.before + sides.index((walk.step.relation, walk.step.direction)) + 1
                break
        if rank:
            column = "tail" if walk.step.direction == "outgoing" else "head"
            for page in pages(client, "get_triples", {"entity": walk.entity, "relations": [walk.step.relation]}):
                calls += 1
                shown = walk.end in page.column(column)
                if shown:
                    break
    except ToolFailedError as error:
        return Walked(walk, rank, shown, calls + 1, str(error))
    return Walked(walk, rank, shown, calls)


def page_hubs(client: Caller, truth: Neighbours) -> list[Paged]:
    """Read both hubs to the end by both tools."""
    return [_page_hub(client, truth, each) for each in _LISTS]


def _page_hub(client: Caller, truth: Neighbours, each: tuple[str, str, Step]) -> Paged:
    tool, entity, step = each
    if tool == "search":
        arguments = {"entity": entity, "direction": step.direction, "properties_to_filter_for": [step.relation]}
        read = list(pages(client, tool, arguments))
        shown = [far for page in read for far in page.column("value")]
    else:  # one list has both directions of the relation
        read = list(pages(client, tool, {"entity": entity, "relations": [step.relation]}))
        near, far = ("head", "tail") if step.direction == "outgoing" else ("tail", "head")
        ends = [pair for page in read for pair in zip(page.column(near), page.column(far), strict=True)]
        shown = [end for anchor, end in ends if anchor == entity]
    return Paged(tool, entity, step, len(read), shown, truth[entity, step.direction][step.relation])


def pages(client: Caller, tool: str, arguments: Mapping[str, object]) -> Iterator[Table]:
    """All pages of an answer, following its cursors."""
    cursor: str | None = None
    while True:
        page = parse(client.call(tool, {**arguments, **({"cursor": cursor} if cursor else {})}))
        yield page
        cursor = page.cursor
        if cursor is None:
            return


@contextmanager
def _connected(endpoint: str, measure: Callable[[Caller, K], T]) -> Generator[Sequence[Callable[[K], T]]]:
    """The function with a client of a server of the endpoint."""
    with BareClient(endpoint_command(endpoint)) as client:
        yield [partial(measure, client)]


def run(record: Run, folder: Path, endpoint: str) -> str:
    """Walk the questions, relations and hubs. Returns the report, which says whether anything is missing."""
    truth = source_neighbours(folder)
    gold, every = gold_walks(folder), relation_walks(folder)
    sets = {f"{len(gold)} SimpleQuestions": gold, f"{len(every) // 2} relations from both ends": every}
    tools = {"search": search_walk, "get_relations and get_triples": relations_walk}
    walked = {
        (name := f"{asked}, {tool}"): record.measured(
            name, Walked, {str(n): walk for n, walk in enumerate(walks, 1)}, partial(_connected, endpoint, measure)
        )
        for asked, walks in sets.items()
        for tool, measure in tools.items()
    }
    asked = list(walked.values())[1]
    lists = {f"{entity}, {tool}": (tool, entity, step) for tool, entity, step in _LISTS}

    def page(client: Caller, each: tuple[str, str, Step]) -> Paged:
        return _page_hub(client, truth, each)

    paged = record.measured("hubs", Paged, lists, partial(_connected, endpoint, page))
    everything = [each for group in walked.values() for each in group]
    near = sum(each.rank is not None and each.rank <= TOP for each in asked)
    hubs = ("hub", "relation", "tool", "pages", "rows in the source", "rows shown", "lost", "surplus")
    return "\n".join(
        (
            report.table(
                ("walks", "gold relations offered", "gold answers shown", "calls a walk, median / mean"),
                [(name, *_row(group)) for name, group in walked.items()],
            ),
            "",
            report.table(hubs, [_hub_row(each) for each in paged]),
            "",
            f"Gold relation among the {TOP} best for the question: {report.share(near, len(asked))}.",
            f"{record.seconds:.0f} s.",
            *_failures(everything),
            report.verdict(
                all(each.reached for each in everything), "every gold relation is offered and every gold answer shown"
            ),
            report.verdict(
                not any(each.lost or each.surplus for each in paged),
                "both hubs are paged in full, nothing lost or twice",
            ),
        )
    )


def _row(group: Sequence[Walked]) -> tuple[str, ...]:
    calls = [each.calls for each in group]
    return (
        report.share(sum(each.rank is not None for each in group), len(group)),
        report.share(sum(each.shown for each in group), len(group)),
        f"{median(calls):.0f} / {mean(calls):.1f}",
    )


def _hub_row(paged: Paged) -> tuple[str, ...]:
    numbers = (paged.pages, len(paged.truth), len(paged.shown), paged.lost, paged.surplus)
    return paged.entity, paged.step.relation, paged.tool, *(f"{number:,}" for number in numbers)


def _failures(everything: Sequence[Walked]) -> list[str]:
    failed = [each for each in everything if not each.reached]
    return [
        f"- {each.walk.entity} {each.walk.step.direction} {each.walk.step.relation} to {each.walk.end}: "
        f"{each.fault or ('not shown' if each.rank else 'not offered')}"
        for each in failed[:_SHOWN_FAILURES]
    ]
