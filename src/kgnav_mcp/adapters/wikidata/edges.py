"""Statements from one set of entities to another.

They are read from the heads: an entity has few outgoing statements, even if very many point at it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.paging.neighbours import EdgeSource
from kgnav_mcp.adapters.sparql_base.query_reader import iri_in
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.counts import Path
from kgnav_mcp.adapters.wikidata.rows import row_order
from kgnav_mcp.adapters.wikidata.statements import StatementReader, StatementRow, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction, Stop, Triple


class EdgeReader(EdgeSource[URIRef, StatementRow]):
    """Reads the statements of entities whose value is one of the tails."""

    def __init__(
        self, store: Store, statements: StatementReader, tails: Sequence[URIRef], paths: Sequence[Path] | None
    ) -> None:
        self._store = store
        self._statements = statements
        self._tails = frozenset(tails)
        self._names = None if paths is None else {path[0] for path in paths}

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
