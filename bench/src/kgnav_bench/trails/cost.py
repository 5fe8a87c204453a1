"""The cost of recording a call on a trail, compared with the same call without one on the same server."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.overhead import CASES, DEGREES, LEAVES, Case

AT_MOST = 1.3
"""Most times as long as without a trail that a call on one may take."""

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


def run(graph: Path, rounds: int) -> str:
    """The report on one graph file."""
    with closing(Store(graph)) as store:
        leaves = store.leaves(LEAVES, *DEGREES)
    if not leaves:
        return f"{graph.name} has no entity with {DEGREES[0]} to {DEGREES[1]} neighbours on one side."
    with tempfile.TemporaryDirectory() as folder:
        stores = {"memory": "memory", "SQLite": str(Path(folder) / "trails.sqlite")}
        measured = {
            (name, case.name): times
            for name, location in stores.items()
            for case, times in _measured(graph, location, leaves, rounds)
        }
    return _report(graph, len(leaves) * rounds, measured)


def _measured(graph: Path, location: str, leaves: Sequence[Leaf], rounds: int) -> list[tuple[Case, Times]]:
    """All cases on a server with its trail store at `location`, after a warm-up round that is not counted."""
    measured = [(case, Times()) for case in CASES]
    with BareClient([*server_command(graph), *_OPTIONS, "--trail-store", location]) as client:
        for n in range(-1, rounds):
            for case, times in measured:
                counted = Times() if n < 0 else times
                trail = {"trail": _started(client, leaves[0])}
                for leaf in leaves:
                    counted.without.append(_seconds(client, case, leaf, {}))
                    counted.on_trail.append(_seconds(client, case, leaf, trail))
    return measured


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
