"""The rows around entities, page by page. Small relations are read together and sorted here, large ones in slices.

A slice has the order of the store's index. Where it may contain nodes without an IRI, it is read in blocks that are
sorted here, so that the order does not depend on where a page begins. Within a block, values come before entities, and
entities before blank nodes. On a store without a stable order, a slice is read by key, and blank nodes come last.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar, Protocol

from rdflib import BNode, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.paging.counts import joined
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import Key, Place, Rows, RowSource, Segment, SegmentPart, neighbours_page
from kgnav_mcp.adapters.sparql_base.around import queries
from kgnav_mcp.adapters.sparql_base.around.blocks import (
    Block,
    End,
    Ends,
    FollowedNodes,
    Found,
    Pair,
    grouped,
    in_order,
    names_needed,
    term_order,
)
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, CountReader, Counts, Path, no_rows
from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.paging import read_by_key
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, rows, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Direction, Entity, Page, Qualifier, Relation, Stop, Triple
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches, invalid_cursor

_PROBED_PAIRS = MAX_TERMS // 2
"""Pairs of an entity and a relation whose rows are read before they are counted: as many as one query takes."""
_MAX_NODES = 5_000
"""Nodes next to an entity that are followed together on a store without a stable order."""
_UNNAMED = model.Literal("a node without a name")
"""A blank node that is the value of a qualifier. It has no id, because no path leads to it."""


def to_entities(direction: Direction, *, bare: bool = False) -> RowRequest:
    """The request for rows whose far ends are entities. The anchors are passed separately."""
    return RowRequest((), direction, None, FarEndKind.ENTITY, 0, None, all_or_none=False, bare=bare)


@dataclass(frozen=True, slots=True)
class BlankEnds:
    """The blank nodes at the far ends of a relation. With Stop.UNORDERED there are too many, and the list is empty."""

    ends: Sequence[End] = ()
    stop: Stop = Stop.COMPLETE


class Store(Protocol):
    """The part of an open store that is used here."""

    @property
    def reader(self) -> Reader: ...


class RowReader(RowSource[Anchor, URIRef, Found]):
    """Reads the rows at some entities in one direction."""

    max_small: ClassVar[int]
    """Maximum number of rows of a small relation, which is read in full."""
    block: ClassVar[int]
    """Number of triples of a large relation that are sorted together; 1: slices keep the order of the index."""
    nodes: ClassVar[int]
    """Number of nodes next to an entity that are followed in the first query."""
    nodes_at_most: ClassVar[int]
    node_block: ClassVar[int]
    """Number of nodes that are sorted together; 1: they keep the order of the index."""
    entities_together: ClassVar[int]
    """Maximum number of entities whose rows are read by one query."""
    probes_for_all: ClassVar[bool]
    """Whether `probe` reads short lists of all relations at once for `all_or_none` (True), or only otherwise (False).

    Rows of ids alone are always read at once.
    """

    def __init__(
        self, store: Store, names: Names, counts: CountReader, anchors: Sequence[Anchor], request: RowRequest
    ) -> None:
        self._reader = store.reader
        self._names = names
        self._counts = counts
        self._anchors = anchors
        self._direction = request.direction
        self._far_end_kind = request.far_end_kind
        self._bare = request.bare
        self._ends = counts.far_end_filter(request.direction, request.far_end_kind)
        self._relation_paths: Sequence[Path] | None = None
        self._probed: Ends = {}

    async def page(self, relation_paths: Sequence[Path] | None, request: RowRequest) -> Page[Triple]:
        """One page of the rows of these paths, as in `GraphAdapter.neighbours`."""
        self._relation_paths = relation_paths
        return await neighbours_page(
            self, self._anchors, limit=request.limit, after=request.after, all_or_none=request.all_or_none
        )

    def ids(self, path: Path) -> tuple[str, ...]:
        return tuple(map(self._names.naming.short, path))

    async def probe(self, limit: int, *, all_or_none: bool) -> Counts | Count | None:
        """Try to read all rows with one query.

        Returns the exact counts if there are at most `limit` rows. The first row beyond the limit proves that there are
        more.
        """
        counted = self._relation_paths is None and not self._bare and all_or_none is not self.probes_for_all
        if counted or no_rows(self._direction, self._far_end_kind):
            return None
        iris = [anchor for anchor in self._anchors if isinstance(anchor, URIRef)]
        most = limit if all_or_none else min(limit, self.rows_per_query)
        if self._relation_paths is None:
            reads = await gathered(*(self.all_rows(some, most + 1) for some in batches(iris, self.entities_together)))
        elif len(iris) * len(self._relation_paths) > _PROBED_PAIRS or any(
            len(path) > 1 for path in self._relation_paths
        ):
            return None
        else:
            pairs: Sequence[Pair] = [(one, path[0]) for one in iris for path in self._relation_paths]
            pairs = await self._counts.without_empty(pairs, self._anchors, self._direction)
            reads = [await self._pairs(pairs, most + 1)]
        total = sum(len(ends) for found, _ in reads for ends in found.values())
        if all_or_none and total > limit:
            return Count.at_least(limit + 1)
        if total > most or len(iris) < len(self._anchors) or any(stop is not Stop.COMPLETE for _, stop in reads):
            return None
        self._probed = await in_thread(total, lambda: self._shown(found for found, _ in reads))
        return await self._counts_of(self._probed)

    async def _counts_of(self, rows_read: Ends) -> Counts:
        """The counts of entities whose rows have all been read."""
        sizes = ((anchor, relation, len(ends)) for (anchor, relation), ends in rows_read.items())
        return await self._counts.of_rows(sizes, self._anchors, self._direction)

    def _shown(self, reads: Iterable[Ends]) -> Ends:
        return {pair: ends for found in reads for pair, ends in found.items() if self._counts.shows(pair[1])}

    async def counts(self) -> Counts:
        return await self._counts.of_paths(self._anchors, self._direction, self._far_end_kind, self._relation_paths)

    def is_small(self, segment: Segment[Anchor, URIRef]) -> bool:
        if len(segment.path) > 1:
            return False
        return not isinstance(segment.entity, URIRef) or (segment.exact and segment.rows <= self.max_small)

    async def read_together(self, wanted: Sequence[SegmentPart[Anchor, URIRef]]) -> Sequence[Rows[Found]]:
        pairs = [(one.segment.entity, one.segment.path[0]) for one in wanted]
        unread = [pair for pair in pairs if isinstance(pair[0], URIRef) and pair not in self._probed]
        read, stop = await self._pairs(unread, 2 * self.rows_per_query)
        if stop is Stop.ROW_CAP and len(wanted) == 1:
            return [await self.read_slice(wanted[0])]
        if stop is Stop.ROW_CAP:
            half = len(wanted) // 2
            return [*await self.read_together(wanted[:half]), *await self.read_together(wanted[half:])]
        if stop is Stop.TIME_OUT:  # any of the rows may be missing
            return [Rows((), stop) for _ in wanted]
        terms = {pair: self._probed.get(pair, read.get(pair, ())) for pair in pairs}
        ends = await self._sorted(terms)
        return await self.rows_for_page([Block(one, ends[pair]) for pair, one in zip(pairs, wanted, strict=True)])

    async def read_slice(self, wanted: SegmentPart[Anchor, URIRef]) -> Rows[Found]:
        if len(wanted.segment.path) == 2:
            return await self._two_hop_rows(wanted)
        if self._reader.stable_rows:
            return await self._large_rows(wanted)
        return await self._rows_by_key(wanted)

    async def _large_rows(self, wanted: SegmentPart[Anchor, URIRef]) -> Rows[Found]:
        """Read rows of a large relation from a store whose order of rows is stable."""
        if wanted.start.key != Key():
            raise invalid_cursor(f"{wanted.start}")
        segment, found = wanted.segment, list[tuple[Found, Place]]()
        pattern = self._reader.part(queries.BY_ONE[self._direction], s=_iri(segment), p=segment.path[0])
        skip = wanted.start.group - wanted.start.group % self.block
        while True:
            remaining = wanted.limit - len(found)
            size = remaining
            if self.block > 1:
                size = self.block
            elif segment.exact:
                size = min(remaining, max(segment.rows - skip, 1))
            read = await self._reader.slice(queries.SLICE, skip, size, by=pattern, kind=self._ends)
            ends = await self._sorted_slice(segment, pattern, [row["o"] for row in read.rows], skip, size)
            (part,) = await self.rows_for_page([Block(SegmentPart(segment, wanted.start, remaining), ends, skip)])
            found += part.items
            skip += size
            if part.stop is not Stop.COMPLETE or read.stop is not Stop.COMPLETE:
                return Rows(found, part.stop if read.stop is Stop.COMPLETE else read.stop)
            if len(read.rows) < size or (segment.exact and skip >= segment.rows):
                return Rows(found)
            if len(found) >= wanted.limit:
                return Rows(found, Stop.LIMIT)

    async def _rows_by_key(self, wanted: SegmentPart[Anchor, URIRef]) -> Rows[Found]:
        """Read rows of a large relation by key: values and entities by their text, then blank nodes."""
        segment, start = wanted.segment, wanted.start
        if start.group and start.key == Key():  # a row that the store returned without an order
            raise invalid_cursor(f"{start}")
        pattern = self._reader.part(queries.BY_ONE[self._direction], s=_iri(segment), p=segment.path[0])
        found: list[tuple[Found, Place]] = []
        if not start.key.blank:
            try:
                read = await read_by_key(
                    self._reader,
                    queries.SORTED,
                    start.key,
                    wanted.limit,
                    variable="o",
                    order=lambda row: term_order(row["o"]),
                    by=pattern,
                    kind=self._ends,
                )
            except (StoreTimeout, Unsupported):
                if start.group or start.row:
                    raise
                return await self._unordered_rows(wanted, pattern)
            ends = [row["o"] for row, _ in read.rows]
            found += await self._keyed(wanted, ends, [start.key, *(key for _, key in read.rows)])
            shown = start.group + len(ends)
            if read.stop is Stop.LIMIT or len(found) > wanted.limit:
                return Rows(found[: wanted.limit], Stop.LIMIT)
            if segment.exact and shown >= segment.rows:
                return Rows(found)
            start = Place(shown, 0, Key(blank=True))
        blanks = await self._blank_ends(segment, pattern)
        rest = SegmentPart(segment, start, wanted.limit - len(found))
        if blanks.stop is not Stop.COMPLETE:
            return Rows(found, blanks.stop)
        keys = [Key(n, blank=True) for n in range(len(blanks.ends) + 1)][start.key.passed :]
        found += await self._keyed(rest, blanks.ends[start.key.passed :], keys)
        return Rows(found[: wanted.limit], Stop.LIMIT if len(found) > wanted.limit else Stop.COMPLETE)

    async def _keyed(
        self, wanted: SegmentPart[Anchor, URIRef], ends: Sequence[End], keys: Sequence[Key]
    ) -> Sequence[tuple[Found, Place]]:
        """The rows of sorted far ends with their places, and one row more than wanted. `keys` has each end's start."""
        begin = wanted.start.group
        (part,) = await self.rows_for_page([Block(replace(wanted, limit=wanted.limit + 1), ends, begin)])
        return [(row, place._replace(key=keys[place.group - begin])) for row, place in part.items]

    async def _unordered_rows(self, wanted: SegmentPart[Anchor, URIRef], pattern: Fragment) -> Rows[Found]:
        """Read the first rows of a relation that the store cannot sort. Nothing can be read after them."""
        kind = Fragment(f"{self._ends.text} {queries.NOT_BLANK}")
        read = await self._reader.select(queries.SLICE, by=pattern, kind=kind, skip=0, most=wanted.limit)
        ends = await in_thread(len(read.rows), lambda: in_order(row["o"] for row in read.rows))
        (part,) = await self.rows_for_page([Block(wanted, ends)])
        return Rows(part.items, Stop.UNORDERED if read.stop is Stop.COMPLETE else read.stop)

    async def _two_hop_rows(self, wanted: SegmentPart[Anchor, URIRef]) -> Rows[Found]:
        """Read rows of a two-hop relation: the nodes next to the entity in blocks, then the far ends of mediators."""
        found: list[tuple[Found, Place]] = []
        block, size = self.node_block, self.nodes
        if not self._reader.stable_rows:  # all nodes are read, and sorted here
            block = size = _MAX_NODES
        skip = wanted.start.group - wanted.start.group % block
        while True:
            behind = await self._behind(wanted.segment, skip, size)
            found += await in_thread(behind.nodes, partial(behind.rows_from, wanted.start))
            if behind.nodes < size or behind.stop is not Stop.COMPLETE:
                return wanted.select_from(found, behind.stop)
            if len(found) > wanted.limit:
                return Rows(found[: wanted.limit], Stop.LIMIT)
            skip += behind.nodes
            if block > 1:
                continue
            seen = skip - wanted.start.group
            needed = seen * (wanted.limit + 1 - len(found)) * 5 // (4 * len(found)) if found else 2 * seen
            size = min(max(needed, self.nodes // 2), self.nodes_at_most)  # `needed` has a quarter more, as a margin

    async def triples(self, rows: Sequence[tuple[Segment[Anchor, URIRef], Found]]) -> Sequence[Triple]:
        """Convert rows to triples. All names are read at once."""
        anchors, terms, relations = await in_thread(len(rows), lambda: names_needed(rows))
        if self._bare:
            nodes, named = await in_thread(len(rows), lambda: self._names.without_labels(terms, relations))
        else:
            nodes, named = await gathered(self._names.nodes(terms), self._names.relations(relations))
        unnamed = {one: await self._entity_without_iri(one) for one in anchors if not isinstance(one, URIRef)}

        @cache
        def relation(path: Path) -> Relation:
            return joined([named[hop] for hop in path])

        def triple(segment: Segment[Anchor, URIRef], row: Found) -> Triple:
            anchor = nodes[segment.entity] if isinstance(segment.entity, URIRef) else unnamed[segment.entity]
            end = row.far if isinstance(row.far, Entity) else nodes[row.far]
            head, tail = (anchor, end) if self._direction is Direction.OUTGOING else (end, anchor)
            assert isinstance(head, Entity)  # noqa: S101 - the head of a triple is never a value
            facts = [
                Qualifier(named[fact], _UNNAMED if isinstance(value, BNode) else nodes[value])
                for fact, value in row.facts
            ]
            facts.sort(key=lambda qualifier: qualifier.relation.id)
            return Triple(head, relation(segment.path), tail, tuple(facts), row.via)

        return await in_thread(len(rows), lambda: [triple(segment, row) for segment, row in rows])

    async def _blank_ends(self, segment: Segment[Anchor, URIRef], pattern: Fragment) -> BlankEnds:  # noqa: ARG002
        """The blank nodes at the far ends of a relation, sorted."""
        return BlankEnds()

    @abstractmethod
    async def _behind(self, segment: Segment[Anchor, URIRef], skip: int, size: int) -> FollowedNodes:
        """Read `size` nodes next to an entity on a two-hop relation, and the far ends of the mediators among them."""

    async def _entity_without_iri(self, anchor: Anchor) -> Entity:
        """The entity of an anchor without an IRI."""
        raise AssertionError(f"{anchor} has no IRI")

    async def all_rows(self, iris: Sequence[URIRef], most: int) -> tuple[Ends, Stop]:
        """Read up to `most` rows at some entities."""
        single = len(iris) == 1
        template = (queries.AROUND_ONE if single else queries.AROUND_SET)[self._direction]
        pattern = await in_thread(
            len(iris), lambda: self._reader.part(template, s=iris[0] if single else values(*iris))
        )
        kind = self._counts.row_filter(self._direction, self._far_end_kind)
        return await self._read(pattern, kind, iris, most, iris[0] if single else None)

    async def _pairs(self, pairs: Sequence[Pair], most: int) -> tuple[Ends, Stop]:
        """Read up to `most` rows of some relations at entities."""
        if not pairs:
            return {}, Stop.COMPLETE
        named = [(one, relation) for one, relation in pairs if isinstance(one, URIRef)]
        template = queries.AROUND_PAIRS[self._direction]
        pattern = await in_thread(len(named), lambda: self._reader.part(template, pairs=rows(*named)))
        return await self._read(pattern, self._ends, [one for one, _ in named], most)

    def part(self, template: str, **terms: URIRef | Fragment) -> Fragment:
        """Fill a part of a query, to be inserted into another template."""
        return self._reader.part(template, **terms)

    async def read(self, by: Fragment, iris: Sequence[URIRef]) -> tuple[Ends, Stop]:
        """Read all rows that a pattern binds as ?s, ?p and ?o."""
        kind = self._counts.row_filter(self._direction, self._far_end_kind)
        return await self._read(by, kind, iris, 2 * self.rows_per_query)

    async def _read(
        self, pattern: Fragment, kind: Fragment, iris: Sequence[URIRef], most: int, entity: URIRef | None = None
    ) -> tuple[Ends, Stop]:
        """Read rows that a pattern binds as ?s, ?p and ?o. `entity` is ?s where that is not bound."""
        del iris
        read = await self._reader.select(queries.ROWS, by=pattern, kind=kind, most=most)
        return await in_thread(len(read.rows), lambda: grouped(read.rows, entity)), read.stop

    async def _sorted(self, terms: Ends) -> Mapping[Pair, Sequence[End]]:
        """Sort the far ends of small relations, each once."""
        size = sum(map(len, terms.values()))
        return await in_thread(size, lambda: {pair: in_order(found) for pair, found in terms.items()})

    async def _sorted_slice(
        self, segment: Segment[Anchor, URIRef], pattern: Fragment, terms: Sequence[Term], skip: int, size: int
    ) -> Sequence[End]:
        """Sort the far ends of a slice, if they are sorted at all."""
        del segment, pattern, skip, size
        return terms if self.block == 1 else await in_thread(len(terms), lambda: in_order(terms))

    async def rows_for_page(self, blocks: Sequence[Block]) -> list[Rows[Found]]:
        """Cut blocks to the rows for the page."""

        def rows() -> list[Rows[Found]]:
            found = ([(Found(end), Place(n + 1)) for n, end in block.shown] for block in blocks)
            return [one.wanted.select_from(items, one.stop) for one, items in zip(blocks, found, strict=True)]

        return await in_thread(sum(len(block.ends) for block in blocks), rows)


def _iri(segment: Segment[Anchor, URIRef]) -> URIRef:
    assert isinstance(segment.entity, URIRef)  # noqa: S101 - rows of other anchors have all been read
    return segment.entity
