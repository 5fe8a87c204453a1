"""Measures each kind of question by `run_plan` and by hand, an empty plan, and a no-op call of a bare server."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count, islice
from statistics import median
from time import perf_counter
from typing import TypeVar

from kgnav_bench import report
from kgnav_bench.client import BareClient, noop_command, server_command
from kgnav_bench.noop import TOOL
from kgnav_bench.planned import PLANS
from kgnav_bench.plans.byhand import ByHand, Rows, hand_written_queries
from kgnav_bench.plans.kinds import KINDS, Kind, Places, places
from kgnav_bench.plans.synthetic import Shape, generate
from kgnav_bench.replay import Caller
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

AT_MOST = 1.5
"""Maximum time of a plan minus that of an empty plan, relative to the hand-written query."""
WARM_UP = 2
"""Number of first rounds that are not counted."""

_NUMBERS = count()
"""For plans that ask nothing: each is another one."""

T = TypeVar("T")


@dataclass(slots=True)
class Measured:
    """Seconds of one kind of question, and the plans whose rows differ from those of the hand-written query."""

    kind: Kind
    plan: list[float] = field(default_factory=list[float])
    by_hand: list[float] = field(default_factory=list[float])
    idle: list[float] = field(default_factory=list[float])
    """Seconds of a plan that does not query the store."""
    bare: list[float] = field(default_factory=list[float])
    """Seconds of a no-op call of a bare server."""
    rows: list[int] = field(default_factory=list[int])
    differing: list[str] = field(default_factory=list[str])

    def add(self, once: Once, *, counted: bool) -> None:
        """Append a question's seconds if it is counted, and its plan if its rows differ."""
        if once.differing:
            self.differing.append(once.differing)
        if counted:
            self.plan.append(once.plan)
            self.by_hand.append(once.by_hand)
            self.idle.append(once.idle)
            self.bare.append(once.bare)
            self.rows.append(once.rows)

    @property
    def share(self) -> float:
        """Median time of the plan, divided by the maximum time allowed for it."""
        return median(self.plan) / (AT_MOST * median(self.by_hand) + median(self.idle))


def run(record: Run, location: str, nodes: int, rounds: int) -> str:
    """Measure one store with the synthetic graph of this size. Returns the report. Raises as `measure` does."""
    measured = measure(record, location, nodes, rounds)
    columns = ("kind", "rows", "run_plan", "p95", "by hand", "p95", "idle plan", "idle call", "of what is allowed")
    rows = [
        (
            each.kind.name,
            f"{median(each.rows):,.0f}",
            *report.timing(each.plan),
            *report.timing(each.by_hand),
            report.milliseconds(median(each.idle)),
            report.milliseconds(median(each.bare)),
            f"{each.share:.2f}",
        )
        for each in measured
    ]
    title = f"{location.partition('#')[0]}, {nodes:,} nodes: {rounds} questions of each kind, medians in ms"
    idle = median(taken for each in measured for taken in each.idle)
    bare = median(taken for each in measured for taken in each.bare)
    overhead = f"An empty plan takes {idle / bare:.1f} idle calls of a bare server."
    return "\n".join((title, "", report.table(columns, rows), "", overhead, *map(_verdict, measured)))


def _verdict(each: Measured) -> str:
    if each.differing:
        return report.verdict(
            False, f"{each.kind.name}: other rows than the hand-written query, for {each.differing[0]}"
        )
    ratio = max(median(each.plan) - median(each.idle), 0.0) / median(each.by_hand)
    sentence = f"{each.kind.name}: {ratio:.2f} x the hand-written query, less an empty plan (at most {AT_MOST:g})"
    return report.verdict(each.share <= 1, sentence)


def measure(record: Run, location: str, nodes: int, rounds: int, warm_up: int = WARM_UP) -> Sequence[Measured]:
    """Measure every kind of question, with other names and values in each round.

    Raises:
        ValueError: the location is not of a supported store.
        ToolFailedError: a plan is refused, because the store has another graph.
    """
    chosen = list(islice(places(generate(Shape.of(nodes))), warm_up + rounds))
    measured = [Measured(kind) for kind in KINDS]
    with ExitStack() as stack:
        sides = cache(lambda: stack.enter_context(_sides(location)))
        for each in measured:
            ready = partial(_warm, sides, each.kind, chosen[:warm_up])
            items = {str(number): one for number, one in enumerate(chosen, 1)}
            for number, once in enumerate(record.measured(each.kind.name, Once, items, ready)):
                each.add(once, counted=number >= warm_up)
    return measured


@dataclass(frozen=True, slots=True)
class Once:
    """One plan and its comparison: the seconds, the rows of the hand-written query, and the plan if its rows differ."""

    plan: float
    by_hand: float
    idle: float
    bare: float
    rows: int
    differing: str


@dataclass(frozen=True, slots=True)
class Sides:
    """The store, the server and a bare server."""

    by_hand: ByHand
    server: Caller
    bare: Caller


@contextmanager
def _sides(location: str) -> Generator[Sides]:
    with (
        hand_written_queries(location) as by_hand,
        BareClient([*server_command(location), *PLANS]) as server,
        BareClient(noop_command()) as bare,
    ):
        yield Sides(by_hand, server, bare)


@contextmanager
def _warm(
    sides: Callable[[], Sides], kind: Kind, first: Sequence[Places]
) -> Generator[Sequence[Callable[[Places], Once]]]:
    """A function that asks a question of a kind each way. It is called for the first ones before, uncounted."""
    measure = partial(_once, sides(), kind)
    for each in first:
        measure(each)
    yield [measure]


def _once(sides: Sides, kind: Kind, each: Places) -> Once:
    plan = each.plan(kind)
    answer, took_plan = _timed(lambda: sides.server.call("run_plan", {"plan": plan}))
    expected, took_by_hand = _timed(lambda: sides.by_hand(kind, each))
    _, idle = _timed(lambda: sides.server.call("run_plan", {"plan": f"RETURN {next(_NUMBERS)} AS n"}))
    _, idle_call = _timed(lambda: sides.bare.call(TOOL, {"text": "a"}))
    page = parse(answer)
    same = page.total == len(expected) and _same(page.rows, expected)
    return Once(took_plan, took_by_hand, idle, idle_call, len(expected), "" if same else plan)


def _same(page: Sequence[tuple[str, ...]], expected: Rows) -> bool:
    """Whether all rows of the first page are expected ones. A union has no order."""
    return bool(page) == bool(expected) and set(page) <= set(expected)


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    found = call()
    return found, perf_counter() - start
