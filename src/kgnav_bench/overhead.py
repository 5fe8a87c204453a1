"""What a tool call costs beyond the store: over stdio, beside the same queries made directly and an idle server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import ParamSpec

from kgnav_bench import report
from kgnav_bench.client import BareClient, PackageClient, noop_command, package_client, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.noop import TOOL

ALLOWED_SECONDS = 0.0015
ALLOWED_SHARE = 0.10
LEAVES = 40
DEGREES = 30, 50
CALLS = LEAVES
"""Calls of one side in a row before the next side's turn: alone, each would find the processor's caches cold."""

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Case:
    """A tool call at a leaf, and the store's part of it."""

    name: str
    tool: str
    arguments: Callable[[Leaf], Mapping[str, object]]
    direct: Callable[[Store, Leaf], int]


CASES = (
    Case("search", "search", lambda leaf: {"entity": leaf.key, "direction": leaf.direction}, Store.neighbourhood),
    Case(
        "search, filtered",
        "search",
        lambda leaf: {
            "entity": leaf.key,
            "direction": leaf.direction,
            "properties_to_filter_for": [leaf.relation_key],
        },
        Store.filtered,
    ),
    Case(
        "get_triples",
        "get_triples",
        lambda leaf: {"entity": leaf.key, "relations": [leaf.relation_key]},
        Store.triples,
    ),
    Case("find_node", "find_node", lambda leaf: {"hint": leaf.label}, Store.named),
)


@dataclass(slots=True)
class Times:
    """Seconds of each round of one case, by who was asked."""

    direct: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])
    package: list[float] = field(default_factory=list[float])
    noop: list[float] = field(default_factory=list[float])

    @property
    def added(self) -> float:
        """What the server adds to the store's time, in the median."""
        return median(self.bare) - median(self.direct)

    @property
    def added_undisturbed(self) -> float:
        """The same at the fastest tenth of the calls: what is left of it where no other program takes the processor."""
        return fastest_tenth(self.bare) - fastest_tenth(self.direct)

    @property
    def within(self) -> bool:
        """Whether that is no more than is allowed."""
        return self.added <= ALLOWED_SECONDS + ALLOWED_SHARE * median(self.direct)


async def run(graph: Path, rounds: int) -> str:
    """The report on one graph file. Every round asks all four, one after the other, a few calls each."""
    with closing(Store(graph)) as store:
        leaves = store.leaves(LEAVES, *DEGREES)
        if not leaves:
            return f"{graph.name} has no entity with {DEGREES[0]} to {DEGREES[1]} neighbours on one side."
        with BareClient(server_command(graph)) as bare, BareClient(noop_command()) as noop:
            async with package_client(server_command(graph)) as package:
                sides = Sides(store, bare, package, noop)
                measured = {case.name: await sides.measure(case, leaves, rounds) for case in CASES}
    return _report(graph, leaves, rounds * CALLS, measured)


@dataclass(frozen=True, slots=True)
class Sides:
    """Those that are asked in turn."""

    store: Store
    bare: BareClient
    package: PackageClient
    noop: BareClient

    async def measure(self, case: Case, leaves: Sequence[Leaf], rounds: int) -> Times:
        """One case, after a round that is not counted."""
        times = Times()
        place = cycle(leaves)
        for n in range(-1, rounds):
            taken = Times() if n < 0 else times
            batch = [next(place) for _ in range(CALLS)]
            calls = [case.arguments(leaf) for leaf in batch]
            taken.direct += [_timed(case.direct, self.store, leaf) for leaf in batch]
            taken.bare += [_timed(self.bare.call, case.tool, call) for call in calls]
            taken.noop += [_timed(self.noop.call, TOOL, {"text": "a"}) for _ in calls]
            for call in calls:
                start = perf_counter()
                await self.package.call(case.tool, call)
                taken.package.append(perf_counter() - start)
        return times


def fastest_tenth(seconds: Sequence[float]) -> float:
    """The slowest of the fastest tenth."""
    return sorted(seconds)[len(seconds) // 10]


def _timed(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    start = perf_counter()
    call(*args, **kwargs)
    return perf_counter() - start


def _report(graph: Path, leaves: Sequence[Leaf], calls: int, measured: Mapping[str, Times]) -> str:
    degrees = [leaf.degree for leaf in leaves]
    columns = (
        "call",
        "direct, median",
        "server, bare client, median",
        "p95",
        "server, mcp.Client, median",
        "p95",
        "idle server, bare client, median",
        "added",
        "added, fastest tenth",
        "idle server, fastest tenth",
    )
    rows = [
        (
            name,
            report.milliseconds(median(times.direct)),
            *report.timing(times.bare),
            *report.timing(times.package),
            report.milliseconds(median(times.noop)),
            report.milliseconds(times.added),
            report.milliseconds(times.added_undisturbed),
            report.milliseconds(fastest_tenth(times.noop)),
        )
        for name, times in measured.items()
    ]
    allowed = f"{ALLOWED_SECONDS * 1000:g} ms + {ALLOWED_SHARE:.0%}"
    title = f"{graph.name}: {len(leaves)} entities of degree {min(degrees)} to {max(degrees)}, {calls} calls each, ms"
    return "\n".join(
        (
            title,
            "",
            report.table(columns, rows),
            "",
            *(
                report.verdict(
                    times.within, f"{name} adds {report.milliseconds(times.added)} ms (allowed {allowed} of the direct)"
                )
                for name, times in measured.items()
            ),
        )
    )
