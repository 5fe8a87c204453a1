"""The adapter for Freebase on Virtuoso: the generic adapter with Freebase's ids and queries for Virtuoso."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlencode

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache, ListReader, PatternWriter
from kgnav_mcp.adapters.freebase.names import EntityFinder, Names
from kgnav_mcp.adapters.freebase.relations import CountReader, RelationReader
from kgnav_mcp.adapters.freebase.rows import RowReader
from kgnav_mcp.adapters.freebase.store import Freebase, Store
from kgnav_mcp.adapters.generic_sparql.adapter import EndpointAdapter, Opened
from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.around.row_readers import row_readers
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.queries import SIZE
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, number_in
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.adapters.sparql_base.requests import GRAPH, Address
from kgnav_mcp.adapters.sparql_base.schema import SchemaReader
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import InvalidStore, StoreTimeout
from kgnav_mcp.model import Count, Health, Page, Stop
from kgnav_mcp.port import AdapterOptions, Capability

T = TypeVar("T")

_MAX_COUNTED = 50_000_000
"""Maximum number of triples counted when a graph is opened: 0.7 seconds."""
_TOO_MANY_NAMES = "the graph could not be determined in time: the store has too many names"


class FreebaseAdapter(EndpointAdapter):
    """One graph of one endpoint.

    Capabilities that are not declared: QUALIFIERS, because edges of Freebase have no properties; FUZZY_NAMES, because
    not every misspelt word is found; STABLE_CURSORS, because the graph may change between pages. The roles of a
    mediator take the place of qualifiers; the verb `values` lists them where a relation leads to mediators.

    Virtuoso checks every two seconds whether a caller has left, and then stops its query, except for a count that runs
    on several threads. Only an administrator can stop that in another way. Therefore every query carries a time limit
    a little below the time-out, and stops at the next check. The time-out should be below the operator's own limit,
    MaxQueryExecutionTime: such a count continues even after Virtuoso has reported that limit as an error.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.EXACT_COUNTS, Capability.MEDIATORS, Capability.LABELS, Capability.PLANS}
    )

    def __init__(self, location: str, options: AdapterOptions) -> None:
        self._freebase = Freebase.read(location, options)
        super().__init__(location, options, self._freebase)

    async def health(self) -> Health:
        opened, (graph,) = self._readers, self._endpoint.graphs
        triples = await _count_triples(opened.store.reader)
        advice: list[str] = []
        if not triples.value:
            advice.append(f"The graph {graph} is empty: choose another with the option graph.")
        elif not await opened.entity_finder.full_text():
            advice.append(
                "Names are not in Virtuoso's full-text index, so searching by words reads all of them. Run: "
                f"DB.DBA.RDF_OBJ_FT_RULE_ADD('{graph}', null, 'all')."
            )
        store = f"Freebase on {self._endpoint.host}, graph {graph}"
        return Health(True, store, Count.unknown(), triples, tuple(advice))

    async def _connect(self, *, named: bool = True) -> Client:
        await self._check_store()
        if named and not self._endpoint.graphs:
            self._endpoint = replace(self._endpoint, graphs=(await self._only_graph(),))
        return self._client(self._endpoint.graphs if named else ())

    async def _check_store(self) -> None:
        """Check that the store is Virtuoso. One that its answers do not identify may be a Virtuoso behind a proxy.

        Raises:
            InvalidStore: it is another store, which does not have the functions that the queries use.
        """
        client = self._client((), PLAIN)
        try:
            dialect = await client.detect()
        finally:
            await client.close()
        if dialect not in {VIRTUOSO, PLAIN}:
            address = Address.parse(self._endpoint.address).name
            graph = "".join(f"?{urlencode({GRAPH: graph})}" for graph in self._endpoint.graphs)
            raise InvalidStore(
                f"the store at {address} is {dialect.title}; freebase+http:// is for Virtuoso alone",
                next_step=f"Write the graph's address as sparql+{address}{graph}.",
            )

    async def _create_readers(self, client: Client) -> Opened:
        triples = await _count_triples(Reader(client, {}, self._options.timeout, dialect=VIRTUOSO))
        store = await Store.checked(client, self._freebase, self._options)
        names, counts = Names(store), CountReader(store)
        catalogues, entity_finder = CatalogueCache(store, names, triples), EntityFinder(store, names)
        return Opened(
            client=client,
            entity_finder=entity_finder,
            lists=ListReader(store, names, entity_finder, catalogues),
            schema=SchemaReader(store.reader, names, catalogues.get),
            store=store,
            names=names,
            catalogues=catalogues,
            relations=RelationReader(store, names, counts),
            **row_readers(store.reader, counts, partial(RowReader, store, names, counts)),
            hops_searched=2,
            matches=MatchReader(store.reader, names, PatternWriter(store, entity_finder.naming, catalogues)),
            triples=triples,
        )

    async def _only_graph(self) -> str:
        """Find the only graph of the endpoint that has names.

        Raises:
            InvalidStore: there is none, or there are several.
            StoreTimeout: not all names could be read in time.
        """
        step = "Choose one with the option graph, or by appending ?default-graph-uri=IRI to the graph's address."
        client = self._client(())
        try:
            read = await Store.of(client, self._freebase, self._options).reader.select(queries.GRAPHS)
        except StoreTimeout as error:
            raise StoreTimeout(error.seconds, _TOO_MANY_NAMES, next_step=step) from error
        finally:
            await client.close()
        graphs = sorted(str(row["g"]) for row in read.rows)
        if read.stop is Stop.TIME_OUT and len(graphs) < 2:
            raise StoreTimeout(None, _TOO_MANY_NAMES, next_step=step)
        if len(graphs) == 1:
            return graphs[0]
        if not graphs:
            name = self._freebase.ids.short(self._freebase.names[0])
            raise InvalidStore(f"no graph of this endpoint has entities with a {name}", next_step=step)
        raise InvalidStore(f"this endpoint has several graphs: {', '.join(graphs)}", next_step=step)

    def _client(self, graphs: Sequence[str], dialect: Dialect = VIRTUOSO) -> SparqlClient:
        timeout = self._options.timeout
        return SparqlClient(self._endpoint.address, timeout=timeout, default_graph=graphs or None, dialect=dialect)

    def _checked_page(self, page: Page[T]) -> Page[T]:
        """Refuse a page that is empty only because the time was over.

        Raises:
            StoreTimeout: the page is empty for that reason, and must not look like the answer that there is nothing.
        """
        if page.stop is Stop.TIME_OUT and not page.items:
            raise errors.stopped_by_store()
        return page


async def _count_triples(reader: Reader) -> Count:
    """Count the triples.

    Raises:
        StoreTimeout: they could not be counted in time. A partial count would make a wrong revision.
    """
    (row,) = (await reader.select(SIZE, most=_MAX_COUNTED)).all_rows()
    size = number_in(row, "n")
    return Count(size) if size < _MAX_COUNTED else Count.at_least(size)
