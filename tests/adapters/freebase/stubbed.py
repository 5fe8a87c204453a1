"""A Freebase that answers what a test says, inside the test."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.relations import CountReader, RelationReader
from kgnav_mcp.adapters.freebase.rows import RowReader
from kgnav_mcp.adapters.freebase.store import Freebase, Store
from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.model import Direction, Page, RelationFacts, Triple
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.inprocess import InProcess, Told

NS = "http://rdf.freebase.com/ns/"


def ns(name: str) -> URIRef:
    return URIRef(NS + name)


ANN = ns("m.ann")


def told(*answers: Told) -> InProcess:
    """A store that has nothing but these answers, each to the queries with its pattern."""
    return InProcess("", answers=(*answers, ("", ())))


def store_of(endpoint: InProcess) -> Store:
    """What readers share, of such an endpoint."""
    options = AdapterOptions()
    return Store.of(endpoint, Freebase.read("freebase+http://127.0.0.1/sparql", options), options)


async def page_of(
    endpoint: InProcess, anchors: Sequence[URIRef], limit: int, *, all_or_none: bool = False
) -> Page[Triple]:
    """The first page of what leaves some entities."""
    store = store_of(endpoint)
    asked = RowRequest(anchors, Direction.OUTGOING, None, None, limit, None, all_or_none)
    return await RowReader(store, Names(store), CountReader(store), anchors, asked).page(None, asked)


async def relations_of(endpoint: InProcess, anchors: Sequence[URIRef], examples: int) -> Page[RelationFacts]:
    """The first relations that leave some entities."""
    store = store_of(endpoint)
    asked = RelationRequest(anchors, Direction.OUTGOING, 1, None, examples, 5)
    return await RelationReader(store, Names(store), CountReader(store)).page(anchors, asked)
