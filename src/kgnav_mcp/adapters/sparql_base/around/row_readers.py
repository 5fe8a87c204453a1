"""The edges between two sets of nodes, and a search by far ends. Both are built on a store's `RowReader`.

Edges are found by looking up pairs of nodes or by reading the rows of the heads, whichever is cheaper. A search is one
query with a branch for each relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import far_relation, near_relation
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import EdgeSource, Place, Rows, Segment, SegmentPart
from kgnav_mcp.adapters.sparql_base import matching
from kgnav_mcp.adapters.sparql_base.around import queries
from kgnav_mcp.adapters.sparql_base.around.blocks import Block, Ends, Found, Pair, in_order, term_order
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, CountReader, Counts, Path
from kgnav_mcp.adapters.sparql_base.around.rows import RowReader, to_entities
from kgnav_mcp.adapters.sparql_base.matching import SearchRequest, branch, searched
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Direction, Entity, Stop, Triple
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

_MAX_PAIRS = 2_000
"""Maximum number of pairs of head and tail that are looked up without counting first."""
_MAX_PAIRS_READ = 10_000
"""Approximate maximum number of pairs that are looked up by one query."""
_MAX_RELATIONS = 50
"""Maximum number of relations that are named in a query; the edges of more are read, and those of others left out."""
_MAX_HEADS = 200
_ROWS = 5_000
"""Approximate number of rows of heads that are read by one query."""

_NO_LIMIT = 1_000_000
"""More rows than one relation of a head can have: no limit."""

Edge = tuple[URIRef, Found]
"""A relation and one of its rows."""


class EdgeReader(EdgeSource[URIRef, Edge]):
    """Finds edges between heads and tails. A hub costs as many look-ups as there are tails, whatever its degree."""

    def __init__(
        self, reader: RowReader, counts: CountReader, tails: Sequence[URIRef], relations: Sequence[Path] | None
    ) -> None:
        self._reader = reader
        self._counts = counts
        self._tails = list(dict.fromkeys(tails))
        self._tail_set = frozenset(tails)
        self._relations = relations

    async def edges(self, heads: Sequence[URIRef]) -> tuple[Mapping[URIRef, Sequence[Edge]], Stop]:
        looked_up, few, stop = list(heads), list[tuple[URIRef, int]](), Stop.COMPLETE
        if len(heads) * len(self._tails) > _MAX_PAIRS:
            counts = await self._counts.of_paths(heads, Direction.OUTGOING, FarEndKind.ENTITY, self._relations)
            if counts.stop is not Stop.TIME_OUT:  # Heads that were not counted may be hubs.
                looked_up, few = await in_thread(len(heads), lambda: self._hubs_and_others(heads, counts))
                stop = counts.stop
        reads = await gathered(
            *(
                self._between(some_heads, some_tails)
                for some_tails in batches(self._tails, MAX_TERMS // 2)
                for some_heads in batches(looked_up, min(MAX_TERMS // 2, 1 + _MAX_PAIRS_READ // len(some_tails)))
            ),
            *(self._leaving(batch) for batch in _grouped(few)),
        )
        stop = Stop.first((stop, *(why for _, why in reads)))
        blocks = await in_thread(len(heads), lambda: self._blocks(ends for ends, _ in reads))
        rows = await self._reader.rows_for_page(blocks)
        return await in_thread(len(blocks), lambda: self._by_head(blocks, rows)), stop

    async def triples(self, edges: Sequence[tuple[URIRef, Edge]]) -> Sequence[Triple]:
        rows = await in_thread(len(edges), lambda: [(_segment(head, relation), row) for head, (relation, row) in edges])
        return await self._reader.triples(rows)

    async def _between(self, heads: Sequence[URIRef], tails: Sequence[URIRef]) -> tuple[Ends, Stop]:
        known = [path[0] for path in self._relations or ()]
        few = 0 < len(known) <= _MAX_RELATIONS
        among = self._reader.part(queries.AMONG, relations=values(*known)) if few else Fragment("")

        def written() -> Fragment:
            return self._reader.part(queries.BETWEEN, heads=values(*heads), tails=values(*tails), among=among)

        return await self._reader.read(await in_thread(len(heads) + len(tails), written), heads)

    async def _leaving(self, heads: Sequence[URIRef]) -> tuple[Ends, Stop]:
        found, stop = await self._reader.all_rows(heads, 10 * _ROWS)
        if stop is not Stop.ROW_CAP or len(heads) == 1:
            return found, stop
        half = len(heads) // 2
        parts = await gathered(self._leaving(heads[:half]), self._leaving(heads[half:]))
        return {**parts[0][0], **parts[1][0]}, Stop.first(why for _, why in parts)

    def _hubs_and_others(
        self, heads: Sequence[URIRef], counts: Counts
    ) -> tuple[list[URIRef], list[tuple[URIRef, int]]]:
        """Split the heads: hubs with more rows than there are tails, and others with any rows, with their number."""
        sizes = {head: sum(counts.rows.get(head, {}).values()) for head in heads}
        hubs = [head for head, size in sizes.items() if size > len(self._tails)]
        return hubs, [(head, size) for head, size in sizes.items() if 0 < size <= len(self._tails)]

    def _blocks(self, reads: Iterable[Ends]) -> Sequence[Block]:
        """The far ends that are tails, in one block per head and relation."""
        relations = None if self._relations is None else {path[0] for path in self._relations}
        tails: dict[Pair, list[Term]] = defaultdict(list)
        for ends in reads:
            for pair, terms in ends.items():
                if self._counts.shows(pair[1]) and (relations is None or pair[1] in relations):
                    tails[pair] += [iri for end in terms if (iri := URIRef(str(end))) in self._tail_set]
        return [
            Block(SegmentPart(_segment(head, relation), Place(), _NO_LIMIT), in_order(terms))
            for (head, relation), terms in tails.items()
            if isinstance(head, URIRef) and terms
        ]

    def _by_head(self, blocks: Sequence[Block], rows: Sequence[Rows[Found]]) -> Mapping[URIRef, Sequence[Edge]]:
        """The edges of each head, in the order of their relations' ids."""
        found: dict[URIRef, list[tuple[tuple[str, ...], Edge]]] = defaultdict(list)
        for block, read in zip(blocks, rows, strict=True):
            segment = block.wanted.segment
            path = self._reader.ids(segment.path)
            found[URIRef(str(segment.entity))] += [(path, (segment.path[0], row)) for row, _ in read.items]
        return {head: [edge for _, edge in sorted(edges, key=lambda edge: edge[0])] for head, edges in found.items()}


def _segment(head: URIRef, relation: URIRef) -> Segment[Anchor, URIRef]:
    return Segment(0, head, (relation,), 1)


def _grouped(heads: Iterable[tuple[URIRef, int]]) -> list[list[URIRef]]:
    """Group heads into batches whose rows are read by one query."""
    groups: list[list[URIRef]] = []
    filled = _ROWS
    for head, size in heads:
        if filled + size > _ROWS or len(groups[-1]) == _MAX_HEADS:
            groups.append([])
            filled = 0
        groups[-1].append(head)
        filled += size
    return groups


Placed = tuple[Segment[Anchor, URIRef], Found]
_NO_ROW_LIMIT = 1_000_000
"""More rows than one triple can have: no limit."""


class RowSearch(matching.RowSearch[Placed, Placed]):
    """Searches rows at entities. Rows that end at a blank node are left out, because no query can name it."""

    def __init__(self, reader: Reader, rows: RowReader, counts: CountReader, request: SearchRequest) -> None:
        super().__init__(request)
        self._reader = reader
        self._rows = rows
        self._counts = counts

    async def find(self) -> tuple[Sequence[Placed], Stop]:
        iris = [anchor for anchor in self._anchors if isinstance(anchor, URIRef)]
        if len(iris) < len(self._anchors):
            raise Unsupported("a query cannot refer to a blank node", next_step="Read its rows.")
        relation_paths: Sequence[Path] | None = self._relation_paths
        if relation_paths is None:
            counts = await self._counts.one_hop(iris, self._direction, FarEndKind.ENTITY)
            relation_paths = await in_thread(len(iris), lambda: list(counts.by_path()))
        relation_paths = [path for path in relation_paths if all(map(self._counts.shows, path))]
        condition = self._far.part(self._reader, "?o", naming="$named", typing="$typed")
        branches = [
            self._branch(number, path, values(*batch), condition)
            for number, path in enumerate(relation_paths)
            for batch in batches(iris, MAX_TERMS)
        ]
        read = await searched(self._reader, branches)
        return await in_thread(len(read.rows), lambda: self._in_order(read.rows, relation_paths)), read.stop

    def _branch(self, number: int, path: Path, iris: Fragment, condition: Fragment) -> str:
        side = self._direction
        if len(path) == 1:
            pattern = self._reader.part(queries.BY[side], s=iris, p=path[0])
        else:
            pattern = self._reader.part(
                queries.THROUGH_BY[side], s=iris, near=near_relation(path, side), far=far_relation(path, side)
            )
        row = Fragment("?s ?o" if len(path) == 1 else "?s ?m ?o")
        kind = self._counts.far_end_filter(side, FarEndKind.ENTITY)
        return branch(
            self._reader, number=number, row=row, by=Fragment(f"{pattern.text} . {kind.text}"), condition=condition
        )

    def _in_order(self, read: Iterable[Row], relation_paths: Sequence[Path]) -> list[Placed]:
        """Sort the rows by entity, then by relation."""
        places = {one: place for place, one in enumerate(self._anchors)}
        ids = {path: (len(path), self._rows.ids(path)) for path in relation_paths}
        found: list[tuple[tuple[object, ...], Placed]] = []
        for row in read:
            if not isinstance(end := row["o"], URIRef):
                continue
            anchor, path = iri_in(row, "s"), relation_paths[number_in(row, "number")]
            via = str(row["m"]) if "m" in row else ""
            mediator = Entity(self._rows.ids((URIRef(via),))[0], mediator=True) if via else None
            segment: Segment[Anchor, URIRef] = Segment(places[anchor], anchor, path, 1)
            order = places[anchor], ids[path], via, term_order(end)
            found.append((order, (segment, Found(end, mediator))))
        return [placed for _, placed in sorted(found, key=lambda one: one[0])]

    async def rows(self, found: Sequence[Placed]) -> Sequence[Sequence[Placed]]:
        direct = [placed for placed in found if placed[1].via is None]
        blocks = [Block(SegmentPart(segment, Place(), _NO_ROW_LIMIT), [row.far]) for segment, row in direct]
        stated = iter(await self._rows.rows_for_page(blocks))
        return [
            [placed] if placed[1].via is not None else [(placed[0], row) for row, _ in next(stated).items]
            for placed in found
        ]

    async def triples(self, rows: Sequence[Placed]) -> Sequence[Triple]:
        return await self._rows.triples(rows)


CreateRows = Callable[[Sequence[Anchor], RowRequest], RowReader]
"""Creates the reader of rows at some entities."""


class RowReaders(TypedDict):
    """The fields of `sparql_base.adapter.Readers` that read rows."""

    rows: CreateRows
    search: Callable[[SearchRequest], RowSearch]
    edges: Callable[[Sequence[Any], Sequence[Any], Sequence[Path] | None, bool], EdgeReader | None]


def row_readers(reader: Reader, counts: CountReader, create_rows: CreateRows) -> RowReaders:
    """All readers of rows of one graph."""

    def search(request: SearchRequest) -> RowSearch:
        return RowSearch(reader, create_rows((), to_entities(request.direction)), counts, request)

    def edges(
        heads: Sequence[Anchor], tails: Sequence[Anchor], relation_paths: Sequence[Path] | None, bare: bool
    ) -> EdgeReader | None:
        iris = [one for one in tails if isinstance(one, URIRef)]
        if len(iris) < len(tails) or not all(isinstance(one, URIRef) for one in heads):
            return None  # the edges of a blank node are read with it
        return EdgeReader(create_rows(heads, to_entities(Direction.OUTGOING, bare=bare)), counts, iris, relation_paths)

    return {"rows": create_rows, "search": search, "edges": edges}
