"""Counts the rows of each relation, also at blank nodes, and approximately at hubs that time out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.blanks import Resolved
from kgnav_mcp.adapters.endpoint.reification import NOTATION
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.paging.counts import RelationCounts, counted, together
from kgnav_mcp.adapters.sparql.around import counts
from kgnav_mcp.adapters.sparql.around.counts import Anchor, Counts, Path, Question, no_rows
from kgnav_mcp.adapters.sparql.around.queries import AROUND_ONE
from kgnav_mcp.adapters.sparql.reading import iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, listed, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Stop
from kgnav_mcp.port import TailKind

_BATCH = 100
"""Number of entities in one query. A larger batch that times out is halved; in a batch of this size, the counts of each
entity are approximated."""
_PARALLEL = 10_000
"""Maximum number of triples for which parallel statements are counted. Above it, counts are lower bounds."""
_FIRST = 20_000
"""Number of edges counted where counting all of them takes too long."""
_CHUNK = 100
"""Number of relations probed in one query at an entity whose edges cannot be counted."""


class KnownRelations(Protocol):
    """The catalogue, as far as it is used here."""

    async def relations(self) -> Sequence[URIRef]:
        """The known relations of the graph, most used first."""
        ...


class CountReader(counts.CountReader):
    """Counts rows. Lower bounds are cached as well: what timed out once would time out again at the next page."""

    share = 0.4

    def __init__(self, store: Store, known: KnownRelations) -> None:
        super().__init__(store.reader, keep_timed_out=True)
        self._reification = store.reification
        self._known = known

    def kind(self, direction: Direction, far_ends: TailKind | None) -> Terms:
        return self._reification.kind(direction, far_ends)

    def ends(self, direction: Direction, far_ends: TailKind | None) -> Terms:
        return self._reification.ends(direction, far_ends)

    async def one_hop(
        self,
        entities: Sequence[Anchor],
        direction: Direction,
        far_ends: TailKind | None,
        paths: Collection[Path] | None = None,
    ) -> Counts:
        found = await super().one_hop(entities, direction, far_ends, paths)
        blanks = [one for one in entities if isinstance(one, Resolved)]
        if not blanks or no_rows(direction, far_ends):
            return found
        own: Counts = counted(
            (one, (relation,), 1)
            for one in blanks
            for relation, far in own_edges(one, direction)
            if is_kind(far, far_ends, direction)
        )
        return await in_thread(len(entities), lambda: together([found, own if paths is None else own.only(paths)]))

    async def _timed_out(self, iris: Sequence[URIRef], asked: Question, error: StoreTimeout) -> Counts:
        """Approximate the counts of hubs."""
        del error
        if len(iris) > _BATCH:
            return await self._halved(iris, lambda some: self._of(some, asked))
        parts = await gathered(*(self._some(iri, asked) for iri in iris))
        return together([RelationCounts(stop=Stop.TIME_OUT), *parts])

    async def _some(self, iri: URIRef, asked: Question) -> Counts:
        """Approximate the counts of a hub: count its first edges, and probe each relation for at least one row."""
        first: Counts = RelationCounts()
        relations = [path[0] for path in asked.paths or ()]
        if asked.paths is None:
            around = self._reader.part(AROUND_ONE[asked.direction], s=iri)
            kind = self.kind(asked.direction, asked.far_ends)
            read = await self._reader.select(
                queries.FIRST_EDGES, share=1 - self.share, around=around, kind=kind, most=_FIRST
            )
            first = self.counts_of(read.rows, read.stop, iri)
            relations = list(await self._known.relations())
        rows = dict(first.rows.get(iri, {}))
        try:
            for batch in batches(relations, _CHUNK):
                query = queries.HAVING[asked.direction]
                read = await self._reader.select(query, share=self.share, s=iri, relations=values(*batch))
                for row in read.rows:
                    if (relation := iri_in(row, "p")) not in NOTATION:
                        rows.setdefault((relation,), 1)
        except StoreTimeout:
            pass  # The counts are marked as incomplete in any case.
        return RelationCounts({iri: rows} if rows else {}, Stop.TIME_OUT)

    async def _completed(self, counts: Counts, entities: Sequence[Anchor], direction: Direction) -> Counts:
        """Add the further rows of triples that several statements are about."""
        if not self._reification.parallel or not counts.rows:
            return counts
        iris = [one for one in entities if isinstance(one, URIRef)]
        total = await in_thread(len(iris), lambda: counts.total)
        if total.value > _PARALLEL:
            return await in_thread(len(iris), counts.at_least)
        try:
            more = await self._reification.parallels(iris, direction)
        except StoreTimeout:
            return await in_thread(len(iris), counts.at_least)
        there = [(iri, relation) for iri, relation in more if (relation,) in counts.rows.get(iri, {})]
        of_parallels: Counts = counted((iri, (relation,), more[iri, relation]) for iri, relation in there)
        return await in_thread(len(iris), lambda: together([counts, of_parallels]))

    async def _two_hops(self, iris: Sequence[URIRef], asked: Question) -> Counts:
        kind = self._reification.kind(asked.direction, asked.far_ends, "?far")
        narrowed = self._reader.filled(queries.ONE_NEAR, listed=listed(*sorted(asked.near))) if asked.near else ""

        async def count(some: Sequence[URIRef]) -> Counts:
            one = len(some) == 1
            start = (queries.NEAR if one else queries.NEAR_SET)[asked.direction]
            near = self._reader.filled(start, s=some[0] if one else values(*some))
            path = Terms(f"{near} {narrowed} {self._reader.filled('$mediator')} {queries.FAR[asked.direction]}")
            if one:
                read = await self._reader.select(queries.THROUGH_ONE, share=self.share, path=path, kind=kind, s=some[0])
            else:
                read = await self._reader.select(queries.THROUGH_SET, share=self.share, path=path, kind=kind)
            if read.stop is Stop.ROW_CAP and not one:
                return await self._halved(some, count)
            only = some[0] if one else None
            return await in_thread(len(read.rows), lambda: self.counts_of(read.rows, read.stop, only, asked.direction))

        try:
            parts = await gathered(*map(count, batches(iris, self.batch)))
        except StoreTimeout:
            return RelationCounts(stop=Stop.TIME_OUT)
        return await in_thread(len(iris), lambda: together(parts))


def own_edges(anchor: Resolved, direction: Direction) -> list[tuple[URIRef, Term]]:
    """The triples of a blank node that are shown: without those that make up statements about triples."""
    return [(relation, far) for relation, far in anchor.blank.edges(direction) if relation not in NOTATION]


def is_kind(far: Term, far_ends: TailKind | None, direction: Direction) -> bool:
    """Whether a far end is of the wanted kind. Far ends of incoming triples are always entities."""
    if far_ends is None or direction is Direction.INCOMING:
        return True
    return isinstance(far, Literal) is (far_ends is TailKind.LITERAL)
