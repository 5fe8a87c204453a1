"""Search for statements around entities whose far ends match a request, all properties in one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.sparql import matching
from kgnav_mcp.adapters.sparql.matching import SearchQuestion, branch, searched
from kgnav_mcp.adapters.sparql.reading import Row, number
from kgnav_mcp.adapters.sparql.terms import Terms, batches, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.counts import CountReader, Path
from kgnav_mcp.adapters.wikidata.rows import found_in, row_order
from kgnav_mcp.adapters.wikidata.statements import Found, StatementReader
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction, Stop, Triple
from kgnav_mcp.port import TailKind


class RowSearch(matching.RowSearch[Found, Found]):
    """Searches the statements of properties at entities."""

    def __init__(self, store: Store, counts: CountReader, statements: StatementReader, asked: SearchQuestion) -> None:
        super().__init__(asked)
        self._store = store
        self._counts = counts
        self._statements = statements

    async def find(self) -> tuple[Sequence[Found], Stop]:
        paths: Sequence[Path] | None = self._paths
        if paths is None:
            counts = await self._counts.at(self._anchors, self._direction, TailKind.ENTITY)
            paths = await in_thread(len(self._anchors), lambda: [(path[0],) for path in counts.by_path()])
        names = [path[0] for path in paths]
        reader, form, side = self._store.reader, self._store.form, self._direction
        outgoing = side is Direction.OUTGOING
        fitting = self._far.part(reader, "?o" if outgoing else "?s", naming="rdfs:label", typing="$instance")
        kind = reader.filled(queries.KINDS[TailKind.ENTITY if outgoing else None])
        pattern = form.valued if outgoing else form.rows[side]
        branches = [
            branch(
                reader,
                number=place,
                row=Terms("?s ?st ?o"),
                by=reader.part(queries.AROUND[side], s=values(*batch), rows=self._store.rows(pattern, name)),
                fitting=Terms(f"{kind} {fitting.text}"),
            )
            for place, name in enumerate(names)
            for batch in batches(self._anchors)
        ]
        read = await searched(reader, branches)
        return await in_thread(len(read.rows), lambda: self._in_order(read.rows, names)), read.stop

    def _in_order(self, read: Iterable[Row], names: Sequence[str]) -> list[Found]:
        """The statements sorted by entity, then by property."""
        places = {one: place for place, one in enumerate(self._anchors)}
        order, outgoing = row_order(self._direction), self._direction is Direction.OUTGOING
        found = [found_in(row, names[number(row, "number")]) for row in read]
        return sorted(
            found,
            key=lambda one: (places[one.head if outgoing else URIRef(str(one.value))], (one.property,), order(one)),
        )

    async def rows(self, found: Sequence[Found]) -> Sequence[Sequence[Found]]:
        return [[one] for one in found]

    async def triples(self, rows: Sequence[Found]) -> Sequence[Triple]:
        return await self._statements.triples(rows)
