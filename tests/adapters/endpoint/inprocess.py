"""An endpoint inside the test, which can be made to run out of time, to cut answers and to know no newer syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pyoxigraph
from rdflib import URIRef

from kgnav_mcp.adapters.endpoint.adapter import EndpointAdapter
from kgnav_mcp.adapters.endpoint.catalogue import CatalogueCache
from kgnav_mcp.adapters.endpoint.counts import CountReader
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.options import Endpoint
from kgnav_mcp.adapters.endpoint.relations import RelationReader
from kgnav_mcp.adapters.endpoint.rows import RowReader
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.adapters.sparql.rate_limit import Client
from kgnav_mcp.adapters.sparql.results import Answer, read_rows
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Direction, Page, RelationFacts, Triple
from kgnav_mcp.port import AdapterOptions

HERE = "sparql+http://127.0.0.1/sparql#prefix.ex=http://ex.example/"


@dataclass
class InProcess:
    """Answers from Turtle. Queries that match one of `slow` run out of time, those with a text of `refused` fail.

    Of those that match one of `cut` so many rows are there in time, of those that match one of `capped` so many are
    given at all.
    """

    turtle: str
    slow: Sequence[str] = ()
    refused: Sequence[str] = ()
    row_cap: int | None = None
    cut: Mapping[str, int] = field(default_factory=dict[str, int])
    capped: Mapping[str, int] = field(default_factory=dict[str, int])
    queries: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._store = pyoxigraph.Store()
        self._store.load(self.turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)

    async def select(self, query: str) -> Answer:
        self.queries.append(query)
        if any(re.search(text, query) for text in self.slow):
            raise StoreTimeout(1.0)
        if any(text in query for text in self.refused):
            raise Unsupported("no such syntax")
        answer = self._store.query(query)
        assert isinstance(answer, pyoxigraph.QuerySolutions)
        body = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None
        rows = read_rows(body)
        for text, in_time in self.cut.items():
            if re.search(text, query):
                return Answer(rows[:in_time], None, partial=True)
        for text, most in self.capped.items():
            if re.search(text, query):
                return Answer(rows[:most], most)
        cut = self.row_cap is not None and len(rows) > self.row_cap
        return Answer(rows[: self.row_cap] if cut else rows, self.row_cap if cut else None)

    async def close(self) -> None:
        """There is no connection."""


class LocalAdapter(EndpointAdapter):
    """The adapter over an endpoint inside the test."""

    def __init__(self, client: InProcess, location: str = HERE) -> None:
        super().__init__(location, AdapterOptions())
        self._client = client

    async def _connect(self, *, named: bool = True) -> Client:
        del named
        return cast("Client", self._client)  # readers use no more of one


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
