"""The rows around entities. Small relations are read together with all names in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.counts import CountReader
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.paging.counts import far_relation, near_relation
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.segments import Segment
from kgnav_mcp.adapters.sparql.around import rows
from kgnav_mcp.adapters.sparql.around.blocks import FollowedNodes, by_mediator
from kgnav_mcp.adapters.sparql.around.counts import Anchor
from kgnav_mcp.adapters.sparql.around.far_ends import Ends, grouped, in_order
from kgnav_mcp.adapters.sparql.around.queries import AROUND_SET, BY_ONE, FAR_ENDS, SLICE
from kgnav_mcp.adapters.sparql.reading import Row, iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Fragment, values
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Entity, Stop

Called = Mapping[URIRef, Sequence[Literal]]
"""The names of entities or relations."""


class RowReader(rows.RowReader):
    """Reads rows. All nodes of Freebase have IRIs, so slices can keep the order of the index."""

    max_small = 100
    block = 1
    nodes = 200
    nodes_at_most = 3_200
    node_block = 1
    entities_together = 200
    probes_for_all = False

    def __init__(
        self, store: Store, names: Names, counts: CountReader, anchors: Sequence[Anchor], question: RowRequest
    ) -> None:
        super().__init__(store, names, counts, anchors, question)
        self._ids = store.ids
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

        def found() -> list[tuple[int, Entity, Sequence[Term]]]:
            return [
                (n, Entity(self._ids.short(node), mediator=True), in_order(behind[node]))
                for n, node in enumerate(nodes, skip)
                if node in behind
            ]

        return FollowedNodes(await in_thread(len(nodes), found), len(nodes), stop)


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
