"""The rows around entities. Small relations are read together with all names in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.relations import CountReader
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.paging.counts import far_relation, near_relation
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import Rows, Segment, SegmentPart
from kgnav_mcp.adapters.sparql_base.around.blocks import End, Ends, FollowedNodes, Found, by_mediator, grouped, in_order
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.around.queries import AROUND_PAIRS, AROUND_SET, BY_ONE, FAR_ENDS, ROWS, SLICE
from kgnav_mcp.adapters.sparql_base.around.rows import RowReader as SparqlRowReader
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, rows, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Entity, Stop

Wanted = SegmentPart[Anchor, URIRef]
Called = Mapping[URIRef, Sequence[Literal]]
"""The names of entities or relations."""


class RowReader(SparqlRowReader):
    """Reads rows. All nodes of Freebase have IRIs, so slices can keep the order of the index."""

    max_small = 100
    block = 1
    nodes = 200
    nodes_at_most = 3_200
    node_block = 1
    entities_together = 200
    probes_for_all = False

    def __init__(
        self, store: Store, names: Names, counts: CountReader, anchors: Sequence[Anchor], request: RowRequest
    ) -> None:
        super().__init__(store, names, counts, anchors, request)
        self._ids = store.endpoint.ids
        self._freebase_names = names

    async def all_rows(self, iris: Sequence[URIRef], most: int) -> tuple[Ends, Stop]:
        pattern = await in_thread(len(iris), lambda: self._reader.part(AROUND_SET[self._direction], s=values(*iris)))
        return await self._read(pattern, self._ends, iris, most)

    async def _read(
        self, pattern: Fragment, kind: Fragment, iris: Sequence[URIRef], most: int, entity: URIRef | None = None
    ) -> tuple[Ends, Stop]:
        unknown = self._freebase_names.unknown(dict.fromkeys(iris))
        called = self._reader.part(queries.ANCHORS_CALLED, ids=values(*unknown)) if unknown else Fragment("")
        read = await self._reader.select(queries.ROWS, by=pattern, kind=kind, most=most, anchors=called)
        if read.stop is Stop.COMPLETE:
            names, relations = await in_thread(len(read.rows), lambda: _names(read.rows, several=len(set(iris)) > 1))
            await self._freebase_names.keep(names)
            await self._freebase_names.keep_relations(relations)
        return await in_thread(len(read.rows), lambda: grouped(read.rows, entity)), read.stop

    def is_small(self, segment: Segment[Anchor, URIRef]) -> bool:
        small = segment.exact and segment.rows <= self.max_small
        return small if len(segment.path) == 2 else super().is_small(segment)

    async def read_together(self, wanted: Sequence[Wanted]) -> Sequence[Rows[Found]]:
        by_hops: dict[int, list[Wanted]] = defaultdict(list)
        for one in wanted:
            by_hops[len(one.segment.path)].append(one)
        readers = {1: super().read_together, 2: self._two_hops_together}
        read = await gathered(*(readers[hops](parts) for hops, parts in by_hops.items()))
        rows = {
            one.segment: found
            for parts, of_parts in zip(by_hops.values(), read, strict=True)
            for one, found in zip(parts, of_parts, strict=True)
        }
        return [rows[one.segment] for one in wanted]

    async def _two_hops_together(self, wanted: Sequence[Wanted]) -> Sequence[Rows[Found]]:
        """Read the rows of two-hop relations by two queries, as slices do for one entity."""
        pairs = [(_iri(one), near_relation(one.segment.path, self._direction)) for one in wanted]
        pattern = self._reader.part(AROUND_PAIRS[self._direction], pairs=rows(*dict.fromkeys(pairs)))
        most = self.nodes_at_most + 1
        read = await self._reader.select(ROWS, by=pattern, kind=FAR_ENDS[None], most=most)
        if read.stop is not Stop.COMPLETE or len(read.rows) == most:
            return await gathered(*map(self.read_slice, wanted))
        near: dict[tuple[URIRef, URIRef], list[URIRef]] = defaultdict(list)
        for row in read.rows:
            near[iri_in(row, "s"), iri_in(row, "p")].append(iri_in(row, "o"))
        behind, stop = await self._far_ends_of(wanted, near)
        if stop is Stop.TIME_OUT:  # any of their rows may be missing
            return [Rows((), stop) for _ in wanted]
        found = [
            FollowedNodes(
                self._mediators(near[pair], behind[far_relation(one.segment.path, self._direction)], without=pair[0]),
                len(near[pair]),
                stop,
            )
            for pair, one in zip(pairs, wanted, strict=True)
        ]
        return [one.select_from(part.rows_from(one.start), stop) for one, part in zip(wanted, found, strict=True)]

    async def _far_ends_of(
        self, wanted: Sequence[Wanted], near: Mapping[tuple[URIRef, URIRef], Sequence[URIRef]]
    ) -> tuple[Mapping[URIRef, Mapping[URIRef, Sequence[Term]]], Stop]:
        """The far ends behind the mediators among nodes, by far relation and mediator."""
        nodes: dict[URIRef, dict[URIRef, None]] = defaultdict(dict)
        for one in wanted:
            pair = _iri(one), near_relation(one.segment.path, self._direction)
            nodes[far_relation(one.segment.path, self._direction)] |= dict.fromkeys(near[pair])
        template = queries.BEHIND_SEVERAL[self._direction]
        reads = await gathered(
            *(
                self._reader.in_batches(
                    template, "ids", list(filter(self._ids.is_topic, nodes)), far=far, kind=self._ends
                )
                for far, nodes in nodes.items()
            )
        )
        behind = {far: by_mediator(read.rows) for far, read in zip(nodes, reads, strict=True)}
        await self._freebase_names.keep({node: () for each in behind.values() for node in each})
        return behind, Stop.first(read.stop for read in reads)

    def _mediators(
        self, nodes: Sequence[URIRef], behind: Mapping[URIRef, Sequence[Term]], *, without: URIRef
    ) -> list[tuple[int, Entity, Sequence[End]]]:
        """The mediators among nodes with their places and far ends; `without` the entity itself."""
        ends = ((n, node, [end for end in behind.get(node, ()) if end != without]) for n, node in enumerate(nodes))
        return [(n, Entity(self._ids.short(node), mediator=True), in_order(found)) for n, node, found in ends if found]

    async def _behind(self, segment: Segment[Anchor, URIRef], skip: int, size: int) -> FollowedNodes:
        """Read nodes in the order of the index.

        The query for the far ends also checks which nodes are mediators, because skipping only mediators takes long.
        """
        path, anchor = segment.path, URIRef(str(segment.entity))
        pattern = self._reader.part(BY_ONE[self._direction], s=anchor, p=near_relation(path, self._direction))
        read = await self._reader.slice(SLICE, skip, size, by=pattern, kind=FAR_ENDS[None])
        nodes = await in_thread(len(read.rows), lambda: [iri_in(row, "o") for row in read.rows])
        behind: Mapping[URIRef, Sequence[Term]] = {}
        stop = read.stop
        if topics := await in_thread(len(nodes), lambda: list(filter(self._ids.is_topic, nodes))):
            query, relation = queries.BEHIND[self._direction], far_relation(path, self._direction)
            ends = await self._reader.in_batches(query, "ids", topics, far=relation, s=anchor, kind=self._ends)
            if ends.stop is Stop.TIME_OUT:  # any of their rows may be missing
                return FollowedNodes(stop=ends.stop)
            behind = await in_thread(len(ends.rows), lambda: by_mediator(ends.rows))
            await self._freebase_names.keep(dict.fromkeys(behind, ()))
            stop = Stop.first((stop, ends.stop))

        def found() -> list[tuple[int, Entity, Sequence[End]]]:
            mediators = self._mediators(nodes, behind, without=anchor)
            return [(skip + n, mediator, ends) for n, mediator, ends in mediators]

        return FollowedNodes(await in_thread(len(nodes), found), len(nodes), stop)


def _iri(wanted: Wanted) -> URIRef:
    return URIRef(str(wanted.segment.entity))


def _names(read: Iterable[Row], *, several: bool) -> tuple[Called, Called]:
    """The names of entities and of relations in rows; `several`: the rows are at several entities.

    For several entities, Virtuoso loses `?other` in some rows.
    """
    names: dict[URIRef, list[Literal]] = defaultdict(list)
    relations: dict[URIRef, list[Literal]] = defaultdict(list)
    for row in read:
        end = row.get("o", row["s"])
        name = row.get("called")
        if "p" in row:
            add_name(relations[iri_in(row, "p")], row.get("role"))
        if isinstance(end, Literal) or (name is None and (several or "other" in row)):
            continue  # names in other languages only: the best one is read when the node is shown
        add_name(names[URIRef(str(end))], name)
    return names, relations
