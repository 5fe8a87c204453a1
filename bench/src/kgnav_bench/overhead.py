"""Overhead of a tool call, compared with the same queries made directly and with a bare server's no-op tool.

Every transport is measured with both servers in the same rounds, because machines are noisy and runs differ.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import ParamSpec, Protocol

from kgnav_bench import report
from kgnav_bench.client import BareClient, noop_command, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.http_client import BareHttpClient, Era, http_noop_command, http_server_command, serving
from kgnav_bench.noop import TOOL
from kgnav_bench.runs import Run

IDLE_CALLS = 2.0
"""Maximum time of a call without the store's part, relative to a bare server's no-op call."""

QUERIES = 1.1
"""Maximum time of the store's part, relative to the same direct queries."""

HTTP_OF_STDIO = 1.5
"""Maximum time of a call over HTTP on a kept connection, relative to stdio."""

LEAVES = 40
DEGREES = 30, 50
CALLS = LEAVES
"""Number of calls of one side before the next side's turn. Single calls would find the processor's caches cold."""

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

STDIO = "stdio"
HTTP: Mapping[str, Era] = {"HTTP": "stateless", "HTTP, handshake": "handshake"}
"""The protocol generation of each HTTP transport. Over stdio it is the handshake protocol."""


class Client(Protocol):
    """A client for measuring."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> str: ...


@dataclass(frozen=True, slots=True)
class Side:
    """One transport: a client of the server, and one of a bare server."""

    server: Client
    idle: Client


@dataclass(slots=True)
class Times:
    """Seconds of each call of one case: the direct queries, and by transport the server's and the no-op call."""

    direct: list[float] = field(default_factory=list[float])
    server: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    idle: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def share(self, transport: str) -> float:
        """Median time of the call, divided by the maximum time allowed for it."""
        allowed = IDLE_CALLS * median(self.idle[transport]) + QUERIES * median(self.direct)
        return median(self.server[transport]) / allowed

    def add(self, other: Times) -> None:
        """Append the seconds of another round."""
        self.direct += other.direct
        for mine, others in ((self.server, other.server), (self.idle, other.idle)):
            for transport, seconds in others.items():
                mine.setdefault(transport, []).extend(seconds)


def run(record: Run, graph: Path, rounds: int) -> str:
    """Measure one graph file. Every round measures all sides in turn, a few calls each. Returns the report."""
    with closing(Store(graph)) as store:
        leaves = store.leaves(LEAVES, *DEGREES)
        if not leaves:
            return f"{graph.name} has no entity with {DEGREES[0]} to {DEGREES[1]} neighbours on one side."
        measured = {case.name: Times() for case in CASES}
        for case in CASES:
            place = cycle(leaves)
            batches = [[next(place) for _ in range(CALLS)] for _ in range(rounds + 1)]
            items = {str(n): batch for n, batch in enumerate(batches) if n > 0}
            for times in record.measured(case.name, Times, items, partial(_warm, case, store, graph, batches[0])):
                measured[case.name].add(times)
    return _report(graph, leaves, rounds * CALLS, measured)


@contextmanager
def _warm(
    case: Case, store: Store, graph: Path, batch: Sequence[Leaf]
) -> Generator[Sequence[Callable[[Sequence[Leaf]], Times]]]:
    """A function that measures a round of a case, after a round that is not counted."""
    with sides(graph) as by_transport:
        _measure(case, store, by_transport, batch)
        yield [partial(_measure, case, store, by_transport)]


@contextmanager
def sides(graph: Path) -> Generator[Mapping[str, Side]]:
    """Clients of both servers, by transport."""
    with ExitStack() as opened:
        server = opened.enter_context(BareClient(server_command(graph)))
        idle = opened.enter_context(BareClient(noop_command()))
        http = [opened.enter_context(serving(command)) for command in (http_server_command(graph), http_noop_command())]
        over_http = {
            name: Side(*(opened.enter_context(BareHttpClient(listening.url, era)) for listening in http))
            for name, era in HTTP.items()
        }
        yield {STDIO: Side(server, idle), **over_http}


def _measure(case: Case, store: Store, by_transport: Mapping[str, Side], batch: Sequence[Leaf]) -> Times:
    """One round of a case."""
    calls = [case.arguments(leaf) for leaf in batch]
    times = Times([_timed(case.direct, store, leaf) for leaf in batch])
    for transport, side in by_transport.items():
        times.server[transport] = [_timed(side.server.call, case.tool, call) for call in calls]
        times.idle[transport] = [_timed(side.idle.call, TOOL, {"text": "a"}) for _ in calls]
    return times


def _timed(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    start = perf_counter()
    call(*args, **kwargs)
    return perf_counter() - start


def _report(graph: Path, leaves: Sequence[Leaf], calls: int, measured: Mapping[str, Times]) -> str:
    degrees = [leaf.degree for leaf in leaves]
    columns = ("call", "over", "server, median", "p95", "idle call, median", "queries, median", "of what is allowed")
    rows = [
        (
            name,
            transport,
            *report.timing(seconds),
            report.milliseconds(median(times.idle[transport])),
            report.milliseconds(median(times.direct)),
            f"{times.share(transport):.2f}",
        )
        for name, times in measured.items()
        for transport, seconds in times.server.items()
    ]
    title = f"{graph.name}: {len(leaves)} entities of degree {min(degrees)} to {max(degrees)}, {calls} calls each, ms"
    return "\n".join((title, "", report.table(columns, rows), "", *_verdicts(measured)))


def _verdicts(measured: Mapping[str, Times]) -> Iterator[str]:
    allowed = f"{IDLE_CALLS:g} x the idle call + {QUERIES:g} x the queries"
    for name, times in measured.items():
        for transport in times.server:
            ratio = median(times.server[transport]) / median(times.idle[transport])
            yield report.verdict(
                times.share(transport) <= 1,
                f"{name} over {transport}: {ratio:.2f} x the idle call (allowed {allowed})",
            )
    for name, times in measured.items():
        ratio, bare = (median(by["HTTP"]) / median(by[STDIO]) for by in (times.server, times.idle))
        yield report.verdict(
            ratio <= HTTP_OF_STDIO,
            f"{name} over HTTP: {ratio:.2f} x stdio (allowed {HTTP_OF_STDIO:g} x; a bare server: {bare:.2f} x)",
        )
