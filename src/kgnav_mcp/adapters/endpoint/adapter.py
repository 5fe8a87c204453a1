"""A SPARQL endpoint behind the port: every verb is answered by the reader of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from rdflib import URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import Catalogues
from kgnav_mcp.adapters.endpoint.linking import Linker
from kgnav_mcp.adapters.endpoint.lists import ListReader
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.neighbours import NeighbourReader
from kgnav_mcp.adapters.endpoint.options import GRAPH, Endpoint
from kgnav_mcp.adapters.endpoint.relations import RelationReader
from kgnav_mcp.adapters.endpoint.schema import SchemaReader
from kgnav_mcp.adapters.endpoint.store import Anchor, Store
from kgnav_mcp.adapters.endpoint.tallies import Tallies
from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.adapters.sparql.client import USER_AGENT, SparqlClient
from kgnav_mcp.adapters.sparql.manners import PoliteClient, manners_of, user_agent
from kgnav_mcp.adapters.sparql.paging import Position
from kgnav_mcp.adapters.sparql.reading import Read, Reader
from kgnav_mcp.adapters.sparql.requests import Endpoint as Address
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable
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

_COUNTED = 200_000
"""Triples counted at most when a graph is opened: 0.1 seconds on Oxigraph."""
_MEASURED = 20_000_000
"""Triples counted at most where somebody asks how large a graph is."""
_COUNT_SHARE = 0.3
"""Of a call's time; an endpoint that takes longer has a graph of an unknown size."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The readers of an open graph."""

    client: PoliteClient | SparqlClient
    store: Store
    names: Names
    linker: Linker
    catalogues: Catalogues
    relations: RelationReader
    neighbours: NeighbourReader
    lists: ListReader
    schema: SchemaReader
    triples: Count


class EndpointAdapter(DirectedAdapter):
    """One graph of one endpoint.

    EXACT_COUNTS is not declared: an endpoint that does not count a hub in time gives lower bounds, and says so.
    Misspelt words are not forgiven (FUZZY_NAMES), and the graph may be written to between pages (STABLE_CURSORS).
    """

    capabilities: frozenset[Capability] = frozenset({Capability.MEDIATORS, Capability.LABELS, Capability.QUALIFIERS})

    def __init__(self, location: str, options: AdapterOptions) -> None:
        self._endpoint = Endpoint.read(location, options)
        self._options = options
        self._opened: _Opened | None = None

    async def open(self) -> None:
        if self._opened is None:
            self._opened = await self._open()

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.client.close()

    @property
    def revision(self) -> str:
        """The graphs and how many triples they had when they were opened: up to 200,000 are counted."""
        return f"{' '.join(self._endpoint.graphs)} {self._readers().triples.value}"

    @property
    def class_relations(self) -> frozenset[str]:
        return frozenset(map(self._endpoint.ids.short, self._endpoint.types))

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        opened = self._readers()
        anchors = await self._meant(ids)
        described = await opened.names.described(one for one in anchors.values() if isinstance(one, URIRef))
        found: dict[str, Entity] = {}
        for reference, anchor in anchors.items():
            if not isinstance(anchor, URIRef):
                found[reference] = await opened.names.blank(anchor)
            elif anchor in described:
                found[reference] = described[anchor]
        return found

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._readers().linker.named(name, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        opened = self._readers()
        types: Sequence[URIRef] | None = None
        if label is not None:
            types = (await opened.catalogues.get()).types_called(label, self._endpoint.ids.iri(label))
        return await opened.linker.find(hint, types, limit)

    def printed(self, ids: Sequence[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for each in ids:
            iri = self._endpoint.ids.iri(each)
            found[each] = each if iri is None else self._endpoint.ids.short(iri)
        return found

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        anchors = await self._anchors(asked.ids)
        if not anchors:
            return Page((), (), Count(0))
        return await self._readers().relations.page(
            anchors,
            asked.direction,
            hops=asked.hops,
            far_ends=asked.far_ends,
            examples=asked.examples,
            limit=asked.limit,
        )

    async def rows_in(self, asked: RowQuestion) -> Page[Triple]:
        anchors = await self._anchors(asked.ids)
        wanted = None if asked.paths is None else self._endpoint.ids.paths(asked.paths)
        if not anchors or wanted == []:
            if asked.after is not None:
                Position.parse(asked.after)
            return Page((), (), Count(0))
        return await self._readers().neighbours.page(
            anchors,
            asked.direction,
            paths=wanted,
            far_ends=asked.far_ends,
            limit=asked.limit,
            after=asked.after,
            whole=asked.all_or_none,
        )

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        value = self._endpoint.ids.iri(entity)
        return None if value is None else await self._readers().neighbours.qualified(value, limit)

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return await self._readers().lists.nodes(label, property_name, value, limit, after)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        lists = self._readers().lists
        read = lists.values if kind is ValueOwner.NODE else lists.edge_values
        return await read(property_name, owner, limit, after)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self._readers().schema
        return await (reader.overview(limit) if name is None else reader.around(name, limit))

    async def health(self) -> Health:
        opened = self._readers()
        host = urlsplit(self._endpoint.address).hostname
        graphs = ", ".join(self._endpoint.graphs) or "the default graph"
        store = f"SPARQL endpoint on {host}, {graphs}"
        if notations := ", ".join(sorted(opened.store.reification.notations)):
            # What statements about triples are made of is no triple that is shown.
            triples = (await opened.catalogues.get()).triples
            store += f", statements about triples ({notations})"
        else:
            triples = await _size(opened.store.reader, _MEASURED)
        return Health(True, store, Count.unknown(), triples, tuple(await self._advice(opened)))

    async def _advice(self, opened: _Opened) -> list[str]:
        """What would make answers better."""
        store = opened.store
        advice: list[str] = []
        if opened.triples == Count(0):
            advice.append(await self._where())
        elif await store.reader.select(queries.NAMED, share=_COUNT_SHARE) == Read(()):
            relations = ", ".join(self._endpoint.ids.short(relation) for relation in self._endpoint.names)
            advice.append(
                f"No node has a name by {relations}: set the option labels to the relation that names nodes here."
            )
        if store.reification.unsure:
            notations = ", ".join(sorted(store.reification.unsure))
            advice.append(f"The endpoint did not say in time whether it has statements about triples ({notations}).")
        return advice

    async def _where(self) -> str:
        """Where triples may be, of an endpoint whose graph is empty."""
        empty = " and ".join(self._endpoint.graphs) or "The default graph"
        client = self._client(named=False)
        try:
            read = await Reader(client, {}, self._options.timeout).select(queries.NAMED_GRAPHS, share=_COUNT_SHARE)
            rows = read.some()
        except StoreTimeout:
            return f"{empty} is empty: name a graph with the option graph."
        finally:
            await client.close()
        graphs = sorted(str(row["g"]) for row in rows if "g" in row)
        if not graphs:
            return f"{empty} is empty, and the endpoint has no other graph: load it first."
        known = ", ".join(graphs)
        return f"{empty} is empty; graphs with triples: {known}. Name one: ?{GRAPH}={graphs[0]} behind the address."

    async def _open(self) -> _Opened:
        client = self._client()
        reader = Reader(client, {}, self._options.timeout)
        try:
            triples = await _size(reader, _COUNTED)
            store = await Store.opened(client, self._endpoint, self._options)
        except BaseException:
            await client.close()
            raise
        names = Names(store)
        catalogues, linker = Catalogues(store, names), Linker(store, names)
        tallies = Tallies(store, catalogues)
        neighbours = NeighbourReader(store, names, tallies)
        return _Opened(
            client=client,
            store=store,
            names=names,
            linker=linker,
            catalogues=catalogues,
            relations=RelationReader(store, names, tallies, neighbours),
            neighbours=neighbours,
            lists=ListReader(store, names, catalogues, linker),
            schema=SchemaReader(store, names, catalogues),
            triples=triples,
        )

    def _client(self, *, named: bool = True) -> PoliteClient | SparqlClient:
        """A client, which asks other machines than this one with manners."""
        endpoint, timeout = self._endpoint, self._options.timeout
        graphs = list(endpoint.graphs) if named else []
        agent = user_agent(USER_AGENT, endpoint.contact, f"httpx2/{httpx2.__version__}")
        client = SparqlClient(endpoint.address, timeout=timeout, default_graph=graphs or None, user_agent=agent)
        if Address.parse(endpoint.address).is_local:
            return client
        return PoliteClient(client, manners_of(endpoint.host), patience=timeout)

    def _readers(self) -> _Opened:
        if self._opened is None:
            raise StoreUnavailable("the graph is not open", next_step="Open the graph first.")
        return self._opened

    async def _meant(self, ids: Sequence[str]) -> dict[str, Anchor]:
        """What ids mean: IRIs, whether there or not, and blank nodes that are there."""
        opened = self._readers()
        found: dict[str, Anchor] = {}
        for reference in dict.fromkeys(ids):
            if (iri := self._endpoint.ids.iri(reference)) is not None:
                found[reference] = iri
        paths = {reference: path for reference in dict.fromkeys(ids) if (path := self._endpoint.ids.blank(reference))}
        resolved = await gathered(*(opened.store.blanks.resolved(path) for path in paths.values()))
        found |= {reference: blank for reference, blank in zip(paths, resolved, strict=True) if blank is not None}
        return {reference: found[reference] for reference in ids if reference in found}

    async def _anchors(self, ids: Sequence[str]) -> list[Anchor]:
        """The entities that ids mean, each once, in their order; a text that is no id means none."""
        meant = await self._meant(ids)
        return list(dict.fromkeys(meant.values()))


async def _size(reader: Reader, most: int) -> Count:
    """How many triples there are, up to a bound of number and time."""
    try:
        return await reader.count(queries.SIZE, share=_COUNT_SHARE, most=most)
    except StoreTimeout:
        return Count.unknown()
