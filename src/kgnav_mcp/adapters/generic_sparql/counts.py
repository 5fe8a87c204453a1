"""Counts the rows of each relation, also at blank nodes, and approximately at hubs that time out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Resolved
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.paging.counts import RelationCounts, merge_counts, sum_counts
from kgnav_mcp.adapters.sparql_base.around import counts
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Counts, IriCountRequest, Path, no_rows
from kgnav_mcp.adapters.sparql_base.around.queries import AROUND_ONE
from kgnav_mcp.adapters.sparql_base.query_reader import iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Stop
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

_BATCH = 100
"""Number of entities in one query. A larger batch that times out is halved; in a batch of this size, the counts of each
entity are approximated."""
_MAX_FOR_PARALLELS = 10_000
"""Maximum number of triples for which parallel statements are counted. Above it, counts are lower bounds."""
_MAX_FIRST_EDGES = 20_000
"""Number of edges counted where counting all of them takes too long."""
_PROBED_TOGETHER = 100
"""Number of relations probed in one query at an entity whose edges cannot be counted."""


class KnownRelations(Protocol):
    """The part of the catalogue that is used here."""

    async def relations(self) -> Sequence[URIRef]:
        """The known relations of the graph, most used first."""
        ...

    def parallel_relations(self) -> Collection[URIRef] | None:
        """The relations where one triple may make several edges; None: not known."""
        ...


class CountReader(counts.CountReader):
    """Counts rows. Lower bounds are cached as well: what timed out once would time out again at the next page."""

    share = 0.4

    def __init__(self, store: Store, known: KnownRelations) -> None:
        super().__init__(store.reader, keep_timed_out=True)
        self._reification = store.reification
        self._known_relations = known

    def row_filter(self, direction: Direction, far_end_kind: FarEndKind | None) -> Fragment:
        return self._reification.row_filter(direction, far_end_kind)

    def far_end_filter(self, direction: Direction, far_end_kind: FarEndKind | None) -> Fragment:
        return self._reification.far_end_filter(direction, far_end_kind)

    async def one_hop(
        self,
        entities: Sequence[Anchor],
        direction: Direction,
        far_end_kind: FarEndKind | None,
        relation_paths: Collection[Path] | None = None,
    ) -> Counts:
        found = await super().one_hop(entities, direction, far_end_kind, relation_paths)
        blanks = [entity for entity in entities if isinstance(entity, Resolved)]
        if not blanks or no_rows(direction, far_end_kind):
            return found
        blank_counts: Counts = sum_counts(
            (entity, (relation,), 1)
            for entity in blanks
            for relation, far in entity.blank.edges(direction)
            if is_kind(far, far_end_kind, direction) and not self._reification.hides(relation)
        )
        return await in_thread(
            len(entities),
            lambda: merge_counts(
                [found, blank_counts if relation_paths is None else blank_counts.restricted_to(relation_paths)]
            ),
        )

    def one_edge_each(self, relations: Iterable[URIRef]) -> bool:
        """Whether each triple of these relations is known to make exactly one edge."""
        if not self._reification.parallel:
            return True
        parallel = self._known_relations.parallel_relations()
        return parallel is not None and not any(relation in parallel for relation in relations)

    async def _approximated(self, iris: Sequence[URIRef], request: IriCountRequest, error: StoreTimeout) -> Counts:
        """Approximate the counts of hubs."""
        del error
        if len(iris) > _BATCH:
            return await self._halved(iris, lambda batch: self._count_batch(batch, request))
        parts = await gathered(*(self._approximated_hub(iri, request) for iri in iris))
        return merge_counts([RelationCounts(stop=Stop.TIME_OUT), *parts])

    async def _approximated_hub(self, iri: URIRef, request: IriCountRequest) -> Counts:
        """Approximate the counts of a hub: count its first edges, and probe each relation for at least one row."""
        first: Counts = RelationCounts()
        relations = [path[0] for path in request.relation_paths or ()]
        if request.relation_paths is None:
            around = self._reader.part(AROUND_ONE[request.direction], s=iri)
            kind = self.row_filter(request.direction, request.far_end_kind)
            read = await self._reader.select(
                queries.FIRST_EDGES, share=1 - self.share, around=around, kind=kind, most=_MAX_FIRST_EDGES
            )
            first = self.counts_of(read.rows, read.stop, iri)
            relations = list(await self._known_relations.relations())
        rows = dict(first.rows.get(iri, {}))
        try:
            for batch in batches(relations, _PROBED_TOGETHER):
                query = queries.HAVING[request.direction]
                read = await self._reader.select(query, share=self.share, s=iri, relations=values(*batch))
                for row in read.rows:
                    if not self._reification.hides(relation := iri_in(row, "p")):
                        rows.setdefault((relation,), 1)
        except StoreTimeout:
            pass  # The counts are marked as incomplete in any case.
        return RelationCounts({iri: rows} if rows else {}, Stop.TIME_OUT)

    async def _as_row_counts(self, counts: Counts, entities: Sequence[Anchor], direction: Direction) -> Counts:
        """Add the further rows of triples that several statements are about."""
        relations = await in_thread(len(counts.rows), lambda: {path[0] for own in counts.rows.values() for path in own})
        if self.one_edge_each(relations):
            return counts
        iris = [entity for entity in entities if isinstance(entity, URIRef)]
        total = await in_thread(len(iris), lambda: counts.total)
        if total.value > _MAX_FOR_PARALLELS:
            return await in_thread(len(iris), counts.as_lower_bounds)
        try:
            extra_rows = await self._reification.parallels(iris, direction)
        except StoreTimeout:
            return await in_thread(len(iris), counts.as_lower_bounds)
        counted_pairs = [(iri, relation) for iri, relation in extra_rows if (relation,) in counts.rows.get(iri, {})]
        of_parallels: Counts = sum_counts(
            (iri, (relation,), extra_rows[iri, relation]) for iri, relation in counted_pairs
        )
        return await in_thread(len(iris), lambda: merge_counts([counts, of_parallels]))

    async def _two_hops(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        kind = self._reification.row_filter(request.direction, request.far_end_kind, "?far")
        narrowed = (
            self._reader.filled(queries.ONE_NEAR, listed=comma_separated(*sorted(request.near))) if request.near else ""
        )

        async def count(batch: Sequence[URIRef]) -> Counts:
            single = len(batch) == 1
            start = (queries.NEAR if single else queries.NEAR_SET)[request.direction]
            near = self._reader.filled(start, s=batch[0] if single else values(*batch))
            path = Fragment(f"{near} {narrowed} {self._reader.filled('$mediator')} {queries.FAR[request.direction]}")
            if single:
                read = await self._reader.select(
                    queries.THROUGH_ONE, share=self.share, path=path, kind=kind, s=batch[0]
                )
            else:
                read = await self._reader.select(queries.THROUGH_SET, share=self.share, path=path, kind=kind)
            if read.stop is Stop.ROW_CAP and not single:
                return await self._halved(batch, count)
            entity = batch[0] if single else None
            return await in_thread(
                len(read.rows), lambda: self.counts_of(read.rows, read.stop, entity, request.direction)
            )

        try:
            parts = await gathered(*map(count, batches(iris, self.batch)))
        except StoreTimeout:
            return RelationCounts(stop=Stop.TIME_OUT)
        return await in_thread(len(iris), lambda: merge_counts(parts))


def is_kind(far: Term, far_end_kind: FarEndKind | None, direction: Direction) -> bool:
    """Whether a far end is of the requested kind. Far ends of incoming triples are always entities."""
    if far_end_kind is None or direction is Direction.INCOMING:
        return True
    return isinstance(far, Literal) is (far_end_kind is FarEndKind.LITERAL)
