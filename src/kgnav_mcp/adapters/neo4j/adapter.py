"""Neo4j behind the port: every verb is answered by the reader of its kind."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.neo4j import queries
from kgnav_mcp.adapters.neo4j.advice import advice
from kgnav_mcp.adapters.neo4j.catalogue import Catalogues
from kgnav_mcp.adapters.neo4j.entities import Entities
from kgnav_mcp.adapters.neo4j.linking import Linker
from kgnav_mcp.adapters.neo4j.lists import ListReader
from kgnav_mcp.adapters.neo4j.neighbours import NeighbourReader
from kgnav_mcp.adapters.neo4j.options import Neo4j
from kgnav_mcp.adapters.neo4j.paging import Position
from kgnav_mcp.adapters.neo4j.relations import RelationReader
from kgnav_mcp.adapters.neo4j.schema import SchemaReader
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.tallies import Tallies, Wanted
from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.errors import StoreError, Unsupported
from kgnav_mcp.model import (
    Candidate,
    Count,
    Direction,
    Entity,
    Health,
    Literal,
    Namesake,
    Page,
    RelationFacts,
    Schema,
    Triple,
)
from kgnav_mcp.port import AdapterOptions, Capability, TailKind, ValueOwner

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The readers of an open graph."""

    store: Store
    catalogues: Catalogues
    entities: Entities
    tallies: Tallies
    linker: Linker
    relations: RelationReader
    neighbours: NeighbourReader
    lists: ListReader
    schema: SchemaReader
    revision: str
    agent: str
    refuses_writes: bool


class Neo4jAdapter(DirectedAdapter):
    """One database of a Neo4j, 5.26 or later, read in read access mode.

    Nodes without a name are not taken for mediators (MEDIATORS is not declared): edges have properties of their own
    here. The graph may be written to between pages (STABLE_CURSORS is not declared): a position says how long its list
    was, and is refused where that has changed.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.EXACT_COUNTS, Capability.QUALIFIERS, Capability.LABELS, Capability.FUZZY_NAMES}
    )

    def __init__(self, location: str, options: AdapterOptions) -> None:
        self._graph = Neo4j.read(location, options)
        self._options = options
        self._opened: _Opened | None = None

    async def open(self) -> None:
        if self._opened is not None:
            return
        store = Store(self._graph, self._options.timeout)
        try:
            store.connect()
            async with store.within_time():
                self._opened = await self._open(store)
        except BaseException:
            await store.close()
            raise
        if not self._opened.refuses_writes:
            _log.warning("%s takes writes in read mode: give this graph a user who may only read", store.place)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.store.close()

    @property
    def revision(self) -> str:
        """The database and its id. That rows were written is noticed by the positions themselves."""
        return self._readers().revision

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        opened = self._readers()
        async with opened.store.within_time():
            if len(ids) == 1:
                found = await opened.tallies.glance(ids[0])
                return {ids[0]: found} if found is not None else {}
            return await opened.entities.entities(ids)

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        opened = self._readers()
        async with opened.store.within_time():
            return await opened.linker.named(name, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        opened = self._readers()
        async with opened.store.within_time():
            return await opened.linker.find(hint, label, limit)

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        if asked.hops > 1:
            raise _no_mediators()
        if not asked.ids or (asked.direction is Direction.INCOMING and asked.far_ends is TailKind.LITERAL):
            return Page((), (), Count(0))
        opened = self._readers()
        async with opened.store.within_time():
            return await opened.relations.page(
                asked.ids, Wanted(asked.direction, None, asked.far_ends), asked.examples, asked.limit
            )

    async def rows_in(self, asked: RowQuestion) -> Page[Triple]:
        if asked.paths is not None and any(len(path) > 1 for path in asked.paths):
            raise _no_mediators()
        relations = frozenset(path[0] for path in asked.paths) if asked.paths is not None else None
        nothing = relations == frozenset() or (
            asked.direction is Direction.INCOMING and asked.far_ends is TailKind.LITERAL
        )
        if not asked.ids or nothing:
            if asked.after is not None:
                Position.parse(asked.after)
            return Page((), (), Count(0))
        opened = self._readers()
        async with opened.store.within_time():
            wanted = Wanted(asked.direction, relations, asked.far_ends)
            return await opened.neighbours.page(asked.ids, wanted, asked.limit, asked.after, whole=asked.all_or_none)

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...]:  # noqa: ARG002 - the port's
        """None of any: a relationship's properties are values, never nodes."""
        return ()

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        opened = self._readers()
        async with opened.store.within_time():
            return await opened.lists.nodes(label, property_name, value, limit, after)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        opened = self._readers()
        async with opened.store.within_time():
            return await opened.lists.values(property_name, owner, kind, limit, after)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        opened = self._readers()
        async with opened.store.within_time():
            return await (opened.schema.overview(limit) if name is None else opened.schema.around(name, limit))

    async def health(self) -> Health:
        opened = self._readers()
        async with opened.store.within_time():
            entities, triples = await opened.schema.size()
        store = f"{opened.agent} on {opened.store.place}, database {opened.store.database}"
        given = advice(opened.catalogues.now, refuses_writes=opened.refuses_writes)
        return Health(True, store, entities, triples, given)

    async def _open(self, store: Store) -> _Opened:
        name, identity = await store.row(queries.DATABASE)
        store.database = str(name)
        (functions,) = await store.row(queries.FUNCTIONS, names=list(queries.APOC_NEEDED))
        catalogues = Catalogues(store, self._graph)
        await catalogues.renewed()
        entities = Entities(store, catalogues, self._options.languages)
        tallies = Tallies(store, catalogues, entities, apoc=set(functions) >= queries.APOC_NEEDED)
        return _Opened(
            store=store,
            catalogues=catalogues,
            entities=entities,
            tallies=tallies,
            linker=Linker(store, catalogues, entities),
            relations=RelationReader(store, entities, tallies),
            neighbours=NeighbourReader(store, catalogues, entities, tallies),
            lists=ListReader(store, catalogues, entities),
            schema=SchemaReader(store, catalogues),
            revision=f"{name} {identity}",
            agent=await store.agent(),
            refuses_writes=await store.refuses_writes(),
        )

    def _readers(self) -> _Opened:
        if self._opened is None:
            raise StoreError("this graph is closed")
        return self._opened


def _no_mediators() -> Unsupported:
    return Unsupported(
        "a property graph has no relations of two hops: what ties several nodes together is a node with edges",
        next_step="Follow the first relation, then the second one from there.",
    )
