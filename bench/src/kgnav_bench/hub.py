"""Compares `search` on a hub with a leaf, and with fetching the hub's whole neighbourhood to summarize it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Store
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

AT_MOST = 2.0
"""Maximum time of `search` on the hub relative to the leaf."""

FASTER = 1000
"""Minimum speed-up over fetching and summarizing the whole neighbourhood."""

JUDGED_FROM = 1_000_000
"""Minimum number of rows of a hub for which `FASTER` is checked."""

_WARM_UP = 5
_OTHERS = 20
"""Other hubs searched before each round: more than the server caches, so that it reads this hub's relations again."""


class NoHubError(Exception):
    """The graph file has no suitable hub or leaf."""


@dataclass(slots=True)
class Times:
    """Seconds of each round, and of each fetch of the whole hub."""

    hub: list[float]
    again: list[float]
    leaf: list[float]
    whole: list[float]


@dataclass(frozen=True, slots=True)
class Place:
    """An entity and a direction."""

    entity: str
    direction: str


@dataclass(frozen=True, slots=True)
class Round:
    """The seconds of a round; `whole` is None where the whole hub is not fetched."""

    hub: float
    leaf: float
    again: float
    whole: float | None


@dataclass(frozen=True, slots=True)
class Sizes:
    """The hub's degree, and the numbers of relations and rows in the answers on the hub and on the leaf."""

    degree: int
    relations: int
    rows: int


@dataclass(frozen=True, slots=True)
class Sides:
    """The file, the server, and the entities that are queried."""

    store: Store
    client: BareClient
    hub: Place
    leaf: Place
    others: Sequence[Place]

    def round(self, *, fetches: bool) -> Round:
        """Search other hubs, then this hub, the leaf, and this hub again. `fetches`: also fetch the whole hub."""
        for other in self.others:
            self.search(other)
        seconds: list[float] = []
        for place in (self.hub, self.leaf, self.hub):
            start = perf_counter()
            self.search(place)
            seconds.append(perf_counter() - start)
        hub, leaf, again = seconds
        start = perf_counter()
        if fetches:
            self.store.fetch_all_and_collapse(self.hub.entity, self.hub.direction)
        return Round(hub, leaf, again, perf_counter() - start if fetches else None)

    def sizes(self) -> Sizes:
        """The sizes of both answers."""
        degree = self.store.fetch_all_and_collapse(self.hub.entity, self.hub.direction).total()
        return Sizes(degree, *(parse(self.search(place)).total for place in (self.hub, self.leaf)))

    def search(self, place: Place) -> str:
        """The answer of `search` at a place."""
        return self.client.call("search", asdict(place))


def run(record: Run, graph: Path, hub: Place | None, leaf: Place | None, *, rounds: int, fetches: int) -> str:
    """Call `search` on hub and leaf in turn, and a few times use the paper's method on the file. Returns the report.

    By default the hub is the largest one, and the leaf an entity of degree 45 to 50.

    Raises:
        NoHubError: there is no hub, or no such leaf.
    """
    with closing(Store(graph)) as store:
        hub, leaf = hub or _hub(store), leaf or _leaf(store)
        others = [place for place in _hubs(store, _OTHERS + 1) if place != hub][:_OTHERS]

        @contextmanager
        def warm() -> Generator[Sides]:
            with BareClient(server_command(graph)) as client:
                sides = Sides(store, client, hub, leaf, others)
                for place in (hub, leaf) * _WARM_UP:
                    sides.search(place)
                yield sides

        @contextmanager
        def measuring_rounds() -> Generator[Sequence[Callable[[bool], Round]]]:
            with warm() as sides:
                yield [lambda fetched: sides.round(fetches=fetched)]

        @contextmanager
        def measuring_sizes() -> Generator[Sequence[Callable[[None], Sizes]]]:
            with warm() as sides:
                yield [lambda _: sides.sizes()]

        items = {str(n + 1): n * fetches // rounds != (n + 1) * fetches // rounds for n in range(rounds)}
        measured = record.measured("rounds", Round, items, measuring_rounds)
        (sizes,) = record.measured("sizes", Sizes, {"both": None}, measuring_sizes)
    times = Times(
        [each.hub for each in measured],
        [each.again for each in measured],
        [each.leaf for each in measured],
        [each.whole for each in measured if each.whole is not None],
    )
    what = (
        f"search on the hub {hub.entity} ({sizes.relations:,} relations)",
        f"search on the leaf {leaf.entity} ({sizes.rows:,} rows)",
        "search on the hub again, with cached relations",
        f"fetch all {sizes.degree:,} and collapse, direct, {len(times.whole)} times",
    )
    return _report(f"{graph.name}: {rounds} rounds, ms", what, times, sizes.degree)


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
