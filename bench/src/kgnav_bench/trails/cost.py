"""The cost of recording a call on a trail, compared with the same call without one on the same server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.overhead import CASES, DEGREES, LEAVES, Case
from kgnav_bench.runs import Run

AT_MOST = 1.3
"""Maximum time of a call on a trail, relative to the same call without one."""

STORES = ("memory", "SQLite")
"""The stores of trails that are measured."""

_OPTIONS = ("--toolsets", "sog,graphwalker,linking,trail")


@dataclass(slots=True)
class Times:
    """Seconds of each call of one case, without a trail and on one."""

    without: list[float] = field(default_factory=list[float])
    on_trail: list[float] = field(default_factory=list[float])

    @property
    def ratio(self) -> float:
        """Median time on a trail, divided by that without one."""
        return median(self.on_trail) / median(self.without)


def run(record: Run, graph: Path, rounds: int) -> str:
    """Measure one graph file. Returns the report."""
    with closing(Store(graph)) as store:
        leaves = store.leaves(LEAVES, *DEGREES)
    if not leaves:
        return f"{graph.name} has no entity with {DEGREES[0]} to {DEGREES[1]} neighbours on one side."
    measured: dict[tuple[str, str], Times] = {}
    for name in STORES:
        rounds_kept = record.measured(
            f"trails in {name}",
            list[Times],
            {str(n): n for n in range(1, rounds + 1)},
            partial(_warm, graph, name, leaves),
        )
        for case, times in zip(CASES, zip(*rounds_kept, strict=True), strict=True):
            measured[name, case.name] = Times(
                [seconds for each in times for seconds in each.without],
                [seconds for each in times for seconds in each.on_trail],
            )
    return _report(graph, len(leaves) * rounds, measured)


@contextmanager
def _warm(graph: Path, store: str, leaves: Sequence[Leaf]) -> Generator[Sequence[Callable[[int], list[Times]]]]:
    """A function that measures a round of all cases on a server with such a trail store.

    It is called once before, for a round that is not counted.
    """
    with tempfile.TemporaryDirectory() as folder:
        location = str(Path(folder) / "trails.sqlite") if store == "SQLite" else store
        with BareClient([*server_command(graph), *_OPTIONS, "--trail-store", location]) as client:

            def measure(_: int) -> list[Times]:
                return [_round(client, case, leaves) for case in CASES]

            measure(0)
            yield [measure]


def _round(client: BareClient, case: Case, leaves: Sequence[Leaf]) -> Times:
    times = Times()
    trail = {"trail": _started(client, leaves[0])}
    for leaf in leaves:
        times.without.append(_seconds(client, case, leaf, {}))
        times.on_trail.append(_seconds(client, case, leaf, trail))
    return times


def _started(client: BareClient, topic: Leaf) -> str:
    """Start a trail and return its handle."""
    answer = client.call("start_trail", {"question": "What?", "topic_entities": [topic.key]})
    return answer.partition("\n")[0].removeprefix("trail: ")


def _seconds(client: BareClient, case: Case, leaf: Leaf, trail: Mapping[str, object]) -> float:
    arguments = {**case.arguments(leaf), **trail}
    start = perf_counter()
    client.call(case.tool, arguments)
    return perf_counter() - start


def _report(graph: Path, calls: int, measured: Mapping[tuple[str, str], Times]) -> str:
    rows = [
        (case, store, *report.timing(times.without), *report.timing(times.on_trail), f"{times.ratio:.2f}")
        for (store, case), times in measured.items()
    ]
    columns = ("call", "trails in", "without, median", "p95", "on a trail, median", "p95", "ratio")
    verdicts = [
        report.verdict(
            times.ratio <= AT_MOST, f"{case}, trails in {store}: {times.ratio:.2f} x (at most {AT_MOST:g} x)"
        )
        for (store, case), times in measured.items()
    ]
    return "\n".join((f"{graph.name}: {calls} calls each, ms", "", report.table(columns, rows), "", *verdicts))
