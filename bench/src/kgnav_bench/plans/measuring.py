"""Measures each kind of question by `run_plan` and by hand, an empty plan, and a no-op call of a bare server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from time import perf_counter
from typing import TypeVar

from kgnav_bench import report
from kgnav_bench.client import BareClient, noop_command, server_command
from kgnav_bench.noop import TOOL
from kgnav_bench.planned import PLANS
from kgnav_bench.plans.byhand import ByHand, Rows, hand_written_queries
from kgnav_bench.plans.kinds import KINDS, Kind, Places, places
from kgnav_bench.replay import Caller
from kgnav_bench.tables import parse
from kgnav_bench.templates.synthetic import Shape, generate

AT_MOST = 1.5
"""Most multiples of the hand-written query that a plan may take, besides an empty plan (the overhead of a call)."""
WARM_UP = 2
"""Rounds that are not counted."""

T = TypeVar("T")


@dataclass(slots=True)
class Measured:
    """Seconds of one kind, and the plans whose rows differ from those by hand."""

    kind: Kind
    plan: list[float] = field(default_factory=list[float])
    by_hand: list[float] = field(default_factory=list[float])
    idle: list[float] = field(default_factory=list[float])
    """A plan that does not query the store."""
    bare: list[float] = field(default_factory=list[float])
    """A no-op call of a bare server."""
    rows: list[int] = field(default_factory=list[int])
    differing: list[str] = field(default_factory=list[str])

    @property
    def share(self) -> float:
        """Median time of the plan, divided by the time allowed for it."""
        return median(self.plan) / (AT_MOST * median(self.by_hand) + median(self.idle))


def run(location: str, nodes: int, rounds: int) -> str:
    """The report on one store with the synthetic graph of this size. Raises the same as `measure`."""
    measured = measure(location, nodes, rounds)
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
    overhead = f"A plan that asks nothing takes {idle / bare:.1f} idle calls of a bare server."
    return "\n".join((title, "", report.table(columns, rows), "", overhead, *map(_verdict, measured)))


def _verdict(each: Measured) -> str:
    if each.differing:
        return report.verdict(False, f"{each.kind.name}: other rows than by hand, for {each.differing[0]}")
    ratio = max(median(each.plan) - median(each.idle), 0.0) / median(each.by_hand)
    sentence = f"{each.kind.name}: {ratio:.2f} x by hand beside an idle plan (at most {AT_MOST:g})"
    return report.verdict(each.share <= 1, sentence)


def measure(location: str, nodes: int, rounds: int, warm_up: int = WARM_UP) -> Sequence[Measured]:
    """Measure every kind, with other names and values in each round.

    Raises:
        ValueError: the location is not of a supported store.
        ToolFailedError: a plan is refused, since the store has another graph.
    """
    chosen = list(islice(places(generate(Shape.of(nodes))), warm_up + rounds))
    with (
        hand_written_queries(location) as by_hand,
        BareClient([*server_command(location), *PLANS]) as server,
        BareClient(noop_command()) as bare,
    ):
        return [_measured(kind, chosen, warm_up, by_hand=by_hand, server=server, bare=bare) for kind in KINDS]


def _measured(
    kind: Kind, chosen: Sequence[Places], warm_up: int, *, by_hand: ByHand, server: Caller, bare: Caller
) -> Measured:
    measured = Measured(kind)
    for number, each in enumerate(chosen):
        plan = each.plan(kind)
        answer, took_plan = _timed(lambda plan=plan: server.call("run_plan", {"plan": plan}))
        expected, took_by_hand = _timed(lambda each=each: by_hand(kind, each))
        _, idle = _timed(lambda number=number: server.call("run_plan", {"plan": f"RETURN {number} AS n"}))
        _, idle_call = _timed(lambda: bare.call(TOOL, {"text": "a"}))
        page = parse(answer)
        if page.total != len(expected) or not _same(page.rows, expected):
            measured.differing.append(plan)
        if number >= warm_up:
            measured.plan.append(took_plan)
            measured.by_hand.append(took_by_hand)
            measured.idle.append(idle)
            measured.bare.append(idle_call)
            measured.rows.append(len(expected))
    return measured


def _same(page: Sequence[tuple[str, ...]], expected: Rows) -> bool:
    """Whether all rows of the first page are expected ones. A union has no order."""
    return bool(page) == bool(expected) and set(page) <= set(expected)


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    found = call()
    return found, perf_counter() - start
