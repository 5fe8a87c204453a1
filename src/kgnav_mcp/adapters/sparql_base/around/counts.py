"""Counts the rows of each relation at each entity, by grouping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import ClassVar

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import (
    CountCache,
    CountRequest,
    RelationCounts,
    merge_counts,
    near_relation,
    sum_counts,
)
from kgnav_mcp.adapters.paging.directions import no_rows
from kgnav_mcp.adapters.sparql_base.around import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Stop
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

_FEW_PATHS = 40
"""Maximum number of relations to count one by one. For more, all relations of the entities are counted."""
_MIN_BATCH = 100
"""Minimum number of entities in one grouped query: their relations stay below the usual row cap of 10,000."""


class BlankAnchor:
    """A blank node as an anchor. No query can name it, but all its triples have been read."""

    __slots__ = ()


Anchor = URIRef | BlankAnchor
"""An entity whose neighbourhood is read."""
Path = tuple[URIRef, ...]
"""One relation, or the two relations through a mediator, from head to tail."""
Counts = RelationCounts[Anchor, URIRef]
IriCountRequest = CountRequest[URIRef]


class CountReader(ABC):
    """Counts rows. Counts are cached for a minute."""

    share: ClassVar[float] = 1.0
    """The fraction of a call's time for an exact count. The rest is for an approximation."""

    def __init__(self, reader: Reader, *, keep_timed_out: bool = False) -> None:
        self._reader = reader
        self.batch = reader.dialect.max_counted
        """Number of entities in one grouped query. It is reduced when an answer was cut."""
        self._cache = CountCache[Anchor, URIRef](timed_out=keep_timed_out)

    def shows(self, relation: URIRef) -> bool:  # noqa: ARG002 - for adapters
        """Whether rows of a relation are shown to users."""
        return True

    def row_filter(self, direction: Direction, far_end_kind: FarEndKind | None) -> Fragment:
        """The filter for visible rows `?s ?p ?o` around entities."""
        return self.far_end_filter(direction, far_end_kind)

    def far_end_filter(self, direction: Direction, far_end_kind: FarEndKind | None) -> Fragment:
        """The filter for far ends `?o` of a visible relation."""
        return queries.FAR_ENDS[far_end_kind if direction is Direction.OUTGOING else None]

    async def one_hop(
        self,
        entities: Sequence[Anchor],
        direction: Direction,
        far_end_kind: FarEndKind | None,
        relation_paths: Collection[Path] | None = None,
    ) -> Counts:
        """Count the rows of one-hop relations. `relation_paths` None counts all of them."""
        iris = [entity for entity in entities if isinstance(entity, URIRef)]
        if not iris or no_rows(direction, far_end_kind):
            return RelationCounts()
        wanted = None if relation_paths is None else frozenset(path for path in relation_paths if self.shows(path[0]))
        request = IriCountRequest(frozenset(map(str, iris)), direction, _far_end_kind(direction, far_end_kind), wanted)
        return await self._cache.get(request, lambda: self._one_hop(iris, request))

    async def without_empty(
        self, pairs: Sequence[tuple[Anchor, URIRef]], entities: Sequence[Anchor], direction: Direction
    ) -> Sequence[tuple[Anchor, URIRef]]:
        """The pairs of an entity and a relation, without those that cached counts show to have no rows."""
        request = IriCountRequest(frozenset(map(str, entities)), direction, None)
        known = await self._cache.cached(request)
        if known is None or known.stop is not Stop.COMPLETE:
            return pairs

        def with_rows() -> Sequence[tuple[Anchor, URIRef]]:
            return [(entity, relation) for entity, relation in pairs if (relation,) in known.rows.get(entity, ())]

        return await in_thread(len(pairs), with_rows)

    async def _with_rows(
        self, relations: Collection[URIRef], entities: Sequence[Anchor], direction: Direction
    ) -> Collection[URIRef]:
        """The relations, without those that cached counts show to be empty at all of the entities."""
        pairs = await in_thread(len(entities), lambda: [(one, each) for one in entities for each in relations])
        left = await self.without_empty(pairs, entities, direction)
        return await in_thread(len(left), lambda: {relation for _, relation in left})

    async def two_hops(
        self,
        entities: Sequence[Anchor],
        direction: Direction,
        far_end_kind: FarEndKind | None,
        near: Iterable[URIRef] | None = None,
    ) -> Counts:
        """Count the rows of two-hop relations through mediators. Paths back to the entity itself are left out.

        `near` restricts the first hop from the entity. Blank nodes have no two-hop relations.
        """
        iris = [entity for entity in entities if isinstance(entity, URIRef)]
        if not iris or no_rows(direction, far_end_kind):
            return RelationCounts()
        wanted = None if near is None else frozenset(near)
        about = frozenset(map(str, iris))
        request = IriCountRequest(about, direction, _far_end_kind(direction, far_end_kind), hops=2, near=wanted)
        return await self._cache.get(request, lambda: self._two_hops(iris, request))

    async def of_paths(
        self,
        entities: Sequence[Anchor],
        direction: Direction,
        far_end_kind: FarEndKind | None,
        relation_paths: Sequence[Path] | None,
    ) -> Counts:
        """Count the rows of these paths; None: of all one-hop relations."""
        if relation_paths is None:
            return await self.one_hop(entities, direction, far_end_kind)
        one_hop = {path for path in relation_paths if len(path) == 1}
        two_hops = set(relation_paths) - one_hop
        parts: list[Counts] = []
        if one_hop:
            parts.append(await self.one_hop(entities, direction, far_end_kind, one_hop))
        if two_hops:
            near = {near_relation(path, direction) for path in two_hops}
            first_hops = await self._with_rows(near, entities, direction)
            through = await self.two_hops(entities, direction, far_end_kind, first_hops)
            parts.append(await in_thread(len(entities), lambda: through.restricted_to(two_hops)))
        return await in_thread(len(entities), lambda: merge_counts(parts))

    async def of_rows(
        self, rows: Iterable[tuple[Anchor, URIRef, int]], entities: Sequence[Anchor], direction: Direction
    ) -> Counts:
        """The counts of entities whose rows have all been read. `rows` are (entity, relation, number of rows)."""
        counts = await in_thread(
            len(entities), lambda: sum_counts((entity, (relation,), n) for entity, relation, n in rows)
        )
        return await self._as_row_counts(counts, entities, direction)

    @abstractmethod
    async def _two_hops(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        """Count the rows of two-hop relations."""

    async def _approximated(self, iris: Sequence[URIRef], request: IriCountRequest, error: StoreTimeout) -> Counts:  # noqa: ARG002
        """Approximate counts for entities that could not be counted in time. By default, raises `error`."""
        raise error

    async def _as_row_counts(self, counts: Counts, entities: Sequence[Anchor], direction: Direction) -> Counts:  # noqa: ARG002
        """Convert counts of triples to counts of rows."""
        return counts

    async def _one_hop(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        if request.relation_paths is not None and not request.relation_paths:
            return RelationCounts()
        found = await self._batched(
            iris, lambda batch: self._count_batch(batch, request), lambda: self._batch_size(request)
        )
        if (relation_paths := request.relation_paths) is not None:
            all_paths = found
            found = await in_thread(len(iris), lambda: all_paths.restricted_to(relation_paths))
        if request.far_end_kind is FarEndKind.LITERAL:
            return found
        return await self._as_row_counts(found, iris, request.direction)

    def _batch_size(self, request: IriCountRequest) -> int:
        """Number of entities in one query. With few relations, the answer stays small."""
        few = request.relation_paths is not None and len(request.relation_paths) <= _FEW_PATHS
        return self._reader.dialect.max_counted if few else self.batch

    async def _count_batch(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        """Count one batch: few relations one by one, else all relations by grouping."""
        if request.relation_paths is not None and len(request.relation_paths) <= _FEW_PATHS:
            return await self._by_path(iris, sorted(request.relation_paths), request)
        return await self._grouped(iris, request)

    @staticmethod
    async def _batched(
        iris: Sequence[URIRef], count: Callable[[Sequence[URIRef]], Awaitable[Counts]], size: Callable[[], int]
    ) -> Counts:
        """Count a list in batches. The first batch is run alone, since it may reduce the size of the others."""
        first = min(size(), MAX_TERMS)
        parts = [await count(iris[:first])]
        parts += await gathered(*map(count, batches(iris[first:], min(size(), MAX_TERMS))))
        return await in_thread(len(iris), lambda: merge_counts(parts))

    async def _grouped(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        """Count all relations of some entities."""
        single, kind = len(iris) == 1, self.row_filter(request.direction, request.far_end_kind)
        around = (queries.AROUND_ONE if single else queries.AROUND_SET)[request.direction]
        part = await in_thread(len(iris), lambda: self._reader.part(around, s=iris[0] if single else values(*iris)))
        query = queries.COUNTS_ONE if single else queries.COUNTS_SET
        try:
            read = await self._reader.select(query, share=self.share, around=part, kind=kind)
        except StoreTimeout as error:
            return await self._approximated(iris, request, error)
        if read.stop is Stop.ROW_CAP and not single:
            self.batch = min(self.batch, max(len(iris) // 2, _MIN_BATCH))
            return await self._halved(iris, lambda batch: self._grouped(batch, request))
        entity = iris[0] if single else None
        return await in_thread(len(read.rows), lambda: self.counts_of(read.rows, read.stop, entity))

    async def _by_path(
        self, iris: Sequence[URIRef], relation_paths: Sequence[Path], request: IriCountRequest
    ) -> Counts:
        """Count some relations of some entities one by one: a list of both makes Virtuoso start at the wrong end."""
        kind = self.far_end_filter(request.direction, request.far_end_kind)
        ids = await in_thread(len(iris), lambda: values(*iris))
        branches = [
            self._reader.filled(
                queries.COUNTS_BY,
                number=place,
                by=self._reader.part(queries.BY[request.direction], s=ids, p=path[0]),
                kind=kind,
            )
            for place, path in enumerate(relation_paths)
        ]
        try:
            read = await self._reader.union(branches, share=self.share)
        except StoreTimeout as error:
            return await self._approximated(iris, request, error)
        if read.stop is Stop.ROW_CAP and len(iris) > 1:
            return await self._halved(iris, lambda batch: self._by_path(batch, relation_paths, request))
        rows = ((iri_in(row, "s"), relation_paths[number_in(row, "number")], number_in(row, "n")) for row in read.rows)
        return await in_thread(len(read.rows), lambda: sum_counts(rows, read.stop))

    @staticmethod
    async def _halved(iris: Sequence[URIRef], count: Callable[[Sequence[URIRef]], Awaitable[Counts]]) -> Counts:
        half = len(iris) // 2
        return merge_counts([await count(iris[:half]), await count(iris[half:])])

    def counts_of(
        self, rows: Iterable[Row], stop: Stop, only: URIRef | None = None, direction: Direction | None = None
    ) -> Counts:
        """Convert the rows of a grouped query to counts.

        `only` is the entity where rows lack ?s. With a direction, the rows are of two-hop relations.
        """
        found: list[tuple[Anchor, Path, int]] = []
        for row in rows:
            path = (iri_in(row, "p"),) if direction is None else path_of(row, direction)
            if all(map(self.shows, path)):
                found.append((only if only is not None else iri_in(row, "s"), path, number_in(row, "n")))
        return sum_counts(found, stop)


def path_of(row: Row, direction: Direction) -> Path:
    """The two-hop relation of a row, from head to tail."""
    ends = iri_in(row, "near"), iri_in(row, "far")
    return ends if direction is Direction.OUTGOING else ends[::-1]


def _far_end_kind(direction: Direction, far_end_kind: FarEndKind | None) -> FarEndKind | None:
    return far_end_kind if direction is Direction.OUTGOING else None
