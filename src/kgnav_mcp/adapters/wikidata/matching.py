"""Search for statements around entities whose far ends match a request, all properties in one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base import matching
from kgnav_mcp.adapters.sparql_base.matching import SearchRequest, branch, searched
from kgnav_mcp.adapters.sparql_base.query_reader import Row, number_in
from kgnav_mcp.adapters.sparql_base.terms import Fragment, batches, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.counts import CountReader, Path
from kgnav_mcp.adapters.wikidata.rows import row_order, statement_in_row
from kgnav_mcp.adapters.wikidata.statements import StatementReader, StatementRow
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction, Stop, Triple
from kgnav_mcp.port import FarEndKind


class RowSearch(matching.RowSearch[StatementRow, StatementRow]):
    """Searches the statements of properties at entities."""

    def __init__(self, store: Store, counts: CountReader, statements: StatementReader, asked: SearchRequest) -> None:
        super().__init__(asked)
        self._store = store
        self._counts = counts
        self._statements = statements

    async def find(self) -> tuple[Sequence[StatementRow], Stop]:
        paths: Sequence[Path] | None = self._paths
        if paths is None:
            counts = await self._counts.at(self._anchors, self._direction, FarEndKind.ENTITY)
            paths = await in_thread(len(self._anchors), lambda: [(path[0],) for path in counts.by_path()])
        names = [path[0] for path in paths]
        reader, form, side = self._store.reader, self._store.form, self._direction
        outgoing = side is Direction.OUTGOING
        fitting = self._far.part(reader, "?o" if outgoing else "?s", naming="rdfs:label", typing="$instance")
        kind = reader.filled(queries.KINDS[FarEndKind.ENTITY if outgoing else None])
        pattern = form.valued if outgoing else form.rows[side]
        branches = [
            branch(
                reader,
                number=place,
                row=Fragment("?s ?st ?o"),
                by=reader.part(queries.AROUND[side], s=values(*batch), rows=self._store.rows(pattern, name)),
                fitting=Fragment(f"{kind} {fitting.text}"),
            )
            for place, name in enumerate(names)
            for batch in batches(self._anchors)
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
