"""The base class of Cypher adapters. Each verb of the port is answered by a reader."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kgnav_mcp.adapters.cypher.catalogue import CatalogueCache, PropertyOptions
from kgnav_mcp.adapters.cypher.counts import CountReader, RowFilter
from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.lists import ListReader
from kgnav_mcp.adapters.cypher.names import EntityFinder, NameReader
from kgnav_mcp.adapters.cypher.neighbours import EdgeReader, NeighbourReader, RelationReader
from kgnav_mcp.adapters.cypher.plans.reader import PlanReader
from kgnav_mcp.adapters.cypher.rows import EdgeSearch
from kgnav_mcp.adapters.cypher.schema import SchemaReader
from kgnav_mcp.adapters.cypher.session import Session, Store, closed
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
    Direction,
    Entity,
    Link,
    Namesake,
    Page,
    PlanPage,
    RelationFacts,
    RowsOrRelations,
    Schema,
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import FarEndFilter, FarEndKind, GraphAdapter, ValueOwner
from kgnav_mcp.port.far_end_filters import MatchRequest, read_or_search

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of an open graph, which answer the verbs of the port."""

    catalogue: CatalogueCache
    entities: Entities
    names: NameReader
    entity_finder: EntityFinder
    relations: RelationReader
    neighbours: NeighbourReader
    edges: EdgeReader
    search: EdgeSearch
    lists: ListReader
    schema: SchemaReader
    plans: PlanReader

    @classmethod
    async def open(
        cls, store: Store, dialect: Dialect, properties: PropertyOptions, languages: tuple[str, ...]
    ) -> Readers:
        """Make the readers of a graph, and read its catalogue.

        Raises:
            StoreError: the store fails.
            ConfigurationError: an option names a label or property that the graph does not have.
        """
        session = Session(store, dialect)
        catalogue = CatalogueCache(session, properties)
        (await catalogue.refreshed()).check_options()
        entities = Entities(session, catalogue, languages)
        counts = CountReader(entities)
        names = NameReader(entities)
        relations = RelationReader(entities, counts)
        return cls(
            catalogue,
            entities,
            names,
            EntityFinder(entities, names),
            relations,
            NeighbourReader(entities, counts, relations),
            EdgeReader(entities),
            EdgeSearch(entities),
            ListReader(entities),
            SchemaReader(entities),
            PlanReader(entities),
        )


class CypherAdapter(GraphAdapter):
    """One database of a store that is queried in Cypher. Derived classes connect and open the readers.

    There are no mediators (MEDIATORS is not declared): in a property graph, edges have properties of their own. The
    graph may be written to between pages (STABLE_CURSORS is not declared): a position records how many rows its
    relation had, and is refused if that number has changed.
    """

    def __init__(self) -> None:
        self._opened: Readers | None = None

    @abstractmethod
    async def in_time(self, work: Coroutine[Any, Any, T]) -> T:
        """Await the work of a reader, with the time-out of this graph.

        Raises:
            StoreTimeout: it took too long.
            Whatever the work raises.
        """

    @property
    def readers(self) -> Readers:
        """The readers of the open graph.

        Raises:
            StoreError: the graph is not open.
        """
        if self._opened is None:
            raise closed()
        return self._opened

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        return await self.in_time(self.readers.entities.describe(ids))

    async def find_by_name(self, name: str, *, limit: int) -> Page[Namesake]:
        return (await self.find_by_names([name], limit=limit))[name]

    async def find_by_names(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        return await self.in_time(self.readers.names.named_each(names, limit))

    async def find_by_values(self, values: Sequence[str], *, limit: int) -> Mapping[str, Sequence[ValueMatch]]:
        return await self.in_time(self.readers.names.with_values(values, limit))

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        return await self.in_time(self.readers.entity_finder.find(hint, label, limit))

    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        hops: int = 1,
        far_end_kind: FarEndKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> AnchoredPage[RelationFacts]:
        if hops > 1:
            raise _no_mediators()
        wanted = _wanted(direction, None, far_end_kind)
        return await self.in_time(self.readers.relations.page(ids, wanted, examples, limit))

    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        if relation_paths is not None and any(len(path) > 1 for path in relation_paths):
            raise _no_mediators()
        relations = None if relation_paths is None else frozenset(path[0] for path in relation_paths)
        wanted = _wanted(direction, relations, far_end_kind)
        return await self.in_time(self.readers.neighbours.page(ids, wanted, limit, after, all_or_none=all_or_none))

    async def rows_or_relations(
        self,
        ids: Sequence[str],
        direction: Direction,
        *,
        rows: int,
        relations: int,
        hops: int = 1,
        examples: int = 0,
    ) -> RowsOrRelations:
        if hops > 1:
            raise _no_mediators()
        wanted = _wanted(direction, None, None)
        return await self.in_time(self.readers.neighbours.page_or_relations(ids, wanted, rows, examples, relations))

    async def matching(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far: FarEndFilter,
        limit: int,
        after: str | None = None,
    ) -> AnchoredPage[Link]:
        request = MatchRequest(ids, direction, relation_paths, far, limit, after)

        async def search(side: Direction, most: int, position: str | None) -> Page[Link]:
            return await self.in_time(self.readers.search.page(request, side, most, position))

        return await read_or_search(self, request, search)

    async def edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        return await self.in_time(self.readers.edges.page(heads, tails, relations, limit, after))

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...]:  # noqa: ARG002 - the port's
        """Always empty: the properties of a relationship are values, never nodes."""
        return ()

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return await self.in_time(self.readers.lists.nodes(label, property_name, value, limit, after))

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        return await self.in_time(self.readers.lists.values(property_name, owner, kind, limit, after))

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        return await self.in_time(self.readers.plans.page(plan, limit, after))

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self.readers.schema
        return await self.in_time(reader.overview(limit) if name is None else reader.around(name, limit))


def _wanted(
    direction: Direction | None, relations: frozenset[str] | None, far_end_kind: FarEndKind | None
) -> RowFilter:
    return RowFilter(tuple(Direction) if direction is None else (direction,), relations, far_end_kind)


def _no_mediators() -> Unsupported:
    return Unsupported(
        "a property graph has no two-hop relations, because it has no mediators",
        next_step="Follow the first relation, then the second one from its far ends.",
    )
