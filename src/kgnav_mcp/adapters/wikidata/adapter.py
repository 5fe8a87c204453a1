"""A Wikibase behind the port: every verb is answered by the reader of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx2
from rdflib import URIRef

from kgnav_mcp import __version__
from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.adapters.sparql.client import SparqlClient
from kgnav_mcp.adapters.sparql.manners import AT_ONCE, AT_ONCE_HERE, PoliteClient, manners_of, user_agent
from kgnav_mcp.adapters.sparql.reading import Reader
from kgnav_mcp.adapters.sparql.requests import Endpoint
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.base import found_in
from kgnav_mcp.adapters.wikidata.catalogue import Catalogues
from kgnav_mcp.adapters.wikidata.classes import Classes
from kgnav_mcp.adapters.wikidata.ids import Ids
from kgnav_mcp.adapters.wikidata.linking import Linker
from kgnav_mcp.adapters.wikidata.lists import ListReader
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.neighbours import NeighbourReader
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.adapters.wikidata.paging import Position
from kgnav_mcp.adapters.wikidata.queries import Form
from kgnav_mcp.adapters.wikidata.relations import RelationReader
from kgnav_mcp.adapters.wikidata.schema import VALUES_ONLY, SchemaReader
from kgnav_mcp.adapters.wikidata.search import JsonApi, VectorSearch, WikibaseSearch
from kgnav_mcp.adapters.wikidata.statements import StatementReader
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.adapters.wikidata.tallies import Tallies
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable, Unsupported
from kgnav_mcp.model import (
    Candidate,
    Count,
    Entity,
    Health,
    Literal,
    Namesake,
    Page,
    RelationFacts,
    Schema,
    Triple,
)
from kgnav_mcp.port import AdapterOptions, Capability, ValueOwner

_PRODUCT: Final = f"kgnav-mcp/{__version__}"
_LIBRARY: Final = f"httpx2/{httpx2.__version__}"
_COUNTED = 1_000_000
"""Statements counted at most to tell how large a graph is."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The readers of an open graph."""

    client: PoliteClient
    store: Store
    names: Names
    linker: Linker
    catalogues: Catalogues
    classes: Classes
    relations: RelationReader
    neighbours: NeighbourReader
    lists: ListReader
    schema: SchemaReader


class WikidataAdapter(DirectedAdapter):
    """One endpoint with one Wikibase.

    Triples are statements: their qualifiers, a rank other than the normal one and the number of references are the
    triple's qualifiers. Labels are no triples but names. A count at a hub of a slow endpoint is a lower bound
    (EXACT_COUNTS is not declared), and people edit between two pages (neither is STABLE_CURSORS). Of a truthy dump,
    which opening tells, triples are values alone (without QUALIFIERS).
    """

    capabilities: frozenset[Capability] = frozenset({Capability.QUALIFIERS, Capability.LABELS})

    def __init__(self, location: str, options: AdapterOptions) -> None:
        self._wikidata = Wikidata.read(location, options)
        self._options = options
        self._opened: _Opened | None = None

    async def open(self) -> None:
        if self._opened is not None:
            return
        client = self._client()
        try:
            reader = Reader(client, {}, self._options.timeout, prologue=queries.PREFIXES)
            ids, form = await found_in(reader, self._wikidata)
            opened = self._made(client, ids, form)
            await opened.catalogues.open()
        except BaseException:
            await client.close()
            raise
        self._opened = opened
        if not form.statements:
            self.capabilities -= {Capability.QUALIFIERS}

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.catalogues.close()
            await opened.linker.close()
            await opened.client.close()

    @property
    def revision(self) -> str:
        """The endpoint and what of it is shown: that a graph was edited cannot be told from it."""
        opened = self._readers()
        shown = "all" if self._wikidata.every_rank else "truthy" if opened.store.form.statements else "values"
        place = Endpoint.parse(self._wikidata.endpoint).name
        return f"{place} {self._wikidata.graph or ''} {opened.store.ids.base} {shown}"

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        opened = self._readers()
        meant = {reference: iri for reference in ids if (iri := opened.store.ids.entity(reference)) is not None}
        described = await opened.names.described(list(meant.values()))
        return {reference: described[iri] for reference, iri in meant.items() if iri in described}

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._readers().linker.named(name, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        opened = self._readers()
        classes = (await opened.classes.called(label)).classes if label is not None else None
        return await opened.linker.find(hint, classes, limit)

    def printed(self, ids: Sequence[str]) -> Mapping[str, str]:
        own = self._readers().store.ids
        return {each: own.shown(iri) for each in ids if (iri := own.entity(each)) is not None}

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        if asked.hops != 1:
            raise _no_mediators()
        anchors = self._anchors(asked.ids)
        if not anchors:
            return Page((), (), Count(0))
        return await self._readers().relations.page(
            anchors, asked.direction, far_ends=asked.far_ends, examples=asked.examples, limit=asked.limit
        )

    async def rows_in(self, asked: RowQuestion) -> Page[Triple]:
        if asked.paths is not None and any(len(path) != 1 for path in asked.paths):
            raise _no_mediators()
        opened, anchors = self._readers(), self._anchors(asked.ids)
        only = None
        if asked.paths is not None:
            meant = (opened.store.ids.property(path[0]) for path in asked.paths)
            only = list(dict.fromkeys(local for local in meant if local is not None))
        if not anchors or only == []:
            if asked.after is not None:
                Position.parse(asked.after)
            return Page((), (), Count(0))
        return await opened.neighbours.page(
            anchors,
            asked.direction,
            only=only,
            far_ends=asked.far_ends,
            limit=asked.limit,
            after=asked.after,
            whole=asked.all_or_none,
        )

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...]:
        value = self._readers().store.ids.entity(entity)
        return () if value is None else await self._readers().neighbours.qualified(value, limit)

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return await self._readers().lists.nodes(label, property_name, value, limit, after)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        lists = self._readers().lists
        if kind is ValueOwner.RELATIONSHIP and Capability.QUALIFIERS not in self.capabilities:
            raise Unsupported(
                "this copy of a Wikibase has values only (a truthy dump), so that its relations have no qualifiers",
                next_step="Ask for the values of a property of nodes (entity_type='node').",
            )
        read = lists.values if kind is ValueOwner.NODE else lists.roles
        return await read(property_name, owner, limit, after)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self._readers().schema
        return await (reader.overview(limit) if name is None else reader.around(name, limit))

    async def health(self) -> Health:
        opened, wikidata = self._readers(), self._wikidata
        try:
            size = await opened.store.reader.count(queries.ROW_COUNT, most=_COUNTED)
        except StoreTimeout:
            size = Count.unknown()
        advice: list[str] = []
        if size == Count(0):
            advice.append(
                f"No statements of {opened.store.ids.base} are here (wikibase:BestRank): correct the graph's address, "
                "the option base or the option graph."
            )
        if not len(opened.catalogues.current):
            advice.append(f"Properties are shown by their ids, and nothing is hidden: {opened.catalogues.fault}.")
        elif opened.catalogues.fault:
            advice.append(f"Some properties may be shown by their ids: {opened.catalogues.fault}.")
        if not wikidata.search and not wikidata.scans:
            advice.append(
                "Entities are found by their very labels only: set contact, with which the search of Wikidata is used."
            )
        store = f"Wikibase {opened.store.ids.base} on {wikidata.host}, {len(opened.catalogues.current):,} properties"
        if not opened.store.form.statements:
            store += f"; {VALUES_ONLY}"
        return Health(True, store, Count.unknown(), size, tuple(advice))

    def _client(self) -> PoliteClient:
        wikidata, timeout = self._wikidata, self._options.timeout
        agent = user_agent(_PRODUCT, wikidata.contact, _LIBRARY)
        client = SparqlClient(wikidata.endpoint, timeout=timeout, default_graph=wikidata.graph, user_agent=agent)
        at_once = AT_ONCE_HERE if Endpoint.parse(wikidata.endpoint).is_local else AT_ONCE
        return PoliteClient(client, manners_of(wikidata.host, at_once=at_once), patience=timeout)

    def _made(self, client: PoliteClient, ids: Ids, form: Form) -> _Opened:
        wikidata = self._wikidata
        store = Store(client, wikidata, ids, form, self._options)
        catalogues = Catalogues(store)
        names = Names(store, catalogues)
        search = WikibaseSearch(self._api(wikidata.search)) if wikidata.search else None
        by_meaning = wikidata.vectors if wikidata.vector_search else ""
        linker = Linker(store, names, search, VectorSearch(self._api(by_meaning)) if by_meaning else None)
        classes = Classes(store, names, linker.named)
        tallies = Tallies(store, catalogues)
        statements = StatementReader(store, names, catalogues)
        return _Opened(
            client=client,
            store=store,
            names=names,
            linker=linker,
            catalogues=catalogues,
            classes=classes,
            relations=RelationReader(store, catalogues, tallies, statements),
            neighbours=NeighbourReader(store, catalogues, tallies, statements),
            lists=ListReader(
                store,
                names=names,
                catalogues=catalogues,
                classes=classes,
                statements=statements,
                named=linker.named,
            ),
            schema=SchemaReader(store, names, catalogues, classes),
        )

    def _api(self, address: str) -> JsonApi:
        agent = user_agent(_PRODUCT, self._wikidata.contact, _LIBRARY)
        return JsonApi(address, agent=agent, timeout=self._options.timeout)

    def _readers(self) -> _Opened:
        if self._opened is None:
            raise StoreUnavailable("the graph is not open", next_step="Open the graph first.")
        return self._opened

    def _anchors(self, ids: Sequence[str]) -> list[URIRef]:
        """The entities that ids mean, each once; a text that is no id means none."""
        meant = map(self._readers().store.ids.entity, ids)
        return list(dict.fromkeys(iri for iri in meant if iri is not None))


def _no_mediators() -> Unsupported:
    return Unsupported(
        "a Wikibase has no mediators, so that every relation has one hop",
        next_step="Follow one relation, then the next; what a mediator would say are the qualifiers of a row.",
    )
