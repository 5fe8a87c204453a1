"""The edges between two sets: pairs of nodes are looked up, or the rows of the heads are read, as costs less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.paging.directions import RowQuestion
from kgnav_mcp.adapters.paging.edges import EdgeSource
from kgnav_mcp.adapters.paging.positions import Place
from kgnav_mcp.adapters.paging.segments import Segment, Wanted
from kgnav_mcp.adapters.sparql.around import queries
from kgnav_mcp.adapters.sparql.around.counts import Anchor, CountReader, Path
from kgnav_mcp.adapters.sparql.around.ends import Ends, Pair, in_order
from kgnav_mcp.adapters.sparql.around.rows import Block, Found, RowReader
from kgnav_mcp.adapters.sparql.terms import MAX_TERMS, batches, rows
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Direction, Stop, Triple
from kgnav_mcp.port import TailKind

_PAIRS = 2_000
"""Pairs of a head and a tail that are looked up without a count."""
_HEADS = 200
_ROWS = 5_000
"""Rows of heads that are read by one query, about."""

_STATEMENTS = 1_000_000
"""Rows of one relation of a head: all of them."""

LEAVING = RowQuestion((), Direction.OUTGOING, None, TailKind.ENTITY, 0, None, all_or_none=False)
"""The rows that edges are among."""

Edge = tuple[URIRef, Found]
"""A relation with its row."""


class EdgeReader(EdgeSource[URIRef, Edge]):
    """Finds edges. A hub costs as many look-ups as there are tails, never its degree."""

    def __init__(
        self, reader: RowReader, counts: CountReader, tails: Sequence[URIRef], relations: Sequence[Path] | None
    ) -> None:
        self._reader = reader
        self._counts = counts
        self._tails = list(dict.fromkeys(tails))
        self._wanted = frozenset(tails)
        self._relations = relations

    async def edges(self, heads: Sequence[URIRef]) -> tuple[Mapping[URIRef, Sequence[Edge]], Stop]:
        looked_up, few, stop = list(heads), list[tuple[URIRef, int]](), Stop.COMPLETE
        if len(heads) * len(self._tails) > _PAIRS:
            counts = await self._counts.of_paths(heads, Direction.OUTGOING, TailKind.ENTITY, self._relations)
            sizes = {head: sum(counts.rows.get(head, {}).values()) for head in heads}
            few = [(head, size) for head, size in sizes.items() if 0 < size <= len(self._tails)]
            looked_up = [head for head, size in sizes.items() if size > len(self._tails)]
            if counts.stop is Stop.TIME_OUT:  # What was not counted is a hub, as far as is known.
                few, looked_up = [], list(heads)
            stop = counts.stop if counts.stop is not Stop.TIME_OUT else Stop.COMPLETE
        pairs = [(head, tail) for head in looked_up for tail in self._tails]
        reads = await gathered(
            *(self._between(some) for some in batches(pairs, MAX_TERMS // 2)),
            *(self._leaving(some) for some in _grouped(few)),
        )
        stop = Stop.first((stop, *(why for _, why in reads)))
        found = [(pair, end) for ends, _ in reads for pair, some in ends.items() for end in some]
        kept = await in_thread(len(found), lambda: self._kept((pair, URIRef(str(end))) for pair, end in found))
        return await self._stated(kept), stop

    async def triples(self, edges: Sequence[tuple[URIRef, Edge]]) -> Sequence[Triple]:
        return await self._reader.triples([(_segment(head, relation), row) for head, (relation, row) in edges])

    async def _between(self, pairs: Sequence[tuple[URIRef, URIRef]]) -> tuple[Ends, Stop]:
        by = await in_thread(len(pairs), lambda: self._reader.part(queries.BETWEEN, pairs=rows(*pairs)))
        return await self._reader.read(by, [head for head, _ in pairs])

    async def _leaving(self, heads: Sequence[URIRef]) -> tuple[Ends, Stop]:
        found, stop = await self._reader.all_rows(heads, 10 * _ROWS)
        if stop is not Stop.ROW_CAP or len(heads) == 1:
            return found, stop
        half = len(heads) // 2
        parts = await gathered(self._leaving(heads[:half]), self._leaving(heads[half:]))
        return {**parts[0][0], **parts[1][0]}, Stop.first(why for _, why in parts)

    def _kept(self, found: Iterable[tuple[Pair, URIRef]]) -> Mapping[Pair, Collection[URIRef]]:
        """The edges that are wanted among some rows, by head and relation."""
        relations = None if self._relations is None else {path[0] for path in self._relations}
        kept: dict[Pair, dict[URIRef, None]] = defaultdict(dict)
        for pair, end in found:
            if end in self._wanted and self._counts.shows(pair[1]) and (relations is None or pair[1] in relations):
                kept[pair][end] = None
        return kept

    async def _stated(self, kept: Mapping[Pair, Collection[URIRef]]) -> Mapping[URIRef, Sequence[Edge]]:
        """The rows that edges are, head by head, in the order of their relations' ids."""
        segments = {
            _segment(head, relation): in_order(ends)
            for (head, relation), ends in kept.items()
            if isinstance(head, URIRef)
        }
        blocks = [Block(Wanted(one, Place(), _STATEMENTS), ends) for one, ends in segments.items()]
        found: dict[URIRef, list[tuple[tuple[str, ...], Edge]]] = defaultdict(list)
        for block, read in zip(blocks, await self._reader.stated(blocks), strict=True):
            one = block.wanted.segment
            found[URIRef(str(one.entity))] += [
                (self._reader.ids(one.path), (one.path[0], row)) for row, _ in read.found
            ]
        return {head: [edge for _, edge in sorted(some, key=lambda edge: edge[0])] for head, some in found.items()}


def _segment(head: URIRef, relation: URIRef) -> Segment[Anchor, URIRef]:
    return Segment(0, head, (relation,), 1)


def _grouped(heads: Iterable[tuple[URIRef, int]]) -> list[list[URIRef]]:
    """Heads whose rows are read by one query."""
    groups: list[list[URIRef]] = []
    filled = _ROWS
    for head, size in heads:
        if filled + size > _ROWS or len(groups[-1]) == _HEADS:
            groups.append([])
            filled = 0
        groups[-1].append(head)
        filled += size
    return groups
