"""Freebase on Virtuoso behind the port: every verb is answered by the reader of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import Catalogues
from kgnav_mcp.adapters.freebase.linking import Linker
from kgnav_mcp.adapters.freebase.lists import ListReader
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.neighbours import NeighbourReader
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.freebase.relations import RelationReader
from kgnav_mcp.adapters.freebase.schema import SchemaReader
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies
from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.client import SparqlClient
from kgnav_mcp.adapters.sparql.paging import Position
from kgnav_mcp.adapters.sparql.reading import number
from kgnav_mcp.errors import InvalidStore, StoreTimeout, StoreUnavailable
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
    Stop,
    Triple,
)
from kgnav_mcp.port import AdapterOptions, Capability, ValueOwner

T = TypeVar("T")

_COUNTED = 50_000_000
"""Triples counted at most when a graph is opened: 0.7 seconds."""
_MANY_NAMES = "the store has too many names to find out in time which of its graphs is meant"
_TICK = 2.0
"""Seconds between two looks that Virtuoso 7 has at a query: at its time, and at whether its caller is there."""
_REPLY = 0.5
"""Seconds in which the answer to a query that was stopped comes."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The readers of an open graph."""

    client: SparqlClient
    store: Store
    names: Names
    linker: Linker
    catalogues: Catalogues
    relations: RelationReader
    neighbours: NeighbourReader
    lists: ListReader
    schema: SchemaReader
    graph: str
    triples: Count


class FreebaseAdapter(DirectedAdapter):
    """One graph of one endpoint.

    Edges of Freebase have no properties, so that QUALIFIERS is not declared: what other stores say of an edge are the
    roles of a mediator here, and `values` of relationships answers them where the relation leads to mediators.
    Not every misspelt word is forgiven (FUZZY_NAMES), and the graph may be written to between pages (STABLE_CURSORS).

    Virtuoso looks every two seconds whether callers are still there, and ends the query of one that has left. It does
    not for a count that it spreads over several threads, and who is no administrator cannot end that in another way:
    every query has a time there, a little below the time-out, and ends at its next look. The time-out should be below
    the operator's own limit, MaxQueryExecutionTime: such a count goes on behind the error that this one ends it with.
    """

    capabilities: frozenset[Capability] = frozenset({Capability.EXACT_COUNTS, Capability.MEDIATORS, Capability.LABELS})

    def __init__(self, location: str, options: AdapterOptions) -> None:
        self._freebase = Freebase.read(location, options)
        self._options = options
        self._opened: _Opened | None = None

    async def open(self) -> None:
        if self._opened is None:
            graph = self._freebase.graph or await self._only_graph()
            self._opened = await self._open(graph)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.client.close()

    @property
    def revision(self) -> str:
        """The graph and how many triples it had when it was opened: up to 50 million are counted, in a second."""
        opened = self._readers()
        return f"{opened.graph} {opened.triples.value}"

    @property
    def class_relations(self) -> frozenset[str]:
        return frozenset({self._freebase.ids.short(self._freebase.relations["type"])})

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        opened = self._readers()
        meant = {reference: iri for reference in ids if (iri := opened.store.ids.term(reference)) is not None}
        described = await opened.names.described(list(meant.values()))
        return {reference: described[iri] for reference, iri in meant.items() if iri in described}

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._readers().linker.named(name, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        opened = self._readers()
        types: Sequence[URIRef] | None = None
        if label is not None:
            types = (await opened.catalogues.get()).types_called(label, opened.store.ids.term(label))
        return _begun(await opened.linker.find(hint, types, limit))

    def printed(self, ids: Sequence[str]) -> Mapping[str, str]:
        short = self._freebase.ids
        return {each: short.short(iri) for each in ids if (iri := short.term(each)) is not None}

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        anchors = self._anchors(asked.ids)
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
        anchors = self._anchors(asked.ids)
        wanted = None if asked.paths is None else self._paths(asked.paths)
        if not anchors or wanted == []:
            if asked.after is not None:
                Position.parse(asked.after)
            return Page((), (), Count(0))
        page = await self._readers().neighbours.page(
            anchors,
            asked.direction,
            paths=wanted,
            far_ends=asked.far_ends,
            limit=asked.limit,
            after=asked.after,
            whole=asked.all_or_none,
        )
        return _begun(page)

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return _begun(await self._readers().lists.nodes(label, property_name, value, limit, after))

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        lists = self._readers().lists
        read = lists.values if kind is ValueOwner.NODE else lists.roles
        return _begun(await read(property_name, owner, limit, after))

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self._readers().schema
        return await (reader.overview(limit) if name is None else reader.around(name, limit))

    async def health(self) -> Health:
        opened = self._readers()
        triples = await self._size(opened.store)
        advice: list[str] = []
        if not triples.value:
            advice.append(f"The graph {opened.graph} is empty: name another with the option graph.")
        elif not await opened.linker.has_full_text():
            advice.append(
                "Names are not in Virtuoso's full-text index, so that finding one by its words reads them all: "
                f"run DB.DBA.RDF_OBJ_FT_RULE_ADD('{opened.graph}', null, 'all')."
            )
        host = urlsplit(self._freebase.endpoint).hostname
        return Health(True, f"Freebase on {host}, graph {opened.graph}", Count.unknown(), triples, tuple(advice))

    async def _open(self, graph: str) -> _Opened:
        client = self._client(graph)
        store = Store(client, self._freebase, self._options)
        try:
            triples = await self._size(store)
        except BaseException:
            await client.close()
            raise
        names, tallies = Names(store), Tallies(store)
        catalogues, linker = Catalogues(store, names), Linker(store, names)
        return _Opened(
            client=client,
            store=store,
            names=names,
            linker=linker,
            relations=RelationReader(store, names, tallies),
            neighbours=NeighbourReader(store, names, tallies),
            lists=ListReader(store, names, catalogues, linker),
            catalogues=catalogues,
            schema=SchemaReader(store, names, catalogues, triples),
            graph=graph,
            triples=triples,
        )

    async def _only_graph(self) -> str:
        """The graph of the endpoint that has names, where there is one such.

        Raises:
            InvalidStore: there is none, or there are several.
            StoreTimeout: the names could not all be read in time.
        """
        step = "Name one with the option graph, or with ?default-graph-uri=IRI behind the graph's address."
        client = self._client(None)
        try:
            read = await Store(client, self._freebase, self._options).reader.select(queries.GRAPHS)
        except StoreTimeout as error:
            raise StoreTimeout(error.seconds, _MANY_NAMES, next_step=step) from error
        finally:
            await client.close()
        graphs = sorted(str(row["g"]) for row in read.rows)
        if read.stop is Stop.TIME_OUT and len(graphs) < 2:
            raise StoreTimeout(None, _MANY_NAMES, next_step=step)
        if len(graphs) == 1:
            return graphs[0]
        if not graphs:
            name = self._freebase.ids.short(self._freebase.relations["name"])
            raise InvalidStore(f"no graph of this endpoint has entities with a {name}", next_step=step)
        raise InvalidStore(f"this endpoint has several graphs: {', '.join(graphs)}", next_step=step)

    def _client(self, graph: str | None) -> SparqlClient:
        seconds = self._options.timeout
        parameters = {"timeout": str(_milliseconds(seconds))}
        return SparqlClient(self._freebase.endpoint, timeout=seconds, default_graph=graph, parameters=parameters)

    @staticmethod
    async def _size(store: Store) -> Count:
        """How many triples there are.

        Raises:
            StoreTimeout: they could not be counted in time. A part of them would make a revision that never was.
        """
        (row,) = (await store.reader.select(queries.SIZE, most=_COUNTED)).whole()
        size = number(row, "n")
        return Count(size) if size < _COUNTED else Count.at_least(size)

    def _readers(self) -> _Opened:
        if self._opened is None:
            raise StoreUnavailable("the graph is not open", next_step="Open the graph first.")
        return self._opened

    def _anchors(self, ids: Sequence[str]) -> list[URIRef]:
        """The entities that ids mean, each once; a text that is no id means none."""
        meant = map(self._readers().store.ids.term, ids)
        return list(dict.fromkeys(iri for iri in meant if iri is not None))

    def _paths(self, paths: Sequence[tuple[str, ...]]) -> list[Path]:
        """Paths of relation ids as IRIs; those with a text that is no id are left out."""
        found: list[Path] = []
        for path in paths:
            iris = [iri for relation in path if (iri := self._freebase.ids.term(relation)) is not None]
            if len(iris) == len(path) and len(path) in {1, 2}:
                found.append(tuple(iris))
        return list(dict.fromkeys(found))


def _milliseconds(seconds: float) -> int:
    """The time that Virtuoso is given for a query, so that what it has by then comes within the call's.

    A call of less than five seconds leaves half of them to Virtuoso, and may be over before Virtuoso sees it.
    """
    return max(1, round(1000 * max(seconds - _TICK - _REPLY, seconds / 2)))  # 0 would be no limit


def _begun(page: Page[T]) -> Page[T]:
    """A page, unless it has nothing because the time was over.

    Raises:
        StoreTimeout: it has nothing for that reason, so that it is not taken for the answer that there is nothing.
    """
    if page.stop is Stop.TIME_OUT and not page.items:
        raise errors.stopped()
    return page
