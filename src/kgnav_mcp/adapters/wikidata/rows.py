"""The statements around entities, page by page. Small segments are read whole, several at once; hubs in slices.

Labels, qualifiers and full values are read only for the rows of the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.paging.counts import hidden_note
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import (
    EdgeSource,
    Key,
    Place,
    Rows,
    RowSource,
    Segment,
    SegmentPart,
    neighbours_page,
)
from kgnav_mcp.adapters.sparql_base import errors, matching
from kgnav_mcp.adapters.sparql_base.matching import SearchRequest, branch, searched
from kgnav_mcp.adapters.sparql_base.paging import SHARE, read_by_key
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Row, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.counts import CountReader, Counts, Path, hub_timed_out
from kgnav_mcp.adapters.wikidata.statements import StatementReader, StatementRow, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Direction, Page, Stop, Triple
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches, invalid_cursor

_MAX_READ_WHOLE = 500
"""Up to this many incoming statements of one property are read whole; more are read in slices."""


class RowReader(RowSource[URIRef, str, StatementRow]):
    """Counts and reads the statements of one request: some entities in one direction."""

    segments_per_query = 1_000

    def __init__(
        self,
        store: Store,
        catalogues: CatalogueCache,
        counts: CountReader,
        statements: StatementReader,
        anchors_and_request: tuple[Sequence[URIRef], RowRequest],
    ) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._counts = counts
        self._statements = statements
        self._anchors, request = anchors_and_request
        self._direction = request.direction
        self._far_end_kind = request.far_end_kind
        self._relation_paths: Sequence[Path] | None = None

    async def page(self, relation_paths: Sequence[Path] | None, request: RowRequest) -> Page[Triple]:
        """One page of the statements of these properties, as `GraphAdapter.neighbours` defines it.

        Raises:
            StoreTimeout: the query timed out before it returned any row.
        """
        self._relation_paths = relation_paths
        page = await neighbours_page(
            self, self._anchors, limit=request.limit, after=request.after, all_or_none=request.all_or_none
        )
        if page.stop is Stop.TIME_OUT and not page.items:
            raise hub_timed_out() if self._direction is Direction.INCOMING else errors.stopped_by_store()
        return page

    def ids(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return path

    async def probe(self, limit: int, *, all_or_none: bool) -> Counts | Count | None:
        if not all_or_none or self._relation_paths is not None:
            return None
        exceeds = await self._counts.exceeds(self._anchors, self._direction, limit)
        return Count.at_least(limit + 1) if exceeds else None

    async def counts(self) -> Counts:
        counts = await self._counts.at(self._anchors, self._direction, self._far_end_kind, self._relation_paths)
        if self._relation_paths is not None or self._store.wikidata.external_ids:
            return counts
        by_path = await in_thread(len(self._anchors), counts.by_path)
        names = {path[0] for path in by_path if self._catalogues.current.hidden(path[0])}
        if not names:
            return counts
        self.note = hidden_note(Count.sum(by_path[name,] for name in names), map(self._store.ids.relation, names))
        return await in_thread(len(self._anchors), lambda: counts.restricted_to(lambda path: path[0] not in names))

    def is_small(self, segment: Segment[URIRef, str]) -> bool:
        return self._direction is Direction.OUTGOING or (segment.exact and segment.rows <= _MAX_READ_WHOLE)

    async def read_together(self, wanted: Sequence[SegmentPart[URIRef, str]]) -> Sequence[Rows[StatementRow]]:
        by_property: dict[str, list[URIRef]] = defaultdict(list)
        for one in wanted:
            by_property[one.segment.path[0]].append(one.segment.entity)
        read = await self._reader.union(await in_thread(len(wanted), lambda: self._branches(by_property)))
        return await in_thread(len(wanted), lambda: self._wanted_of(read, list(by_property), wanted))

    def _branches(self, by_property: Mapping[str, Sequence[URIRef]]) -> list[str]:
        """One subquery for each property and its entities."""
        pattern = self._store.form.rows[self._direction]
        return [
            self._reader.filled(
                queries.ROWS[self._direction], s=values(*entities), rows=self._store.rows(pattern, name), number=place
            )
            for place, (name, entities) in enumerate(by_property.items())
        ]

    def _wanted_of(
        self, read: Read, names: Sequence[str], wanted: Sequence[SegmentPart[URIRef, str]]
    ) -> Sequence[Rows[StatementRow]]:
        """The wanted parts of each segment, cut out of the rows of these properties."""
        near = "s" if self._direction is Direction.OUTGOING else "o"
        found: dict[tuple[URIRef, str], list[StatementRow]] = defaultdict(list)
        for row in read.rows:
            name, value = names[number_in(row, "number")], row.get("o")
            if self._far_end_kind is None or (self._far_end_kind is FarEndKind.ENTITY) == self._is_entity(value):
                found[iri_in(row, near), name].append(statement_in_row(row, name))
        key = row_order(self._direction)
        return [
            one.select_from(_with_places(sorted(found[one.segment.entity, one.segment.path[0]], key=key)), read.stop)
            for one in wanted
        ]

    async def read_slice(self, wanted: SegmentPart[URIRef, str]) -> Rows[StatementRow]:
        """A slice of the statements that point at a hub, in the order of the endpoint's index if that is stable."""
        segment, start = wanted.segment, wanted.start.group
        if not self._reader.stable_order:
            return await self._slice_by_key(wanted)
        if wanted.start.key != Key():
            raise invalid_cursor(f"{wanted.start}")
        rows = self._store.rows(self._store.form.rows[Direction.INCOMING], segment.path[0])
        try:
            read = await self._reader.slice(queries.SLICE, start, wanted.limit, s=values(segment.entity), rows=rows)
        except StoreTimeout:
            return Rows((), Stop.TIME_OUT)
        found = await in_thread(
            len(read.rows), lambda: _with_places((statement_in_row(row, segment.path[0]) for row in read.rows), start)
        )
        ended = start + len(found) >= segment.rows if segment.exact else len(found) < wanted.limit
        stop = Stop.COMPLETE if ended else Stop.LIMIT
        return Rows(found, stop if read.stop is Stop.COMPLETE else read.stop)

    async def _slice_by_key(self, wanted: SegmentPart[URIRef, str]) -> Rows[StatementRow]:
        """A slice of the statements that point at a hub, sorted by the IRIs of their subjects."""
        name, start = wanted.segment.path[0], wanted.start
        if start.group and start.key == Key():  # a row that the store returned without an order
            raise invalid_cursor(f"{start}")
        terms = {
            "s": values(wanted.segment.entity),
            "rows": self._store.rows(self._store.form.rows[Direction.INCOMING], name),
        }
        order = row_order(Direction.INCOMING)
        try:
            read = await read_by_key(
                self._reader,
                queries.SORTED,
                start.key,
                wanted.limit,
                variable="s",
                order=lambda row: order(statement_in_row(row, name)),
                share=SHARE,
                **terms,
            )
        except (StoreTimeout, Unsupported):
            if start.group:
                raise
            return await self._unordered_slice(name, wanted.limit, terms)
        found = [
            (statement_in_row(row, name), Place(n, key=key)) for n, (row, key) in enumerate(read.rows, start.group + 1)
        ]
        return Rows(found[: wanted.limit], Stop.LIMIT if len(found) > wanted.limit else read.stop)

    async def _unordered_slice(self, name: str, limit: int, terms: Mapping[str, Fragment]) -> Rows[StatementRow]:
        """The first statements of a list that the store cannot sort. Nothing can be read after them."""
        try:
            read = await self._reader.select(queries.SLICE, share=1.0, skip=0, most=limit, **terms)
        except StoreTimeout:
            return Rows((), Stop.TIME_OUT)
        found = _with_places(statement_in_row(row, name) for row in read.rows)
        return Rows(found, Stop.UNORDERED if read.stop is Stop.COMPLETE else read.stop)

    async def triples(self, rows: Sequence[tuple[Segment[URIRef, str], StatementRow]]) -> Sequence[Triple]:
        return await self._statements.triples([row for _, row in rows])

    def _is_entity(self, value: Term | None) -> bool:
        return isinstance(value, URIRef) and value.startswith(self._store.ids.entities)


async def qualified(store: Store, statements: StatementReader, value: URIRef, limit: int) -> tuple[Triple, ...]:
    """The first `limit` statements that have an entity as the value of a qualifier."""
    read = await store.reader.select(queries.QUALIFIED, s=values(value), most=limit)
    names = [(row, store.ids.property_of(str(row["p"]))) for row in read.any_rows()]
    return tuple(await statements.triples([statement_in_row(row, name) for row, name in names if name is not None]))


def statement_in_row(row: Row, name: str) -> StatementRow:
    """Parse the statement in a row of a query about one property."""
    return StatementRow(iri_in(row, "s"), name, statement(row, "st"), row.get("o"))


def _with_places(found: Iterable[StatementRow], start: int = 0) -> list[tuple[StatementRow, Place]]:
    return [(each, Place(n)) for n, each in enumerate(found, start + 1)]


def row_order(direction: Direction) -> Callable[[StatementRow], tuple[bool, int, str, str]]:
    """The sort key of statements of one property: their far end (entities by number), then their own key."""

    def key(found: StatementRow) -> tuple[bool, int, str, str]:
        far = found.head if direction is Direction.INCOMING else found.value
        if not isinstance(far, URIRef):
            return False, 0, str(far) if isinstance(far, Literal) else "", found.key()
        digits = far.rpartition("/")[2][1:]
        return True, int(digits) if digits.isdecimal() else 0, str(far), found.key()

    return key


class EdgeReader(EdgeSource[URIRef, StatementRow]):
    """Reads the statements of entities whose value is one of the tails."""

    def __init__(
        self, store: Store, statements: StatementReader, tails: Sequence[URIRef], relation_paths: Sequence[Path] | None
    ) -> None:
        self._store = store
        self._statements = statements
        self._tails = frozenset(tails)
        self._names = None if relation_paths is None else {path[0] for path in relation_paths}

    async def edges(self, heads: Sequence[URIRef]) -> tuple[Mapping[URIRef, Sequence[StatementRow]], Stop]:
        reader, between = self._store.reader, Fragment("")
        if len(self._tails) <= MAX_TERMS:
            between = reader.part(queries.BETWEEN, tails=comma_separated(*sorted(self._tails)))
        read = await reader.in_batches(queries.EDGES, "s", heads, of=self._property_filter(), between=between)

        def found() -> Mapping[URIRef, Sequence[StatementRow]]:
            edges: dict[URIRef, list[StatementRow]] = defaultdict(list)
            for row in read.rows:
                name = self._store.ids.property_of(str(row["p"]))
                if name is not None and row["o"] in self._tails and (self._names is None or name in self._names):
                    head = iri_in(row, "s")
                    edges[head].append(StatementRow(head, name, statement(row, "st"), row["o"]))
            order = row_order(Direction.OUTGOING)
            return {head: sorted(some, key=lambda one: (one.property, order(one))) for head, some in edges.items()}

        return await in_thread(len(read.rows), found), read.stop

    def _property_filter(self) -> Fragment:
        """The part of the query that restricts statements to the wanted properties; empty for all."""
        if self._names is None or len(self._names) > MAX_TERMS:
            return Fragment("")
        predicate = self._store.ids.claim if self._store.form.statements else self._store.ids.direct
        return self._store.reader.part(queries.OF_PROPERTIES, predicates=values(*map(predicate, sorted(self._names))))

    async def triples(self, edges: Sequence[tuple[URIRef, StatementRow]]) -> Sequence[Triple]:
        return await self._statements.triples([edge for _, edge in edges])


class RowSearch(matching.RowSearch[StatementRow, StatementRow]):
    """Searches the statements of properties at entities."""

    def __init__(self, store: Store, counts: CountReader, statements: StatementReader, request: SearchRequest) -> None:
        super().__init__(request)
        self._store = store
        self._counts = counts
        self._statements = statements

    async def find(self) -> tuple[Sequence[StatementRow], Stop]:
        relation_paths: Sequence[Path] | None = self._relation_paths
        if relation_paths is None:
            counts = await self._counts.at(self._anchors, self._direction, FarEndKind.ENTITY)
            relation_paths = await in_thread(len(self._anchors), lambda: [(path[0],) for path in counts.by_path()])
        names = [path[0] for path in relation_paths]
        reader, form, side = self._store.reader, self._store.form, self._direction
        outgoing = side is Direction.OUTGOING
        condition = self._far.part(reader, "?o" if outgoing else "?s", naming="rdfs:label", typing="$instance")
        kind = reader.filled(queries.KINDS[FarEndKind.ENTITY if outgoing else None])
        pattern = form.valued if outgoing else form.rows[side]
        branches = [
            branch(
                reader,
                number=place,
                row=Fragment("?s ?st ?o"),
                by=reader.part(queries.AROUND[side], s=values(*batch), rows=self._store.rows(pattern, name)),
                condition=Fragment(f"{kind} {condition.text}"),
            )
            for place, name in enumerate(names)
            for batch in batches(self._anchors, MAX_TERMS)
        ]
        read = await searched(reader, branches)
        return await in_thread(len(read.rows), lambda: self._in_order(read.rows, names)), read.stop

    def _in_order(self, read: Iterable[Row], names: Sequence[str]) -> list[StatementRow]:
        """The statements sorted by entity, then by property."""
        places = {one: place for place, one in enumerate(self._anchors)}
        order, outgoing = row_order(self._direction), self._direction is Direction.OUTGOING
        found = [statement_in_row(row, names[number_in(row, "number")]) for row in read]
        return sorted(
            found,
            key=lambda one: (places[one.head if outgoing else URIRef(str(one.value))], (one.property,), order(one)),
        )

    async def rows(self, found: Sequence[StatementRow]) -> Sequence[Sequence[StatementRow]]:
        return [[one] for one in found]

    async def triples(self, rows: Sequence[StatementRow]) -> Sequence[Triple]:
        return await self._statements.triples(rows)
