"""The Wikidata adapter. Each verb of the port is answered by a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.options import absent_name
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base.adapter import Readers, SparqlAdapter
from kgnav_mcp.adapters.sparql_base.client import LIBRARY, USER_AGENT, create_client
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.rate_limit import MAX_CONCURRENT_LOCAL, Client, user_agent
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.counts import CountReader, Path, RelationReader
from kgnav_mcp.adapters.wikidata.entity_finder import EntityFinder, JsonApi, VectorSearch, WikibaseSearch
from kgnav_mcp.adapters.wikidata.lists import ListReader
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.plans import PatternWriter
from kgnav_mcp.adapters.wikidata.rows import EdgeReader, RowReader, RowSearch, qualified
from kgnav_mcp.adapters.wikidata.schema import VALUES_ONLY, Classes, SchemaReader
from kgnav_mcp.adapters.wikidata.statements import StatementReader
from kgnav_mcp.adapters.wikidata.store import INSTANCE_OF, SUBCLASS, WIKIDATA, Store, Wikidata, detect_wikibase
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Health, Page, RelationFacts, Triple
from kgnav_mcp.port import AdapterOptions, Capability

_MAX_COUNTED = 1_000_000
"""Statements are counted up to this number to report the size of a graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened(Readers):
    """The readers of an open graph."""

    store: Store
    entity_finder: EntityFinder
    catalogues: CatalogueCache
    statements: StatementReader


class WikidataAdapter(SparqlAdapter[_Opened, URIRef, Path]):
    """One endpoint with one Wikibase.

    A triple is a statement. Its qualifiers are those of the statement, its rank unless that is normal, and its number
    of references. Labels are names, not triples. Counts at a hub of a slow endpoint are lower bounds, so EXACT_COUNTS
    is not declared; the data may be edited between two pages, so STABLE_CURSORS is not declared either. In a truthy
    dump, which `open` detects, triples are values without statements, and QUALIFIERS is removed from the capabilities.
    """

    capabilities: frozenset[Capability] = frozenset({Capability.QUALIFIERS, Capability.LABELS, Capability.PLANS})

    def __init__(self, location: str, options: AdapterOptions) -> None:
        super().__init__()
        self._wikidata = Wikidata.read(location, options)
        self._options = options

    async def open(self) -> None:
        await super().open()
        if not self._readers.store.form.statements:
            self.capabilities -= {Capability.QUALIFIERS}

    async def close(self) -> None:
        opened = self._opened
        if opened is not None:
            await opened.catalogues.close()
            await opened.entity_finder.close()
        await super().close()

    @property
    def revision(self) -> str:
        """The endpoint, and which of its statements are shown. It does not change when the data is edited."""
        opened = self._readers
        shown = "all" if self._wikidata.every_rank else "truthy" if opened.store.form.statements else "values"
        place = Address.parse(self._wikidata.endpoint).name
        return f"{place} {self._wikidata.graph or ''} {opened.store.ids.base} {shown}"

    @property
    def subclass_relations(self) -> frozenset[str]:
        """Wikidata's `subclass of`. Empty for another Wikibase, which does not say which property this is."""
        ids = self._readers.store.ids
        return frozenset({ids.relation(SUBCLASS)} if ids.base == WIKIDATA else ())

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...]:
        value = self._readers.entity_finder.naming.iri(entity)
        opened = self._readers
        return () if value is None else await qualified(opened.store, opened.statements, value, limit)

    async def health(self) -> Health:
        opened, wikidata = self._readers, self._wikidata
        try:
            size = await opened.store.reader.count(queries.ROW_COUNT, most=_MAX_COUNTED)
        except StoreTimeout:
            size = Count.unknown()
        advice: list[str] = []
        if size == Count(0):
            advice.append(
                f"The store has no statements (wikibase:BestRank) of {opened.store.ids.base}: correct the graph's "
                f"address, "
                "the option base or the option graph."
            )
        if not len(opened.catalogues.current):
            advice.append(f"Properties are shown by their ids, and nothing is hidden: {opened.catalogues.fault}.")
        elif opened.catalogues.fault:
            advice.append(f"Some properties may be shown by their ids: {opened.catalogues.fault}.")
        if not wikidata.search and not wikidata.scans:
            advice.append("Entities are found by exact labels only: set contact to use the search of Wikidata.")
        store = f"Wikibase {opened.store.ids.base} on {wikidata.host}, {len(opened.catalogues.current):,} properties"
        if not opened.store.form.statements:
            store += f"; {VALUES_ONLY}"
        return Health(True, store, Count.unknown(), size, tuple(advice))

    async def _connect(self) -> Client:
        wikidata = self._wikidata
        return create_client(
            wikidata.endpoint,
            contact=wikidata.contact,
            timeout=self._options.timeout,
            graphs=() if wikidata.graph is None else [wikidata.graph],
            local_limit=MAX_CONCURRENT_LOCAL,
            dialect=wikidata.dialect,
        )

    async def _read(self, client: Client) -> _Opened:
        wikidata = self._wikidata
        await client.detect()
        ids, form = await detect_wikibase(
            Reader(client, {}, self._options.timeout, prologue=queries.PREFIXES), wikidata
        )
        store = Store(client, wikidata, ids, form, self._options)
        catalogues = CatalogueCache(store)
        names = Names(store, catalogues)
        search = WikibaseSearch(self._api(wikidata.search)) if wikidata.search else None
        by_meaning = wikidata.vectors if wikidata.vector_search else ""
        entity_finder = EntityFinder(store, names, search, VectorSearch(self._api(by_meaning)) if by_meaning else None)
        classes = Classes(store, names, entity_finder.named)
        counts = CountReader(store, catalogues)
        statements = StatementReader(store, names, catalogues)
        await catalogues.open()
        await self._check_instance_of(store, catalogues)
        return _Opened(
            client=client,
            entity_finder=entity_finder,
            lists=ListReader(
                store, entity_finder, names=names, catalogues=catalogues, classes=classes, statements=statements
            ),
            schema=SchemaReader(store, names, catalogues, classes),
            store=store,
            catalogues=catalogues,
            statements=statements,
            relations=RelationReader(store, catalogues, counts, statements),
            search=lambda request: RowSearch(store, counts, statements, request),
            rows=lambda anchors, request: RowReader(store, catalogues, counts, statements, (anchors, request)),
            edges=lambda _, tails, relation_paths, __: EdgeReader(store, statements, tails, relation_paths),
            matches=MatchReader(
                store.reader, entity_finder.names, PatternWriter(store, entity_finder.naming, catalogues)
            ),
        )

    async def _check_instance_of(self, store: Store, catalogues: CatalogueCache) -> None:
        """Check that items have the property that the option `instance_of` names.

        Raises:
            ConfigurationError: no item has it.
        """
        local = self._wikidata.instance_of
        if local != INSTANCE_OF and not await store.reader.used([store.ids.direct(local)]):
            raise absent_name("instance_of", "relation", local, (one.id for one in catalogues.current.properties))

    def _api(self, address: str) -> JsonApi:
        agent = user_agent(USER_AGENT, self._wikidata.contact, LIBRARY)
        return JsonApi(address, agent=agent, timeout=self._options.timeout)

    async def _anchors(self, ids: Sequence[str]) -> Sequence[URIRef]:
        return await self._iris(ids)

    def _relation_paths(self, relation_paths: Sequence[tuple[str, ...]]) -> Sequence[Path]:
        if any(len(path) != 1 for path in relation_paths):
            raise _no_mediators()
        meant = (self._readers.store.ids.property(path[0]) for path in relation_paths)
        return list(dict.fromkeys((local,) for local in meant if local is not None))

    async def _relations(self, anchors: Sequence[URIRef], request: RelationRequest) -> Page[RelationFacts]:
        if request.hops != 1:
            raise _no_mediators()
        return await super()._relations(anchors, request)


def _no_mediators() -> Unsupported:
    return Unsupported(
        "a Wikibase has no mediators, so all relations have one hop",
        next_step="Follow one relation, then the next. Qualifiers have what a mediator would have.",
    )
