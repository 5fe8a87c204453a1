"""What adapters of SPARQL stores share: opening and closing, and verbs that a reader of their kind answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import httpx2
from rdflib import URIRef

from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.adapters.paging.edges import EdgeSource, edges_page
from kgnav_mcp.adapters.paging.positions import Position
from kgnav_mcp.adapters.sparql.client import USER_AGENT, SparqlClient
from kgnav_mcp.adapters.sparql.linking import Linker
from kgnav_mcp.adapters.sparql.lists import ListReader
from kgnav_mcp.adapters.sparql.matching import FarEndFilter, RowSearch, SearchQuestion
from kgnav_mcp.adapters.sparql.plans.reader import FitReader
from kgnav_mcp.adapters.sparql.rate_limit import MAX_CONCURRENT, Client, RateLimitedClient, limiter_of, user_agent
from kgnav_mcp.adapters.sparql.requests import Address
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreUnavailable, UnknownName
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
    Count,
    Direction,
    Entity,
    Link,
    Namesake,
    Page,
    RelationFacts,
    Schema,
    Triple,
    ValueFacts,
)
from kgnav_mcp.port import FarEnds, Fit, FitQuestion, ValueOwner
from kgnav_mcp.port.matching import MatchQuestion, read_or_searched

LIBRARY = f"httpx2/{httpx2.__version__}"


class SchemaReader(Protocol):
    """Answers `schema`."""

    async def overview(self, limit: int) -> Schema: ...

    async def around(self, name: str, limit: int) -> Schema: ...


class RelationReader(Protocol):
    """Answers `relations` in one direction."""

    async def page(self, anchors: Sequence[Any], asked: RelationQuestion) -> Page[RelationFacts]: ...


class RowReader(Protocol):
    """Answers `neighbours` in one direction."""

    async def page(self, paths: Sequence[Any] | None, asked: RowQuestion) -> Page[Triple]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers of an open graph, one for each kind of question."""

    client: Client
    linker: Linker
    relations: RelationReader
    rows: Callable[[Sequence[Any], RowQuestion], RowReader]
    """Makes the reader of rows at the anchors that the adapter makes of ids."""
    search: Callable[[SearchQuestion], RowSearch[Any, Any]]
    """Makes what searches rows at such anchors by their far ends."""
    hops_searched: int = 1
    """The most hops of a relation whose rows are searched."""
    edges: Callable[[Sequence[Any], Sequence[Any], Sequence[Any] | None], EdgeSource[Any, Any] | None]
    """Makes the reader of edges between two sets, by some relations; None where rows are to be read and compared."""
    lists: ListReader
    schema: SchemaReader
    fits: FitReader | None = None


R = TypeVar("R", bound=Readers)
Anchor = TypeVar("Anchor")
Path = TypeVar("Path")
T = TypeVar("T")


class SparqlAdapter(DirectedAdapter, Generic[R, Anchor, Path]):
    """One graph of one endpoint. An adapter says what ids mean there, and how its rows and relations are read."""

    def __init__(self) -> None:
        self._opened: R | None = None

    @abstractmethod
    async def _connect(self) -> Client:
        """A client for the graph."""

    @abstractmethod
    async def _read(self, client: Client) -> R:
        """The readers, and what they must know of the graph beforehand."""

    @abstractmethod
    async def _anchors(self, ids: Sequence[str]) -> Sequence[Anchor]:
        """The entities that ids mean, each once and in their order; a text that is no id means none."""

    @abstractmethod
    def _paths(self, paths: Sequence[tuple[str, ...]]) -> Sequence[Path]:
        """The paths that relation ids mean; those with a text that is no id are left out."""

    async def _relations(self, anchors: Sequence[Anchor], asked: RelationQuestion) -> Page[RelationFacts]:
        """The relations of some entities."""
        return await self._readers.relations.page(anchors, asked)

    async def _rows(self, anchors: Sequence[Anchor], paths: Sequence[Path] | None, asked: RowQuestion) -> Page[Triple]:
        """The rows at some entities."""
        return await self._readers.rows(anchors, asked).page(paths, asked)

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
        names = self._readers.linker.names
        iri_of = names.naming.iri
        meant = await in_thread(len(ids), lambda: {each: iri for each in ids if (iri := iri_of(each)) is not None})
        described = await names.described(meant.values())
        return await in_thread(
            len(ids), lambda: {each: described[iri] for each, iri in meant.items() if iri in described}
        )

    def printed(self, ids: Sequence[str]) -> Mapping[str, str]:
        naming = self._readers.linker.naming
        return {each: naming.short(iri) for each in ids if (iri := naming.iri(each)) is not None}

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._readers.linker.named(name, limit)

    async def named_each(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        return await self._readers.linker.named_each(names, limit)

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        types = None if label is None else (await self._readers.lists.types(label)).iris
        return self._answer(await self._readers.linker.find(hint, types, limit))

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        anchors = await self._anchors(asked.ids)
        return await self._relations(anchors, asked) if anchors else Page((), (), Count(0))

    async def rows_in(self, asked: RowQuestion) -> Page[Triple]:
        paths = None if asked.paths is None else self._paths(asked.paths)
        anchors = await self._anchors(asked.ids)
        if anchors and paths != []:
            return self._answer(await self._rows(anchors, paths, asked))
        if asked.after is not None:
            self._check_position(asked.after)
        return Page((), (), Count(0))

    async def matching(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        paths: Sequence[tuple[str, ...]] | None = None,
        far: FarEnds,
        limit: int,
        after: str | None = None,
    ) -> AnchoredPage[Link]:
        asked, hops = MatchQuestion(ids, direction, paths, far, limit, after), self._readers.hops_searched
        opened: dict[Direction, RowSearch[Any, Any]] = {}

        async def search(side: Direction, most: int, behind: str | None) -> Page[Link]:
            if side not in opened:
                opened[side] = await self._search(asked, side, hops)
            return await opened[side].page(most, behind)

        return await read_or_searched(self, asked, search, hops=hops)

    async def _search(self, asked: MatchQuestion, side: Direction, hops: int) -> RowSearch[Any, Any]:
        """What searches the rows in one direction, those of relations with more hops left out."""
        readers, types = self._readers, None
        if asked.far.label is not None:
            types = await self._types_shown(asked.far.label)
        paths = asked.paths and self._paths([path for path in asked.paths if len(path) <= hops])
        far = FarEndFilter.of(asked.far.words, types)
        return readers.search(SearchQuestion(await self._anchors(asked.ids), paths, side, far))

    async def _types_shown(self, label: str) -> Sequence[URIRef]:
        """The types that entities may show by a label; none where there is no such one."""
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
        paths = None if relations is None else self._paths([(relation,) for relation in relations])
        starts, ends = await gathered(self._anchors(heads), self._anchors(tails))
        if not starts or not ends or paths == []:
            return Page((), (), Count(0))
        source = self._readers.edges(starts, ends, paths)
        if source is None:
            return await super().edges(heads, tails, relations=relations, limit=limit, after=after)
        return self._answer(await edges_page(source, starts, limit=limit, after=after))

    async def fits(self, asked: FitQuestion, *, limit: int) -> Sequence[Fit]:
        reader = self._readers.fits
        return await (super().fits(asked, limit=limit) if reader is None else reader.fits(asked, limit))

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return self._answer(await self._readers.lists.nodes(label, property_name, value, limit, after))

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        lists = self._readers.lists
        read = lists.values if kind is ValueOwner.NODE else lists.edge_values
        return self._answer(await read(property_name, owner, limit, after))

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        reader = self._readers.schema
        return await (reader.overview(limit) if name is None else reader.around(name, limit))

    @property
    def _readers(self) -> R:
        if self._opened is None:
            raise StoreUnavailable("the graph is not open", next_step="Open the graph first.")
        return self._opened

    async def _iris(self, ids: Sequence[str]) -> list[URIRef]:
        """The IRIs that ids mean, each once."""
        iri_of = self._readers.linker.naming.iri
        return await in_thread(
            len(ids), lambda: list(dict.fromkeys(iri for each in ids if (iri := iri_of(each)) is not None))
        )

    def _answer(self, page: Page[T]) -> Page[T]:
        """A page as it is answered."""
        return page

    def _check_position(self, after: str) -> None:
        """Raises InvalidCursor where a text is no position of rows."""
        Position.parse(after)


def connected(address: str, *, contact: str, timeout: float, graphs: Sequence[str], local_limit: int | None) -> Client:
    """A client that says who asks, and keeps to the limits that public hosts want.

    A store on this machine is asked `local_limit` queries at one time; None: as many as there are.
    """
    agent = user_agent(USER_AGENT, contact, LIBRARY)
    client = SparqlClient(address, timeout=timeout, default_graph=graphs or None, user_agent=agent)
    place = Address.parse(address)
    limit = local_limit if place.is_local else MAX_CONCURRENT
    return client if limit is None else RateLimitedClient(client, limiter_of(place.host, limit=limit), patience=timeout)
