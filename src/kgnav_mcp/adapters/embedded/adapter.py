"""The graph file behind the port: every verb is one job for the pool, done by the reader of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TypeVar

from cachetools import LRUCache

from kgnav_mcp.adapters.embedded import entities, graphfile, queries
from kgnav_mcp.adapters.embedded.catalogue import Catalogue
from kgnav_mcp.adapters.embedded.names import NameReader
from kgnav_mcp.adapters.embedded.neighbours import NeighbourReader
from kgnav_mcp.adapters.embedded.nodes import NodeFinder, Totals
from kgnav_mcp.adapters.embedded.pool import Pool, Session
from kgnav_mcp.adapters.embedded.qualified import qualified
from kgnav_mcp.adapters.embedded.relations import RelationReader
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.schema import SchemaReader
from kgnav_mcp.adapters.embedded.values import Orders, ValueReader
from kgnav_mcp.adapters.embedded.vocabulary import Vocabulary
from kgnav_mcp.adapters.options import PREFIXES, read_prefixes, refuse_unknown
from kgnav_mcp.adapters.paging.directions import DirectedAdapter, RelationQuestion, RowQuestion
from kgnav_mcp.errors import StoreUnavailable
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

T = TypeVar("T")

_UNASKED = AdapterOptions().languages
"""Languages that nobody asked for: names are then shown as the load chose them."""
_KEPT_ENTITIES = 256
_KEPT_PAGES, _KEPT_ITEMS = 16, 5_000
"""Lists of relations that are kept, and the longest of them: some megabytes at the most."""


class EmbeddedAdapter(DirectedAdapter):
    """One open graph file."""

    capabilities: frozenset[Capability] = frozenset(Capability)

    def __init__(self, path: str, options: AdapterOptions) -> None:
        """One graph file. Its only option is `prefixes`, which go before those of the file.

        Raises:
            ConfigurationError: an option is unknown or of the wrong kind.
        """
        refuse_unknown("a graph file", options.extra, (PREFIXES,))
        self._path = path
        self._options = options
        self._prefixes = read_prefixes(options.extra)
        self._pool = Pool(path, timeout=options.timeout)
        self._catalogue: Catalogue | None = None
        self._totals: Totals = {}
        self._orders = Orders()
        self._vocabulary: Vocabulary | None = None
        # An open file never changes, and one that is put in its place is opened by an adapter of its own: answers
        # hold. They are kept and looked up on the event loop alone, never by the pool's threads.
        self._described: LRUCache[tuple[str, ...], Mapping[str, Entity]] = LRUCache(_KEPT_ENTITIES)
        self._relations: LRUCache[tuple[object, ...], Page[RelationFacts]] = LRUCache(_KEPT_PAGES)

    async def open(self) -> None:
        self._catalogue = await self._pool.run(self._read_meta)

    async def close(self) -> None:
        await self._pool.close()

    @property
    def revision(self) -> str:
        """Made anew by every load, whose positions are numbers of its rows; a copy of a file keeps it."""
        return self._opened().revision

    @property
    def stale(self) -> bool:
        return self._pool.stale

    @property
    def class_relations(self) -> frozenset[str]:
        return self._opened().class_relations

    @property
    def coined_prefixes(self) -> Mapping[str, str]:
        return self._opened().coined_prefixes

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        # A walk comes by the same entity with every call: the other direction, a filter, a question.
        asked = tuple(ids)
        found = self._described.get(asked)
        if found is None:
            found = await self._run(lambda builder: entities.described_by_id(builder, ids))
            if found and len(asked) == 1:
                self._described[asked] = found
        return found

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        return await self._run(lambda builder: self._names(builder).named(name, limit))

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        def job(builder: Builder) -> Page[Candidate]:
            entry = builder.catalogue.labels(builder.session).one("label", label) if label is not None else None
            return self._names(builder).find(hint, entry, limit)

        return await self._run(job)

    async def relations_in(self, asked: RelationQuestion) -> Page[RelationFacts]:
        def job(builder: Builder) -> Page[RelationFacts]:
            nodes = [number for number, _ in entities.anchors(builder, asked.ids)]
            reader = RelationReader(builder, nodes, asked.direction, asked.far_ends)
            return reader.page(hops=asked.hops, examples=asked.examples, limit=asked.limit)

        # A long list is read once, not once for each of its pages or for each question that ranks it.
        key = (tuple(asked.ids), *astuple(asked)[1:])
        page = self._relations.get(key)
        if page is None:
            page = await self._run(job)
            if len(asked.ids) == 1 and len(page.items) <= _KEPT_ITEMS:
                self._relations[key] = page
        return page

    async def rows_in(self, asked: RowQuestion) -> Page[Triple]:
        def job(builder: Builder) -> Page[Triple]:
            known = None if asked.paths is None else builder.known_paths(asked.paths)
            reader = NeighbourReader(builder, entities.anchors(builder, asked.ids), asked.direction, asked.far_ends)
            return reader.page(known, asked.limit, asked.after, whole=asked.all_or_none)

        return await self._run(job)

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        return await self._run(lambda builder: qualified(builder, entity, limit))

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return await self._run(
            lambda builder: NodeFinder(builder, self._totals).page(label, property_name, value, limit, after)
        )

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        def job(builder: Builder) -> Page[Literal]:
            reader = ValueReader(builder, self._totals, self._orders)
            read = reader.of_nodes if kind is ValueOwner.NODE else reader.of_edges
            return read(property_name, owner, limit, after)

        return await self._run(job)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        def job(builder: Builder) -> Schema:
            reader = SchemaReader(builder, limit)
            return reader.overview() if name is None else reader.around(name)

        return await self._run(job)

    async def health(self) -> Health:
        def job(builder: Builder) -> Health:
            catalogue = builder.catalogue
            return Health(
                reachable=True,
                store=f"graph file {Path(self._path).name}",
                entities=Count(catalogue.entities),
                triples=Count(catalogue.triples),
                advice=tuple(_advice(builder)),
            )

        return await self._run(job)

    async def _run(self, job: Callable[[Builder], T]) -> T:
        """Do one verb's work in a thread of the pool."""
        catalogue = self._opened()
        languages = self._options.languages
        if languages in {_UNASKED, catalogue.languages}:
            languages = ()
        return await self._pool.run(lambda session: job(Builder(session, catalogue, languages)))

    def _opened(self) -> Catalogue:
        if self._catalogue is None:
            raise StoreUnavailable(f"the graph file {self._path} is not open", next_step="Open the graph first.")
        return self._catalogue

    def _read_meta(self, session: Session) -> Catalogue:
        graphfile.check_schema((text for (text,) in session.all(queries.entities.SCHEMA)), self._path)
        return Catalogue(dict(session.all(queries.entities.META)), self._prefixes)

    def _names(self, builder: Builder) -> NameReader:
        return NameReader(builder, self._options.languages, self._words)

    def _words(self, builder: Builder) -> Vocabulary:
        """All words of all names, read when near words are first looked for."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(term for (term,) in builder.session.all(queries.names.VOCABULARY))
        return self._vocabulary


def _advice(builder: Builder) -> list[str]:
    """What would make answers from this file better."""
    advice: list[str] = []
    named = builder.session.one(queries.lists.HAS_NAMES)
    if named is None or not named[0]:
        advice.append("No entity has a name: load the names, too (kgnav load SOURCES... --labels NAMES).")
    if not builder.catalogue.labels(builder.session).entries:
        advice.append("No entity has a label (class), so that questions cannot be narrowed to one.")
    return advice
