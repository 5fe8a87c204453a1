"""Base class of the adapters for SPARQL stores: opens and closes the graph, and passes each verb to its reader."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rdflib import URIRef

from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationRequest, RowRequest
from kgnav_mcp.adapters.paging.rows import EdgeSource, Position, edges_page
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import ListReader
from kgnav_mcp.adapters.sparql_base.matching import FarEndTerms, RowSearch, SearchRequest
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable, UnknownName, Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
    Count,
    Direction,
    Entity,
    Link,
    Namesake,
    Page,
    PlanPage,
    RelationFacts,
    Schema,
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import FarEndFilter, ValueOwner
from kgnav_mcp.port.far_end_filters import MatchRequest, read_or_search


class SchemaVerb(Protocol):
    """Answers the verb `schema`."""

    async def overview(self, limit: int) -> Schema: ...

    async def around(self, name: str, limit: int) -> Schema: ...


class RelationsVerb(Protocol):
    """Answers the verb `relations` in one direction."""

    async def page(self, anchors: Sequence[Any], request: RelationRequest) -> Page[RelationFacts]: ...


class NeighboursVerb(Protocol):
    """Answers the verb `neighbours` in one direction."""

    async def page(self, relation_paths: Sequence[Any] | None, request: RowRequest) -> Page[Triple]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers of an open graph, one for each kind of verb."""

    client: Client
    entity_finder: EntityFinder
    relations: RelationsVerb
    rows: Callable[[Sequence[Any], RowRequest], NeighboursVerb]
    """Creates the reader of rows at some anchors (see `SparqlAdapter._anchors`)."""
    search: Callable[[SearchRequest], RowSearch[Any, Any]]
    """Creates the search of rows at some anchors by their far ends."""
    hops_searched: int = 1
    """The longest relations, in hops, whose rows can be searched."""
    edges: Callable[[Sequence[Any], Sequence[Any], Sequence[Any] | None, bool], EdgeSource[Any, Any] | None]
    """Creates the reader of the edges between heads and tails by some relations (None: by all).

    The last argument says whether only ids are needed, as in `edge_ids`. Returns None where it cannot look up edges:
    rows are then read and compared.
    """
    lists: ListReader
    schema: SchemaVerb
    matches: MatchReader | None = None


R = TypeVar("R", bound=Readers)
Anchor = TypeVar("Anchor")
Path = TypeVar("Path")
T = TypeVar("T")


class SparqlAdapter(DirectedAdapter, Generic[R, Anchor, Path]):
    """One graph of one endpoint. A subclass resolves ids and creates the readers."""

    def __init__(self) -> None:
        self._opened: R | None = None

    @abstractmethod
    async def _connect(self) -> Client:
        """Create a client for the graph."""

    @abstractmethod
    async def _read(self, client: Client) -> R:
        """Create the readers, after looking up what they need to know about the graph."""

    @abstractmethod
    async def _anchors(self, ids: Sequence[str]) -> Sequence[Anchor]:
        """Resolve ids to entities, each once and in order. Texts that are not ids are skipped."""

    @abstractmethod
    def _relation_paths(self, relation_paths: Sequence[tuple[str, ...]]) -> Sequence[Path]:
        """Resolve relation ids to paths. Paths with a text that is not an id are left out."""

    async def _relations(self, anchors: Sequence[Anchor], request: RelationRequest) -> Page[RelationFacts]:
        """The relations at some entities."""
        return await self._readers.relations.page(anchors, request)

    async def _rows(
        self, anchors: Sequence[Anchor], relation_paths: Sequence[Path] | None, request: RowRequest
    ) -> Page[Triple]:
        """The rows at some entities."""
        return await self._readers.rows(anchors, request).page(relation_paths, request)

    async def open(self) -> None:
        if self._opened is None:
            client = await self._connect()
            try:
                self._opened = await self._read(client)
            except BaseException:
                await client.close()
                raise

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.client.close()

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        names = self._readers.entity_finder.names
        iri_of = names.naming.iri
        iris = await in_thread(len(ids), lambda: {each: iri for each in ids if (iri := iri_of(each)) is not None})
        described = await names.described(iris.values())
        return await in_thread(
            len(ids), lambda: {each: described[iri] for each, iri in iris.items() if iri in described}
        )

    def printed_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        naming = self._readers.entity_finder.naming
        return {each: naming.short(iri) for each in ids if (iri := naming.iri(each)) is not None}

    async def find_by_name(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._readers.entity_finder.named(name, limit)

    async def find_by_names(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        return await self._readers.entity_finder.named_each(names, limit)

    async def find_by_values(self, values: Sequence[str], *, limit: int) -> Mapping[str, Sequence[ValueMatch]]:
        return await self._readers.entity_finder.with_values(values, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        types = None if label is None else (await self._readers.lists.types(label)).iris
        return self._checked_page(await self._readers.entity_finder.find(hint, types, limit))

    async def relations_in(self, request: RelationRequest) -> Page[RelationFacts]:
        anchors = await self._anchors(request.ids)
        return await self._relations(anchors, request) if anchors else Page((), (), Count(0))

    async def rows_in(self, request: RowRequest) -> Page[Triple]:
        relation_paths = None if request.relation_paths is None else self._relation_paths(request.relation_paths)
        anchors = await self._anchors(request.ids)
        if anchors and relation_paths != []:
            return self._checked_page(await self._rows(anchors, relation_paths, request))
        if request.after is not None:
            self._check_position(request.after)
        return Page((), (), Count(0))

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
        request, hops = MatchRequest(ids, direction, relation_paths, far, limit, after), self._readers.hops_searched
        opened: dict[Direction, RowSearch[Any, Any]] = {}

        async def search(side: Direction, most: int, behind: str | None) -> Page[Link]:
            if side not in opened:
                opened[side] = await self._search(request, side, hops)
            return await opened[side].page(most, behind)

        return await read_or_search(self, request, search, hops=hops)

    async def _search(self, request: MatchRequest, side: Direction, hops: int) -> RowSearch[Any, Any]:
        """Create the search of the rows in one direction. Relations of more than `hops` hops are left out."""
        readers, types = self._readers, None
        if request.far.label is not None:
            types = await self._types_with_label(request.far.label)
        relation_paths = request.relation_paths and self._relation_paths(
            [path for path in request.relation_paths if len(path) <= hops]
        )
        far = FarEndTerms.of(request.far.words, types)
        return readers.search(SearchRequest(await self._anchors(request.ids), relation_paths, side, far))

    async def _types_with_label(self, label: str) -> Sequence[URIRef]:
        """The types that are printed as this label; empty where there is none."""
        try:
            return (await self._readers.lists.types(label)).iris
        except UnknownName:
            return ()

    async def edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        found = await self._edges(heads, tails, relations, limit, after)
        return found or await super().edges(heads, tails, relations=relations, limit=limit, after=after)

    async def edge_ids(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        found = await self._edges(heads, tails, relations, limit, after, bare=True)
        return found or await super().edges(heads, tails, relations=relations, limit=limit, after=after)

    async def _edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        relations: Sequence[str] | None,
        limit: int,
        after: str | None,
        *,
        bare: bool = False,
    ) -> Page[Triple] | None:
        """One page of edges; None where they cannot be looked up."""
        relation_paths = None if relations is None else self._relation_paths([(relation,) for relation in relations])
        starts, ends = await gathered(self._anchors(heads), self._anchors(tails))
        if not starts or not ends or relation_paths == []:
            return Page((), (), Count(0))
        source = self._readers.edges(starts, ends, relation_paths, bare)
        return source and self._checked_page(await edges_page(source, starts, limit=limit, after=after))

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        reader = self._readers.matches
        return await (
            super().run(plan, limit=limit, after=after) if reader is None else reader.page(plan, limit, after)
        )

    async def has_more_rows(self, plan: Plan, than: int) -> bool:
        reader = self._readers.matches
        return reader is not None and await reader.has_more(plan, than)

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return self._checked_page(await self._readers.lists.nodes(label, property_name, value, limit, after))

    async def node_ids(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        lists = self._readers.lists
        return self._checked_page(await lists.nodes(label, property_name, value, limit, after, bare=True))

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        lists = self._readers.lists
        read = lists.values if kind is ValueOwner.NODE else lists.edge_values
        return self._checked_page(await read(property_name, owner, limit, after))

    async def has_several_values(self, property_id: str, kind: ValueOwner) -> bool | None:
        if kind is not ValueOwner.NODE:
            return None
        try:
            return await self._readers.lists.has_several_values(property_id)
        except (StoreTimeout, Unsupported):
            return None

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self._readers.schema
        return await (reader.overview(limit) if name is None else reader.around(name, limit))

    @property
    def _readers(self) -> R:
        if self._opened is None:
            raise StoreUnavailable("the graph is not open", next_step="Open the graph first.")
        return self._opened

    async def _iris(self, ids: Sequence[str]) -> list[URIRef]:
        """Resolve ids to IRIs, each once. Texts that are not ids are skipped."""
        iri_of = self._readers.entity_finder.naming.iri
        return await in_thread(
            len(ids), lambda: list(dict.fromkeys(iri for each in ids if (iri := iri_of(each)) is not None))
        )

    def _checked_page(self, page: Page[T]) -> Page[T]:
        """Check a page before it is returned. A subclass may raise instead."""
        return page

    def _check_position(self, after: str) -> None:
        """Check that `after` is a position of rows.

        Raises:
            InvalidCursor: it is not.
        """
        Position.parse(after)
