"""How many rows each relation has at each entity: what relations are stated from, and pages are planned with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from cachetools import TTLCache

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import TailKind

E = TypeVar("E", bound=Hashable)
"""An entity, as the store knows it."""
K = TypeVar("K", bound=Hashable)
"""A relation, as the store knows it."""


@dataclass(frozen=True)  # without slots: Python 3.11 cannot call a generic class with both
class RelationCounts(Generic[E, K]):
    """Rows of each path at each entity.

    `stop` says why not all of them were counted: each count may be too low then, and paths may be missing. Where only
    some counts may be too low, these are `lower_bounds`. `mediators` are some of the nodes that two-hop paths lead
    through, where the store gave some with the counts.
    """

    rows: Mapping[E, Mapping[tuple[K, ...], int]] = field(default_factory=dict[E, Mapping[tuple[K, ...], int]])
    stop: Stop = Stop.COMPLETE
    lower_bounds: frozenset[tuple[E, tuple[K, ...]]] = frozenset()
    mediators: Mapping[tuple[K, ...], tuple[E, ...]] = field(default_factory=dict[tuple[K, ...], tuple[E, ...]])

    def exact(self, entity: E, path: tuple[K, ...]) -> bool:
        """Whether there are no more rows of a path at an entity than were counted."""
        return self.stop is Stop.COMPLETE and (entity, path) not in self.lower_bounds

    @property
    def total(self) -> Count:
        """All rows."""
        return self.sure(sum(sum(counts.values()) for counts in self.rows.values()), bool(self.lower_bounds))

    def by_path(self) -> dict[tuple[K, ...], Count]:
        """The rows of each path at all entities together."""
        bounds = {path for _, path in self.lower_bounds}
        return {path: self.sure(sum(rows.values()), path in bounds) for path, rows in self._transposed.items()}

    def by_entity(self, path: tuple[K, ...]) -> dict[E, int]:
        """The rows of one path at each entity that has some."""
        return {entity: counts[path] for entity, counts in self.rows.items() if path in counts}

    def by_path_and_entity(self) -> Mapping[tuple[K, ...], Mapping[E, int]]:
        """As `by_entity`, of each path."""
        return self._transposed

    @cached_property
    def _transposed(self) -> dict[tuple[K, ...], dict[E, int]]:
        found: dict[tuple[K, ...], dict[E, int]] = {}
        for entity, counts in self.rows.items():
            for path, number in counts.items():
                if path in found:
                    found[path][entity] = number
                else:
                    found[path] = {entity: number}
        return found

    def only(self, wanted: Callable[[tuple[K, ...]], bool] | Collection[tuple[K, ...]]) -> RelationCounts[E, K]:
        """The counts of some paths: of those in a collection, or of those that a condition holds for."""
        keep = wanted if callable(wanted) else wanted.__contains__
        rows = {
            entity: {path: number for path, number in counts.items() if keep(path)}
            for entity, counts in self.rows.items()
        }
        return replace(
            self,
            rows={entity: counts for entity, counts in rows.items() if counts},
            lower_bounds=frozenset(one for one in self.lower_bounds if keep(one[1])),
        )

    def at_least(self) -> RelationCounts[E, K]:
        """The same counts as lower bounds."""
        bounds = frozenset((entity, path) for entity, counts in self.rows.items() for path in counts)
        return replace(self, lower_bounds=bounds)

    def sure(self, number: int, lower_bound: bool = False) -> Count:
        """A number made of these counts: a lower bound where not all was counted."""
        return Count(number) if self.stop is Stop.COMPLETE and not lower_bound else Count.at_least(number)


@dataclass(frozen=True)
class PathCounts(Generic[E, K]):
    """Rows of each path at each entity, all of them counted, by path: what a list of relations is made of."""

    rows: Mapping[tuple[K, ...], Mapping[E, int]]
    stop: Stop = Stop.COMPLETE

    def by_path(self) -> dict[tuple[K, ...], Count]:
        """The rows of each path at all entities together."""
        return {path: Count(sum(rows.values())) for path, rows in self.rows.items()}

    def by_path_and_entity(self) -> Mapping[tuple[K, ...], Mapping[E, int]]:
        """The rows of each path at each entity that has some."""
        return self.rows

    def sure(self, number: int) -> Count:
        """A number made of these counts."""
        return Count(number)


def counted(rows: Iterable[tuple[E, tuple[K, ...], int]], stop: Stop = Stop.COMPLETE) -> RelationCounts[E, K]:
    """Counts from entities, paths and numbers; several numbers for the same rows are added."""
    sums: dict[E, dict[tuple[K, ...], int]] = defaultdict(dict)
    for entity, path, number in rows:
        counts = sums[entity]
        counts[path] = counts.get(path, 0) + number
    return RelationCounts(dict(sums), stop)


def together(parts: Iterable[RelationCounts[E, K]]) -> RelationCounts[E, K]:
    """Several counts as one, as sure as each of them is."""
    each = list(parts)
    if len(each) == 1:
        return each[0]
    return replace(
        counted((one, path, n) for part in each for one, counts in part.rows.items() for path, n in counts.items()),
        stop=Stop.first(part.stop for part in each),
        lower_bounds=frozenset(bound for part in each for bound in part.lower_bounds),
        mediators={path: found for part in each for path, found in part.mediators.items()},
    )


def near(path: tuple[K, ...], direction: Direction) -> K:
    """The relation of a path that is next to the entity: paths go from head to tail."""
    return path[0] if direction is Direction.OUTGOING else path[-1]


def far(path: tuple[K, ...], direction: Direction) -> K:
    """The relation of a path that is away from the entity."""
    return near(path, direction.opposite)


@dataclass(frozen=True)
class CountQuestion(Generic[K]):
    """Which rows are counted: those of some entities in one direction, of paths of so many hops.

    Entities are given as texts: comparing 10,000 of rdflib's terms takes 20 ms. `paths` narrows to some of the paths
    (None: all), `near` to those that begin with some relations next to the entities.
    """

    entities: frozenset[str]
    direction: Direction
    far_ends: TailKind | None
    paths: frozenset[tuple[K, ...]] | None = None
    hops: int = 1
    near: frozenset[K] | None = None


_SIZE = 500
_SECONDS = 60.0


class CountCache(Generic[E, K]):
    """Keeps counts for a minute, so that the pages of one list, or a hub that collapses, are counted once.

    Counts that a time-out cut are kept only where `timed_out` says so: the next call may count more.
    """

    def __init__(self, *, timed_out: bool = False) -> None:
        self._timed_out = timed_out
        self._kept: TTLCache[CountQuestion[K], RelationCounts[E, K]] = TTLCache(_SIZE, _SECONDS)

    async def kept(self, asked: CountQuestion[K]) -> RelationCounts[E, K] | None:
        """Counts that are kept: those asked for, or those of all paths, narrowed."""
        found = self._kept.get(asked)
        if found is not None or (asked.paths is None and asked.near is None):
            return found
        every = self._kept.get(replace(asked, paths=None, near=None))
        if every is None or every.stop is not Stop.COMPLETE:
            return None
        return await in_thread(len(every.rows), lambda: _narrowed(every, asked))

    async def get(
        self, asked: CountQuestion[K], count: Callable[[], Awaitable[RelationCounts[E, K]]]
    ) -> RelationCounts[E, K]:
        """Counts that are kept, or else those that `count` makes."""
        found = await self.kept(asked)
        if found is None:
            found = await count()
            if self._timed_out or found.stop is not Stop.TIME_OUT:
                self._kept[asked] = found
        return found


def _narrowed(every: RelationCounts[E, K], asked: CountQuestion[K]) -> RelationCounts[E, K] | None:
    """The counts that are asked for, out of those of all paths; None where some of them are not there."""
    if asked.paths is not None:
        return every.only(asked.paths)
    wanted = asked.near or frozenset()
    known = {near(path, asked.direction) for path in every.by_path()}
    return every.only(lambda path: near(path, asked.direction) in wanted) if wanted <= known else None
