"""Measures many concurrent clients over HTTP, each on its own kept-alive connection, compared with a bare server."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.direct import Store
from kgnav_bench.http_client import BareHttpClient, HttpServer, http_noop_command, http_server_command, serving
from kgnav_bench.noop import TOOL
from kgnav_bench.overhead import DEGREES, LEAVES
from kgnav_bench.runs import Run

ALLOWED = 0.8
"""Minimum rate of calls that use no store, relative to the bare server's calls per second."""

AT_ONCE = 1, 8, 64

Call = tuple[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Load:
    """A server, and the calls that its clients make."""

    name: str
    server: HttpServer
    calls: Sequence[Call]


@dataclass(slots=True)
class Rounds:
    """For each round of one load with one number of clients: calls per second, and the seconds of each call."""

    throughput: list[float] = field(default_factory=list[float])
    seconds: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class Round:
    """A round: what `_burst` gives for each number of clients and each load, and the MiB of both servers after it."""

    bursts: list[tuple[float, list[float]]]
    memory: tuple[float, float]


def run(record: Run, graph: Path, rounds: int, calls: int) -> str:
    """Measure every load in turn with each number of clients, `calls` calls per round. Returns the report."""
    with closing(Store(graph)) as store:
        leaves = store.leaves(LEAVES, *DEGREES)
    names = ("a bare mcp server, a no-op tool", "think, which does not query the store", "search")
    searches = [("search", {"entity": leaf.key, "direction": leaf.direction}) for leaf in leaves]

    @contextmanager
    def warm() -> Generator[Sequence[Callable[[int], Round]]]:
        with serving(http_server_command(graph)) as ours, serving(http_noop_command()) as bare:
            both = ((bare, [(TOOL, {"text": "a"})]), (ours, [("think", {"thought": "a"})]), (ours, searches))
            loads = [Load(name, *each) for name, each in zip(names, both, strict=True)]

            def measure(_: int) -> Round:
                bursts = [_burst(load, clients, calls) for clients in AT_ONCE for load in loads]
                return Round(bursts, (ours.memory, bare.memory))

            measure(0)
            yield [measure]

    kept = record.measured("rounds", Round, {str(n): n for n in range(1, rounds + 1)}, warm)
    measured: dict[tuple[str, int], Rounds] = {}
    for each in kept:
        places = ((name, clients) for clients in AT_ONCE for name in names)
        for place, (throughput, seconds) in zip(places, each.bursts, strict=True):
            results = measured.setdefault(place, Rounds())
            results.throughput.append(throughput)
            results.seconds += seconds
    return _report(graph, names, measured, [each.memory for each in kept])


def _burst(load: Load, clients: int, calls: int) -> tuple[float, list[float]]:
    """Calls per second of this number of concurrent clients, and the seconds of each call."""
    with ThreadPoolExecutor(clients) as threads:
        start = perf_counter()
        done = list(threads.map(partial(_calls, load, calls // clients), range(clients)))
        taken = perf_counter() - start
    seconds = [each for one in done for each in one]
    return len(seconds) / taken, seconds


def _calls(load: Load, calls: int, first: int) -> list[float]:
    seconds: list[float] = []
    with BareHttpClient(load.server.url) as client:
        for tool, arguments in islice(cycle(load.calls), first, first + calls):
            start = perf_counter()
            client.call(tool, arguments)
            seconds.append(perf_counter() - start)
    return seconds


def _report(
    graph: Path,
    names: Sequence[str],
    measured: Mapping[tuple[str, int], Rounds],
    memory: Sequence[tuple[float, float]],
) -> str:
    bare, idle, _ = names

    def ratio(name: str, clients: int) -> float:
        """Median over the rounds of the ratio within each round, since a machine's speed changes over time."""
        both = zip(measured[name, clients].throughput, measured[bare, clients].throughput, strict=True)
        return median(one / other for one, other in both)

    rows = [
        (
            clients,
            name,
            f"{median(results.throughput):,.0f}",
            f"{ratio(name, clients):.2f}",
            *report.timing(results.seconds),
        )
        for clients in AT_ONCE
        for name in names
        for results in (measured[name, clients],)
    ]
    (before, bare_before), (after, bare_after) = memory[0], memory[-1]
    return "\n".join(
        (
            f"{graph.name} over HTTP, stateless era, {len(memory)} rounds",
            "",
            report.table(("clients", "call", "calls/s", "of the bare server's", "ms, median", "p95"), rows),
            "",
            f"memory after the first round and after the last: {before:.0f} and {after:.0f} MiB "
            f"(bare server: {bare_before:.0f} and {bare_after:.0f})",
            "",
            *(
                report.verdict(
                    ratio(idle, clients) >= ALLOWED,
                    f"{clients} clients: {ratio(idle, clients):.2f} of a bare server's calls a second "
                    f"(at least {ALLOWED:g})",
                )
                for clients in AT_ONCE
            ),
        )
    )
