"""Compares `search` on a hub with a leaf, and with fetching the hub's whole neighbourhood to collapse it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Store
from kgnav_bench.tables import parse

AT_MOST = 2.0
"""Most times as long as on the leaf that `search` may take on the hub."""

FASTER = 1000
"""Least factor by which it must be faster than fetch-all-and-collapse..."""

JUDGED_FROM = 1_000_000
"""...judged only on a hub with at least this number of rows."""

_WARM_UP = 5
_OTHERS = 20
"""Other hubs searched before each round: more than the server caches, so that it reads this hub's relations again."""


class NoHubError(Exception):
    """The graph file has no suitable hub or leaf."""


@dataclass(slots=True)
class Times:
    """Seconds of each round, and of each fetch of the whole hub."""

    hub: list[float] = field(default_factory=list[float])
    again: list[float] = field(default_factory=list[float])
    leaf: list[float] = field(default_factory=list[float])
    whole: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class Place:
    """An entity and a direction."""

    entity: str
    direction: str


def run(graph: Path, hub: Place | None, leaf: Place | None, *, rounds: int, fetches: int) -> str:
    """The report: `search` on hub and leaf in turn, and in between a few times the paper's method directly on the file.

    By default the hub is the largest one, and the leaf an entity of degree 45 to 50.

    Raises:
        NoHubError: there is no hub, or no such leaf.
    """
    times = Times()
    with closing(Store(graph)) as store, BareClient(server_command(graph)) as client:
        hub = hub or _hub(store)
        leaf = leaf or _leaf(store)
        others = [place for place in _hubs(store, _OTHERS + 1) if place != hub][:_OTHERS]
        for _ in range(_WARM_UP):
            client.call("search", asdict(hub))
            client.call("search", asdict(leaf))
        for n in range(rounds):
            for other in others:
                client.call("search", asdict(other))
            for place, taken in ((hub, times.hub), (leaf, times.leaf), (hub, times.again)):
                start = perf_counter()
                client.call("search", asdict(place))
                taken.append(perf_counter() - start)
            if n * fetches // rounds != (n + 1) * fetches // rounds:
                start = perf_counter()
                store.fetch_all_and_collapse(hub.entity, hub.direction)
                times.whole.append(perf_counter() - start)
        degree = store.fetch_all_and_collapse(hub.entity, hub.direction).total()
        relations, rows = client.call("search", asdict(hub)), client.call("search", asdict(leaf))
    what = (
        f"search on the hub {hub.entity} ({parse(relations).total:,} relations)",
        f"search on the leaf {leaf.entity} ({parse(rows).total:,} rows)",
        "search on the hub once more, its relations kept",
        f"fetch all {degree:,} and collapse, direct, {len(times.whole)} times",
    )
    return _report(f"{graph.name}: {rounds} rounds, ms", what, times, degree)


def _report(title: str, what: Sequence[str], times: Times, degree: int) -> str:
    ratio, faster = median(times.hub) / median(times.leaf), median(times.whole) / median(times.hub)
    taken = (times.hub, times.leaf, times.again, times.whole)
    rows = [(name, *report.timing(seconds)) for name, seconds in zip(what, taken, strict=True)]
    slow = f"the hub takes {ratio:.2f} times as long as the leaf (at most {AT_MOST:g})"
    fast = f"{faster:,.0f} times as fast as fetch-all-and-collapse (a hub of {JUDGED_FROM:,}: at least {FASTER:,})"
    judged = report.verdict(faster >= FASTER, fast) if degree >= JUDGED_FROM else f"Not judged: {fast}"
    table = report.table(("what", "median", "p95"), rows)
    return "\n".join((title, "", table, "", report.verdict(ratio <= AT_MOST, slow), judged))


def _hub(store: Store) -> Place:
    found = _hubs(store, 1)
    if not found:
        raise NoHubError("this graph has no hub")
    return found[0]


def _hubs(store: Store, most: int) -> list[Place]:
    return [Place(entity, direction) for entity, direction in store.largest_hubs(most)]


def _leaf(store: Store) -> Place:
    found = store.leaves(1, 45, 50)
    if not found:
        raise NoHubError("this graph has no entity with 45 to 50 neighbours on one side")
    return Place(found[0].key, found[0].direction)
