"""The number of rows of each relation at each entity, from which lists of relations are made and pages are planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from cachetools import TTLCache

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Certainty, Count, Direction, Node, Page, Relation, RelationFacts, Stop
from kgnav_mcp.port import FarEndKind

E = TypeVar("E", bound=Hashable)
"""An entity, as a key of the store's own type."""
K = TypeVar("K", bound=Hashable)
"""A relation, as a key of the store's own type."""


@dataclass(frozen=True)  # without slots: Python 3.11 cannot call a generic class with both
class RelationCounts(Generic[E, K]):
    """The number of rows of each path at each entity.

    If `stop` is not COMPLETE, counting ended early: each count may be too low, and paths may be missing. If only some
    counts may be too low, they are in `lower_bounds`. `mediators` has, by two-hop path, some of the mediators of the
    path, where the store returned them with the counts.
    """

    rows: Mapping[E, Mapping[tuple[K, ...], int]] = field(default_factory=dict[E, Mapping[tuple[K, ...], int]])
    stop: Stop = Stop.COMPLETE
    lower_bounds: frozenset[tuple[E, tuple[K, ...]]] = frozenset()
    mediators: Mapping[tuple[K, ...], tuple[E, ...]] = field(default_factory=dict[tuple[K, ...], tuple[E, ...]])

    def exact(self, entity: E, path: tuple[K, ...]) -> bool:
        """Whether the count of a path at an entity is exact, not a lower bound."""
        return self.stop is Stop.COMPLETE and (entity, path) not in self.lower_bounds

    @property
    def total(self) -> Count:
        """The number of all rows."""
        return self.as_count(sum(sum(counts.values()) for counts in self.rows.values()), bool(self.lower_bounds))

    def by_path(self) -> dict[tuple[K, ...], Count]:
        """The number of rows of each path, over all entities."""
        bounds = {path for _, path in self.lower_bounds}
        return {path: self.as_count(sum(rows.values()), path in bounds) for path, rows in self._transposed.items()}

    def by_entity(self, path: tuple[K, ...]) -> dict[E, int]:
        """The number of rows of one path at each entity that has any."""
        return {entity: counts[path] for entity, counts in self.rows.items() if path in counts}

    def by_path_and_entity(self) -> Mapping[tuple[K, ...], Mapping[E, int]]:
        """For each path, the number of rows at each entity that has any."""
        return self._transposed

    @cached_property
    def _transposed(self) -> dict[tuple[K, ...], dict[E, int]]:
        counts_by_path: dict[tuple[K, ...], dict[E, int]] = {}
        for entity, counts in self.rows.items():
            for path, number in counts.items():
                if path in counts_by_path:
                    counts_by_path[path][entity] = number
                else:
                    counts_by_path[path] = {entity: number}
        return counts_by_path

    def restricted_to(
        self, wanted: Callable[[tuple[K, ...]], bool] | Collection[tuple[K, ...]]
    ) -> RelationCounts[E, K]:
        """The counts of some paths only. `wanted` is a collection of paths, or a predicate."""
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

    def as_lower_bounds(self) -> RelationCounts[E, K]:
        """The same counts, all marked as lower bounds."""
        bounds = frozenset((entity, path) for entity, counts in self.rows.items() for path in counts)
        return replace(self, lower_bounds=bounds)

    def as_count(self, number: int, lower_bound: bool = False) -> Count:
        """A number derived from these counts: exact if counting was complete, else a lower bound."""
        return Count(number) if self.stop is Stop.COMPLETE and not lower_bound else Count.at_least(number)


@dataclass(frozen=True)
class PathCounts(Generic[E, K]):
    """The exact number of rows of each path at each entity, by path first. It suffices for a list of relations."""

    rows: Mapping[tuple[K, ...], Mapping[E, int]]
    stop: Stop = Stop.COMPLETE

    def by_path(self) -> dict[tuple[K, ...], Count]:
        """The number of rows of each path, over all entities."""
        return {path: Count(sum(rows.values())) for path, rows in self.rows.items()}

    def by_path_and_entity(self) -> Mapping[tuple[K, ...], Mapping[E, int]]:
        """For each path, the number of rows at each entity that has any."""
        return self.rows

    def as_count(self, number: int) -> Count:
        """A number derived from these counts; always exact."""
        return Count(number)


def sum_counts(rows: Iterable[tuple[E, tuple[K, ...], int]], stop: Stop = Stop.COMPLETE) -> RelationCounts[E, K]:
    """Create counts from tuples of entity, path and number. Numbers for the same entity and path are added up."""
    sums: dict[E, dict[tuple[K, ...], int]] = defaultdict(dict)
    for entity, path, number in rows:
        counts = sums[entity]
        counts[path] = counts.get(path, 0) + number
    return RelationCounts(dict(sums), stop)


def merge_counts(parts: Iterable[RelationCounts[E, K]]) -> RelationCounts[E, K]:
    """Merge several counts. The result is complete only if all of them are."""
    all_parts = list(parts)
    if len(all_parts) == 1:
        return all_parts[0]
    return replace(
        sum_counts(
            (one, path, n) for part in all_parts for one, counts in part.rows.items() for path, n in counts.items()
        ),
        stop=Stop.first(part.stop for part in all_parts),
        lower_bounds=frozenset(bound for part in all_parts for bound in part.lower_bounds),
        mediators={path: found for part in all_parts for path, found in part.mediators.items()},
    )


def near_relation(path: tuple[K, ...], direction: Direction) -> K:
    """The relation of a path next to the entity: the first or the last, as paths are written from head to tail."""
    return path[0] if direction is Direction.OUTGOING else path[-1]


def far_relation(path: tuple[K, ...], direction: Direction) -> K:
    """The relation of a path at its far end from the entity."""
    return near_relation(path, direction.opposite)


@dataclass(frozen=True)
class CountRequest(Generic[K]):
    """Which rows to count: those of some entities in one direction, along paths of `hops` hops. A key of the cache.

    Entities are texts here, because comparing 10,000 rdflib terms takes 20 ms. `relation_paths` restricts the paths
    (None: all), and `near` the first relations of two-hop paths, seen from the entities.
    """

    entities: frozenset[str]
    direction: Direction
    far_end_kind: FarEndKind | None
    relation_paths: frozenset[tuple[K, ...]] | None = None
    hops: int = 1
    near: frozenset[K] | None = None


_SIZE = 500
_SECONDS = 60.0


class CountCache(Generic[E, K]):
    """Caches counts for a minute, so that those of all pages of a list, or of a summarized hub, are read only once.

    With `timed_out`, counts cut by a time-out are cached as well; otherwise they are not, as the next call may count
    more.
    """

    def __init__(self, *, timed_out: bool = False) -> None:
        self._timed_out = timed_out
        self._cache: TTLCache[CountRequest[K], RelationCounts[E, K]] = TTLCache(_SIZE, _SECONDS)

    async def cached(self, request: CountRequest[K]) -> RelationCounts[E, K] | None:
        """Cached counts for a request, or those of all paths restricted to it; None if neither is cached."""
        counts = self._cache.get(request)
        if counts is not None or (request.relation_paths is None and request.near is None):
            return counts
        all_counts = self._cache.get(replace(request, relation_paths=None, near=None))
        if all_counts is None or all_counts.stop is not Stop.COMPLETE:
            return None
        return await in_thread(len(all_counts.rows), lambda: _narrowed(all_counts, request))

    async def get(
        self, request: CountRequest[K], count: Callable[[], Awaitable[RelationCounts[E, K]]]
    ) -> RelationCounts[E, K]:
        """Cached counts, or else those that `count` returns, which are then cached."""
        counts = await self.cached(request)
        if counts is None:
            counts = await count()
            if self._timed_out or counts.stop is not Stop.TIME_OUT:
                self._cache[request] = counts
        return counts


def _narrowed(all_counts: RelationCounts[E, K], request: CountRequest[K]) -> RelationCounts[E, K] | None:
    """The counts of all paths restricted to a request; None if one of its relations was not counted."""
    if request.relation_paths is not None:
        return all_counts.restricted_to(request.relation_paths)
    near_relations = request.near or frozenset()
    known = {near_relation(path, request.direction) for path in all_counts.by_path()}
    return (
        all_counts.restricted_to(lambda path: near_relation(path, request.direction) in near_relations)
        if near_relations <= known
        else None
    )


def joined(hops: Sequence[Relation]) -> Relation:
    """A path as one relation: the relation itself for one hop, `rel1.rel2` for two."""
    if len(hops) == 1:
        return hops[0]
    return Relation(".".join(hop.id for hop in hops), " / ".join(hop.label for hop in hops))


def paths_in_order(
    counts: RelationCounts[E, K], ids: Callable[[tuple[K, ...]], tuple[str, ...]]
) -> list[tuple[K, ...]]:
    """The paths that have rows, sorted by their ids."""
    return sorted(counts.by_path(), key=lambda path: ".".join(ids(path)))


def relations_page(
    counts: RelationCounts[E, K] | PathCounts[E, K],
    direction: Direction,
    *,
    relation_paths: Sequence[tuple[K, ...]],
    limit: int,
    names: Mapping[K, Relation],
    printed: Callable[[E], str],
    examples: Mapping[tuple[K, ...], Sequence[Node]],
    stop: Stop,
    hidden: Collection[tuple[K, ...]] = (),
) -> Page[RelationFacts]:
    """One page with the first `limit` of the paths and their counts.

    `names` maps a relation's key to the relation with its label, `printed` gives the id of an entity as answers print
    it, and `hidden` are paths that are marked as hidden. `stop` says whether all examples were read.
    """
    sums, rows = counts.by_path(), counts.by_path_and_entity()
    to_mediators = {(near_relation(path, direction),) for path in sums if len(path) == 2}
    shown = relation_paths[:limit]
    items = tuple(
        RelationFacts(
            relation=joined([names[relation] for relation in path]),
            direction=direction,
            count=sums[path],
            hops=tuple(names[relation] for relation in path),
            examples=tuple(examples.get(path, ())),
            mediators=path in to_mediators,
            hidden=path in hidden,
            per_entity={printed(entity): number for entity, number in rows[path].items()},
        )
        for path in shown
    )
    return Page(
        items=items,
        positions=tuple(facts.relation.id for facts in items),
        total=counts.as_count(len(relation_paths)),
        stop=Stop.first((counts.stop, stop, Stop.LIMIT if len(relation_paths) > limit else Stop.COMPLETE)),
    )


def hidden_note(rows: Count, relations: Iterable[str]) -> str:
    """The note for users that rows of hidden relations, with these ids, are not shown."""
    example = min(relations, key=lambda name: (len(name), name))
    size = f"{rows.value:,}" if rows.certainty is Certainty.EXACT else f"At least {rows.value:,}"
    return f"{size} identifiers of other databases are hidden. Name a property to show one, such as {example}."
