"""Readers of an endpoint inside the test."""

from __future__ import annotations

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql.catalogue import Catalogue, CatalogueCache
from kgnav_mcp.adapters.generic_sparql.counts import CountReader
from kgnav_mcp.adapters.generic_sparql.lists import ListReader
from kgnav_mcp.adapters.generic_sparql.names import EntityFinder, Names
from kgnav_mcp.adapters.generic_sparql.rows import RelationReader, RowReader
from kgnav_mcp.adapters.generic_sparql.store import Endpoint, Store
from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.model import Direction, Page, RelationFacts, Triple
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.inprocess import InProcess

HERE = "sparql+http://127.0.0.1/sparql#prefix.ex=http://ex.example/"


async def relations_of(
    client: InProcess, name: str, direction: Direction, *, hops: int = 1, limit: int = 50
) -> Page[RelationFacts]:
    """The relations of an entity with two examples of each."""
    store, names, counts = await counts_of(client)
    asked = RelationRequest((), direction, hops, None, 2, limit)
    return await RelationReader(store, names, counts).page([entity(store, name)], asked)


async def rows_of(
    client: InProcess,
    name: str,
    direction: Direction,
    limit: int,
    *,
    after: str | None = None,
    all_or_none: bool = False,
) -> Page[Triple]:
    """A page of the rows of an entity."""
    store, names, counts = await counts_of(client)
    asked = RowRequest((), direction, None, None, limit, after, all_or_none)
    return await RowReader(store, names, counts, [entity(store, name)], asked).page(None, asked)


async def counts_of(client: InProcess) -> tuple[Store, Names, CountReader]:
    """What readers stand on."""
    store = await store_of(client)
    names = Names(store)
    return store, names, CountReader(store, CatalogueCache(store, names))


def entity(store: Store, name: str) -> URIRef:
    """The IRI of a short id."""
    iri = store.endpoint.ids.iri(name)
    assert iri is not None
    return iri


async def store_of(client: InProcess) -> Store:
    """What readers share, of an endpoint inside the test."""
    options = AdapterOptions()
    return await Store.opened(client, Endpoint.read(HERE, options), options)


async def catalogue_of(client: InProcess) -> Catalogue:
    """The catalogue of an endpoint inside the test."""
    store = await store_of(client)
    return await CatalogueCache(store, Names(store)).get()


async def lists_of(client: InProcess) -> ListReader:
    """A reader of lists with all that it stands on."""
    store = await store_of(client)
    names = Names(store)
    return ListReader(store, names, EntityFinder(store, names), CatalogueCache(store, names))
