"""The rows and relations around entities, with blank nodes and with qualifiers from statements about triples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rdflib import BNode, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Arrival, Blank, BlankGraph, Resolved, Seeds
from kgnav_mcp.adapters.generic_sparql.counts import CountReader, is_kind
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.reification import QualifiersByTriple
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.ids.rdf import BlankPath
from kgnav_mcp.adapters.paging.counts import far_relation, near_relation, sum_counts
from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.adapters.paging.rows import Place, Rows, Segment, read_rows
from kgnav_mcp.adapters.sparql_base.around import relations, rows
from kgnav_mcp.adapters.sparql_base.around.blocks import (
    Block,
    End,
    Ends,
    Facts,
    FollowedNodes,
    Found,
    Pair,
    by_mediator,
    in_order,
)
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Counts, Path
from kgnav_mcp.adapters.sparql_base.around.queries import FEW_BLANKS
from kgnav_mcp.adapters.sparql_base.around.relations import ExampleEnds
from kgnav_mcp.adapters.sparql_base.query_reader import is_at_most
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.sparql_base.terms import rows as listed_rows
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Entity, Stop

_MAX_BLANKS = 5_000
"""Maximum number of blank nodes of one relation that are read for each page, on a store without a stable order."""


class RowReader(rows.RowReader):
    """Reads rows. Blocks are sorted by ids, because the labels of blank nodes differ in each answer."""

    max_small = 1_000
    block = 1_000
    nodes = 200
    nodes_at_most = 200
    node_block = 200
    segments_per_query = 200
    entities_together = 1_000
    probes_for_all = True

    def __init__(
        self, store: Store, names: Names, counts: CountReader, anchors: Sequence[Anchor], request: RowRequest
    ) -> None:
        super().__init__(store, names, counts, anchors, request)
        self._store = store
        self._known = counts
        self._all_triples_counted = False
        self._entities = names
        self._backwards = request.direction is Direction.INCOMING
        self._statements: QualifiersByTriple | None = None

    async def counts(self) -> Counts:
        counts = await super().counts()
        self._all_triples_counted = counts.stop is Stop.COMPLETE
        return counts

    def is_small(self, segment: Segment[Anchor, URIRef]) -> bool:
        # A lower bound is then the number of triples: only the further rows of their statements were not counted.
        counted = self._all_triples_counted and len(segment.path) == 1
        return super().is_small(replace(segment, exact=True) if counted else segment)

    def ids(self, path: tuple[URIRef, ...]) -> tuple[str, ...]:
        return tuple(map(self._store.endpoint.ids.short, path))

    async def _entity_without_iri(self, anchor: Anchor) -> Entity:
        assert isinstance(anchor, Resolved)  # noqa: S101 - all other anchors have an IRI
        return await self._entities.blank(anchor)

    async def _sorted(self, terms: Ends) -> Mapping[Pair, Sequence[End]]:
        with_blanks = [pair for pair, found in terms.items() if any(isinstance(term, BNode) for term in found)]
        blanks = await self._blanks_of(
            [(entity, relation) for entity, relation in with_blanks if isinstance(entity, URIRef)]
        )

        def ordered() -> Mapping[Pair, Sequence[End]]:
            return {
                pair: self._own_ends(pair[0], pair[1])
                if isinstance(pair[0], Resolved)
                else _ordered(found, blanks.get(pair, ()))
                for pair, found in terms.items()
            }

        return await in_thread(sum(map(len, terms.values())), ordered)

    async def _sorted_slice(
        self, segment: Segment[Anchor, URIRef], pattern: Fragment, terms: Sequence[Term], skip: int, size: int
    ) -> Sequence[End]:
        blanks: Sequence[Entity] = ()
        if any(isinstance(term, BNode) for term in terms) and isinstance(segment.entity, URIRef):
            part = self._reader.part(queries.BLANKS_OF_SLICE, by=pattern, kind=self._ends, skip=skip, most=size)
            graph = await self._store.blanks.around(Seeds(part, "o"))
            arrival = segment.entity, segment.path[0], self._backwards
            blanks = [self._entity(graph, graph.nodes[seed], segment.entity, arrival) for seed in graph.seeds]
        return await in_thread(len(terms), lambda: _ordered(terms, blanks))

    async def _blank_ends(self, segment: Segment[Anchor, URIRef], pattern: Fragment) -> rows.BlankEnds:
        anchor, relation = URIRef(str(segment.entity)), segment.path[0]
        count = await self._reader.count(FEW_BLANKS, by=pattern, kind=self._ends, most=_MAX_BLANKS + 1)
        if count == Count(0):
            return rows.BlankEnds()
        if not is_at_most(count, _MAX_BLANKS):
            return rows.BlankEnds((), Stop.UNORDERED)
        part = self._reader.part(queries.BLANKS_OF, by=pattern, kind=self._ends)
        graph = await self._store.blanks.around(Seeds(part, "o"))
        arrival = anchor, relation, self._backwards
        found = [self._entity(graph, graph.nodes[seed], anchor, arrival) for seed in graph.seeds]
        return rows.BlankEnds(_ordered((), found))

    async def rows_for_page(self, blocks: Sequence[Block]) -> list[Rows[Found]]:
        """Cut blocks to the rows for the page. A triple with several statements about it makes several rows."""
        relations = {block.wanted.segment.path[0] for block in blocks}
        if not self._store.reification or (self._bare and self._known.one_edge_each(relations)):
            return await super().rows_for_page(blocks)
        qualifiers = self._statements
        if qualifiers is None:
            triples = await in_thread(len(blocks), lambda: _triples(blocks))
            qualifiers = await self._store.reification.of_triples(triples, self._direction)
        return await in_thread(sum(len(block.ends) for block in blocks), lambda: self._stated(blocks, qualifiers))

    async def _counts_of(self, rows_read: Ends) -> Counts:
        """Count rows that were read. Their statements are read as well: a triple is as many edges as it has some."""
        without_statements = self._bare and self._known.one_edge_each(relation for _, relation in rows_read)
        if without_statements or not self._store.reification.parallel or _has_blank_ends(rows_read):
            return await super()._counts_of(rows_read)
        triples = [
            (one, relation, end)
            for (one, relation), ends in rows_read.items()
            for end in ends
            if isinstance(one, URIRef)  # always so: the rows of blank nodes are not probed
        ]
        qualifiers = self._statements = await self._store.reification.of_triples(triples, self._direction)

        def of_statements() -> Counts:
            rows = ((triple, len(qualifiers[triple]) if triple in qualifiers else 1) for triple in triples)
            return sum_counts((one, (relation,), n) for (one, relation, _), n in rows)

        return await in_thread(len(triples), of_statements)

    @staticmethod
    def _stated(blocks: Sequence[Block], qualifiers: QualifiersByTriple) -> list[Rows[Found]]:
        found: list[Rows[Found]] = []
        for block in blocks:
            segment, placed = block.wanted.segment, list[tuple[Found, Place]]()
            for n, end in block.shown:
                statements: Sequence[Facts] = ((),)
                if isinstance(segment.entity, URIRef) and not isinstance(end, Entity):
                    statements = qualifiers.get((segment.entity, segment.path[0], end), statements)
                places = [*(Place(n, i) for i in range(1, len(statements))), Place(n + 1)]
                placed += [(Found(end, facts=facts), place) for facts, place in zip(statements, places, strict=True)]
            found.append(block.wanted.select_from(placed, block.stop))
        return found

    async def _behind(self, segment: Segment[Anchor, URIRef], skip: int, size: int) -> FollowedNodes:
        anchor, relation = URIRef(str(segment.entity)), near_relation(segment.path, self._direction)
        onward = far_relation(segment.path, self._direction)
        read = await self._reader.slice(queries.MEDIATORS[self._direction], skip, size, s=anchor, near=relation)
        mediators = [row["m"] for row in read.rows]
        if not self._reader.stable_rows and len(mediators) == size:
            return FollowedNodes((), size, Stop.UNORDERED)  # other queries would read others of them
        named = sorted(term for term in mediators if isinstance(term, URIRef))
        ends: Mapping[URIRef, Sequence[Term]] = {}
        stop = read.stop
        if named:
            query = queries.BEHIND[self._direction]
            behind = await self._reader.in_batches(query, "ids", named, far=onward, s=anchor, kind=self._ends)
            stop = Stop.first((stop, behind.stop))
            ends = by_mediator(behind.rows)
        found: list[tuple[Entity, Sequence[End]]] = [
            (Entity(self._names.naming.short(one), mediator=True), in_order(ends.get(one, ()))) for one in named
        ]
        if len(named) < len(mediators):
            found += await self._behind_blanks(anchor, relation, onward, skip, size)
            found.sort(key=lambda one: one[0].id)
        places = ((n, mediator, behind) for n, (mediator, behind) in enumerate(found, skip))
        return FollowedNodes(list(places), len(mediators), stop)

    async def _behind_blanks(
        self, anchor: URIRef, relation: URIRef, onward: URIRef, skip: int, size: int
    ) -> list[tuple[Entity, Sequence[End]]]:
        """Read the mediators of a block that are blank nodes, each with the far ends behind it."""
        part = self._reader.part(queries.MEDIATOR_SLICE[self._direction], s=anchor, near=relation, skip=skip, most=size)
        graph = await self._store.blanks.around(Seeds(part, "m"))
        arrival = anchor, relation, self._backwards
        found: list[tuple[Entity, Sequence[End]]] = []
        for blank in [graph.nodes[seed] for seed in graph.seeds]:
            path = self._path(graph, blank, anchor, arrival)
            behind: Sequence[End]
            ends = [end for predicate, end in blank.edges(self._direction) if predicate == onward and end != anchor]
            shown = [end for end in ends if is_kind(end, self._far_end_kind, self._direction)]
            if any(isinstance(end, BNode) for end in shown):
                resolved = await self._store.blanks.resolved([path])
                behind = self._own_ends(resolved[path], onward) if path in resolved else ()
            else:
                behind = in_order(shown)
            found.append((Entity(self._store.endpoint.ids.written(path), mediator=True), behind))
        return found

    async def _blanks_of(self, pairs: Sequence[tuple[URIRef, URIRef]]) -> dict[Pair, list[Entity]]:
        """Read the blank nodes at the far ends of some relations."""
        if not pairs:
            return {}
        part = self._reader.part(queries.BLANKS_OF_PAIRS[self._direction], pairs=listed_rows(*pairs))
        graph = await self._store.blanks.around(Seeds(part))

        reified = self._backwards and self._store.reification.parallel

        def entities() -> dict[Pair, list[Entity]]:
            arrivals = {pair: (*pair, self._backwards) for pair in pairs}
            return {
                pair: [
                    self._entity(graph, blank, pair[0], arrival)
                    for blank in graph.reached_by(arrival)
                    if not (reified and blank.is_reifier)
                ]
                for pair, arrival in arrivals.items()
            }

        return await in_thread(len(graph.nodes), entities)

    def _own_ends(self, anchor: Resolved, relation: URIRef) -> Sequence[End]:
        """The sorted far ends of a blank node, from its own triples."""
        graph, arrival = anchor.graph, (anchor.blank.label, relation, self._backwards)
        if self._store.reification.hides(relation):
            return []
        ends = [end for predicate, end in anchor.blank.edges(self._direction) if predicate == relation]
        shown = [end for end in ends if is_kind(end, self._far_end_kind, self._direction)]
        blanks = [graph.nodes[end] for end in shown if isinstance(end, BNode)]
        return _ordered(shown, [self._entity(graph, blank, anchor.path, arrival) for blank in blanks])

    def _entity(self, graph: BlankGraph, blank: Blank, start: URIRef | BlankPath, arrival: Arrival) -> Entity:
        path = self._path(graph, blank, start, arrival)
        return self._entities.blank_node(self._store.endpoint.ids.written(path), blank)

    @staticmethod
    def _path(graph: BlankGraph, blank: Blank, start: URIRef | BlankPath, arrival: Arrival) -> BlankPath:
        """The path to a blank node that was reached from the end of another path."""
        path = graph.identify(blank) or graph.path_by(start, blank, arrival)
        assert path is not None  # noqa: S101 - all blank nodes next to it were read with it
        return path


def _has_blank_ends(rows_read: Ends) -> bool:
    return any(isinstance(end, BNode) for ends in rows_read.values() for end in ends)


def _triples(blocks: Sequence[Block]) -> list[tuple[URIRef, URIRef, Term]]:
    """The triples for the page, without those with blank nodes."""
    return [
        (block.wanted.segment.entity, block.wanted.segment.path[0], end)
        for block in blocks
        for _, end in block.shown
        if isinstance(block.wanted.segment.entity, URIRef) and not isinstance(end, Entity)
    ]


def _ordered(terms: Sequence[Term], blanks: Sequence[Entity]) -> list[End]:
    """Sort the far ends of a block, each once."""
    nameless = sorted(blanks, key=lambda entity: entity.id)
    return [*in_order(terms), *nameless]


class RelationReader(relations.RelationReader):
    """Reads the example far ends of all paths in one query. Paths that lead to blank nodes are read one by one."""

    def __init__(self, store: Store, names: Names, counts: CountReader) -> None:
        super().__init__(store, names, counts)
        self._store = store
        self._entities = names
        self._count_reader = counts
        self.mediator = store.reader.part("$mediator")

    def printed(self, anchor: Anchor) -> str:
        return self._store.written(anchor)

    async def _examples(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """Read the first far ends. After a time-out, the relations have no examples."""
        try:
            ends = await self._of_some(counts, relation_paths, request)
        except StoreTimeout:
            return ExampleEnds(dict.fromkeys(relation_paths, ()), Stop.TIME_OUT)
        for path in relation_paths:
            found = ends.found.get(path, ())
            if not found or any(isinstance(end, BNode) for end in found):
                ends |= await self._of_rows(counts, path, request)
        return ends

    async def _of_rows(self, counts: Counts, path: Path, request: RelationRequest) -> ExampleEnds:
        """Read the first far ends of one path from its rows."""
        rows = RowRequest((), request.direction, None, request.far_end_kind, request.examples, None, all_or_none=False)
        reader = RowReader(self._store, self._entities, self._count_reader, (), rows)
        found: dict[End, None] = {}
        stops: list[Stop] = []
        for anchor, size in counts.by_entity(path).items():
            segment = Segment(0, anchor, path, size)
            parts, _ = await read_rows(reader, iter([segment]), Place(), request.examples)
            found |= dict.fromkeys(row.far for _, part in parts for row, _ in part.items)
            stops += [part.stop for _, part in parts if part.stop is not Stop.LIMIT]
            if len(found) >= request.examples:
                break
        entities = {end.id if isinstance(end, Entity) else end: end for end in found}
        return ExampleEnds({path: list(entities.values())[: request.examples]}, Stop.first(stops))
