"""The adapter for Freebase on Virtuoso. Each verb is passed to its reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache
from kgnav_mcp.adapters.freebase.counts import CountReader
from kgnav_mcp.adapters.freebase.entity_finder import EntityFinder
from kgnav_mcp.adapters.freebase.lists import ListReader
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.freebase.pattern_writer import PatternWriter
from kgnav_mcp.adapters.freebase.relations import RelationReader
from kgnav_mcp.adapters.freebase.rows import RowReader
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.options import absent_name
from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.adapter import Readers, SparqlAdapter
from kgnav_mcp.adapters.sparql_base.around.counts import Path
from kgnav_mcp.adapters.sparql_base.around.edges import EdgeReader
from kgnav_mcp.adapters.sparql_base.around.matching import RowSearch
from kgnav_mcp.adapters.sparql_base.around.rows import to_entities
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.location import GRAPH
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.queries import SIZE
from kgnav_mcp.adapters.sparql_base.query_reader import number_in
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.adapters.sparql_base.schema import SchemaReader
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import InvalidStore, StoreTimeout
from kgnav_mcp.model import Count, Direction, Health, Page, Stop
from kgnav_mcp.port import AdapterOptions, Capability

T = TypeVar("T")

_MAX_COUNTED = 50_000_000
"""Maximum number of triples counted when a graph is opened: 0.7 seconds."""
_TOO_MANY_NAMES = "the store has too many names to find out in time which of its graphs is meant"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened(Readers):
    """The readers of an open graph."""

    store: Store
    linker: EntityFinder
    graph: str
    triples: Count


class FreebaseAdapter(SparqlAdapter[_Opened, URIRef, Path]):
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
        super().__init__()
        self._freebase = Freebase.read(location, options)
        self._options = options
        self._graph_iri: str | None = None

    @property
    def revision(self) -> str:
        """The graph, and its number of triples when it was opened, counted up to 50 million in a second."""
        opened = self._readers
        return f"{opened.graph} {opened.triples.value}"

    @property
    def class_relations(self) -> frozenset[str]:
        return frozenset({self._freebase.ids.short(self._freebase.relations["type"])})

    async def health(self) -> Health:
        opened = self._readers
        triples = await self._count_triples(opened.store)
        advice: list[str] = []
        if not triples.value:
            advice.append(f"The graph {opened.graph} is empty: name another with the option graph.")
        elif not await opened.linker.full_text():
            advice.append(
                "Names are not in Virtuoso's full-text index, so that finding one by its words reads them all: "
                f"run DB.DBA.RDF_OBJ_FT_RULE_ADD('{opened.graph}', null, 'all')."
            )
        host = urlsplit(self._freebase.endpoint).hostname
        return Health(True, f"Freebase on {host}, graph {opened.graph}", Count.unknown(), triples, tuple(advice))

    async def _connect(self) -> Client:
        await self._check_store()
        return self._client(await self._graph())

    async def _check_store(self) -> None:
        """Check that the store is Virtuoso. One that its answers do not identify may be a Virtuoso behind a proxy.

        Raises:
            InvalidStore: it is another store, which does not have the functions that the queries use.
        """
        client = self._client(None, PLAIN)
        try:
            dialect = await client.detect()
        finally:
            await client.close()
        if dialect not in {VIRTUOSO, PLAIN}:
            address = Address.parse(self._freebase.endpoint).name
            graph = f"?{urlencode({GRAPH: self._freebase.graph})}" if self._freebase.graph else ""
            raise InvalidStore(
                f"the store at {address} is {dialect.title}; freebase+http:// is for Virtuoso alone",
                next_step=f"Write the graph's address as sparql+{address}{graph}.",
            )

    async def _check_relations(self, store: Store, catalogues: CatalogueCache) -> None:
        """Check that the graph has the relations that its options name.

        Raises:
            ConfigurationError: one is missing. The error has the nearest.
        """
        stated = {option: self._freebase.relations[option] for option in self._freebase.stated}
        used = await store.reader.used(stated.values())
        short = self._freebase.ids.short
        for option, relation in stated.items():
            if relation not in used:
                known = (await catalogues.get()).relations
                raise absent_name(option, "relation", short(relation), map(short, known))

    async def _read(self, client: Client) -> _Opened:
        store = Store(client, self._freebase, self._options)
        triples = await self._count_triples(store)
        names, counts = Names(store), CountReader(store)
        catalogues, linker = CatalogueCache(store, names, triples), EntityFinder(store, names)
        if triples != Count(0):
            await self._check_relations(store, catalogues)
        return _Opened(
            client=client,
            linker=linker,
            lists=ListReader(store, linker, catalogues),
            schema=SchemaReader(store.reader, names, catalogues.get),
            store=store,
            relations=RelationReader(store, names, counts),
            rows=lambda anchors, asked: RowReader(store, names, counts, anchors, asked),
            search=lambda asked: RowSearch(
                store.reader, RowReader(store, names, counts, (), to_entities(asked.direction)), counts, asked
            ),
            hops_searched=2,
            edges=lambda heads, tails, paths, bare: EdgeReader(
                RowReader(store, names, counts, heads, to_entities(Direction.OUTGOING, bare=bare)), counts, tails, paths
            ),
            matches=MatchReader(store.reader, linker.names, PatternWriter(store, linker.naming, catalogues)),
            graph=await self._graph(),
            triples=triples,
        )

    async def _graph(self) -> str:
        if self._graph_iri is None:
            self._graph_iri = self._freebase.graph or await self._only_graph()
        return self._graph_iri

    async def _only_graph(self) -> str:
        """Find the only graph of the endpoint that has names.

        Raises:
            InvalidStore: there is none, or there are several.
            StoreTimeout: not all names could be read in time.
        """
        step = "Name one with the option graph, or with ?default-graph-uri=IRI behind the graph's address."
        client = self._client(None)
        try:
            read = await Store(client, self._freebase, self._options).reader.select(queries.GRAPHS)
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
            name = self._freebase.ids.short(self._freebase.relations["name"])
            raise InvalidStore(f"no graph of this endpoint has entities with a {name}", next_step=step)
        raise InvalidStore(f"this endpoint has several graphs: {', '.join(graphs)}", next_step=step)

    def _client(self, graph: str | None, dialect: Dialect = VIRTUOSO) -> SparqlClient:
        timeout = self._options.timeout
        return SparqlClient(self._freebase.endpoint, timeout=timeout, default_graph=graph, dialect=dialect)

    @staticmethod
    async def _count_triples(store: Store) -> Count:
        """Count the triples.

        Raises:
            StoreTimeout: they could not be counted in time. A partial count would make a wrong revision.
        """
        (row,) = (await store.reader.select(SIZE, most=_MAX_COUNTED)).all_rows()
        size = number_in(row, "n")
        return Count(size) if size < _MAX_COUNTED else Count.at_least(size)

    async def _anchors(self, ids: Sequence[str]) -> Sequence[URIRef]:
        return await self._iris(ids)

    def _paths(self, paths: Sequence[tuple[str, ...]]) -> list[Path]:
        return self._freebase.ids.paths(paths)

    def _checked_page(self, page: Page[T]) -> Page[T]:
        """Refuse a page that is empty only because the time was over.

        Raises:
            StoreTimeout: the page is empty for that reason, and must not look like the answer that there is nothing.
        """
        if page.stop is Stop.TIME_OUT and not page.items:
            raise errors.stopped_by_store()
        return page
