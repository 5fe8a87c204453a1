"""The adapter for graph files. Each method runs one job in the thread pool, with the reader class for that method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cachetools import LRUCache

from kgnav_mcp.adapters.embedded import entities, graphfile, queries
from kgnav_mcp.adapters.embedded.catalogue import Catalogue
from kgnav_mcp.adapters.embedded.edges import EdgeKeys, EdgeReader, qualified
from kgnav_mcp.adapters.embedded.entities import Anchors, RowFilter
from kgnav_mcp.adapters.embedded.matching import MatchingReader
from kgnav_mcp.adapters.embedded.names import NameReader
from kgnav_mcp.adapters.embedded.neighbours import NeighbourReader
from kgnav_mcp.adapters.embedded.nodes import NodeFinder, Totals
from kgnav_mcp.adapters.embedded.pool import Pool
from kgnav_mcp.adapters.embedded.relations import RelationReader, rows_in, rows_or_relations
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.schema import SchemaReader, health
from kgnav_mcp.adapters.embedded.session import Session
from kgnav_mcp.adapters.embedded.similar import NO_CANDIDATES, SimilarEntities
from kgnav_mcp.adapters.embedded.values import Orders, ValueReader
from kgnav_mcp.adapters.options import PREFIXES, read_prefixes, refuse_unknown
from kgnav_mcp.adapters.wellknown import RDFS_SUBCLASS
from kgnav_mcp.errors import ConfigurationError, StoreUnavailable
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
    Count,
    Direction,
    Entity,
    Health,
    Link,
    Namesake,
    Page,
    PlanPage,
    RelationFacts,
    RowsOrRelations,
    Schema,
    Stop,
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.port import AdapterOptions, Capability, FarEndFilter, FarEndKind, GraphAdapter, ValueOwner

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan


K = TypeVar("K")

_CACHED_ENTITIES = 256
_CACHED_ANCHORS = 40_000
"""Entities in the cached sets of earlier calls. About 20 MB at most, if each set is one entity."""
_CACHED_COUNTS = 200_000
"""Counts per entity and relation in the cached lists of relations. About 20 MB at most."""
_CACHED_EDGES = 1_000_000
"""Numbers in the cached lists of edges between two sets, four for each edge. 8 MB at most."""


class Caches:
    """The caches of one adapter. Keys are the arguments of the call."""

    def __init__(self) -> None:
        self.described: LRUCache[tuple[str, ...], Mapping[str, Entity]] = LRUCache(_CACHED_ENTITIES)
        self.anchors: LRUCache[tuple[str, ...], Anchors] = LRUCache(_CACHED_ANCHORS, getsizeof=len)
        self.edges: LRUCache[tuple[object, ...], EdgeKeys] = LRUCache(_CACHED_EDGES, getsizeof=len)
        self.relations: LRUCache[tuple[object, ...], AnchoredPage[RelationFacts]] = LRUCache(
            _CACHED_COUNTS, getsizeof=_counts_in
        )

    def have_anchors(self, *sets: Sequence[str]) -> bool:
        """Whether all sets of ids are in the cache of anchors, the entities that a call is about.

        Answers for sets with unknown ids are not cached, because a caller can invent any number of those.
        """
        return all(tuple(ids) in self.anchors for ids in sets)


def put(cache: LRUCache[K, T], key: K, value: T) -> None:
    """Puts a value into a cache, unless it is larger than the whole cache."""
    with suppress(ValueError):
        cache[key] = value


def _counts_in(page: AnchoredPage[RelationFacts]) -> int:
    return 1 + sum(1 + len(facts.per_entity) for facts in page.items)


T = TypeVar("T")

_DEFAULT_LANGUAGES = AdapterOptions().languages
"""The default languages. With these, names are shown in the languages that the load chose."""


class EmbeddedAdapter(GraphAdapter):
    """One open graph file."""

    capabilities: frozenset[Capability] = frozenset(Capability)

    def __init__(self, path: str, options: AdapterOptions) -> None:
        """Opens nothing yet. The only option is `prefixes`, which take precedence over the file's own.

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
        self._caches = Caches()
        self._similar = SimilarEntities(path, options.meaning, self._run) if options.meaning is not None else None

    async def open(self) -> None:
        self._catalogue = await self._pool.run(self._read_meta)

    async def close(self) -> None:
        if self._similar is not None:
            await self._similar.close()
        await self._pool.close()

    @property
    def revision(self) -> str:
        """The identifier of the load that wrote the file; copies of a file have the same.

        A position is a row number of one load, so it is valid only for this revision.
        """
        return self._opened().revision

    @property
    def stale(self) -> bool:
        return self._pool.stale

    @property
    def class_relations(self) -> frozenset[str]:
        return self._opened().class_relations

    @property
    def subclass_relations(self) -> frozenset[str]:
        return self._opened().subclass_relations

    @property
    def generated_prefixes(self) -> Mapping[str, str]:
        return self._opened().coined_prefixes

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        # A client asks about the same entity several times in a row: the other direction, a filter, a question.
        key = tuple(ids)
        described = self._caches.described.get(key)
        if described is None:
            described = await self._run(lambda builder: entities.described_by_id(builder, ids))
            if described and len(key) == 1:
                self._caches.described[key] = described
        return described

    async def find_by_name(self, name: str, *, limit: int) -> Page[Namesake]:
        return (await self.find_by_names([name], limit=limit))[name]

    async def find_by_names(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        return await self._run(lambda builder: NameReader(builder, self._options.languages).named_each(names, limit))

    async def find_by_values(self, values: Sequence[str], *, limit: int) -> Mapping[str, Sequence[ValueMatch]]:
        return await self._run(lambda builder: NameReader(builder, self._options.languages).with_values(values, limit))

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        return await self._run(lambda builder: NameReader(builder, self._options.languages).find(hint, label, limit))

    async def find_by_meaning(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        if self._similar is None:
            return NO_CANDIDATES
        return await self._similar.find(self.revision, hint, label, limit)

    @property
    def indexing_progress(self) -> str:
        return self._similar.progress if self._similar is not None else ""

    async def build_index_of_meanings(self, *, threads: int) -> int:
        """Builds the index that `find_by_meaning` reads anew, and returns the number of its entities.

        Raises:
            ConfigurationError: the model is not configured or not installed.
            OSError: the index cannot be written beside the graph file.
        """
        if self._similar is None:
            raise ConfigurationError("no sentence model is configured", next_step="Open the graph with one.")
        return await self._similar.build(self.revision, threads=threads)

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
        def job(builder: Builder, anchors: Anchors) -> AnchoredPage[RelationFacts]:
            reader = RelationReader(builder, anchors, far_end_kind)
            return reader.page(direction, hops=hops, examples=examples, limit=limit)

        # Cached, so that a long list is not read again for each of its pages or for each question that ranks it.
        key = (tuple(ids), direction, hops, far_end_kind, examples, limit)
        page = self._caches.relations.get(key)
        if page is None:
            page = await self._run_with_anchors(job, ids)
            if self._caches.have_anchors(ids):
                put(self._caches.relations, key, page)
        return page

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
        def job(builder: Builder, anchors: Anchors) -> AnchoredPage[Link]:
            row_filter = RowFilter.of(builder, relation_paths, far_end_kind)
            return NeighbourReader(builder, anchors, direction, row_filter).page(limit, after, all_or_none=all_or_none)

        return await self._run_with_anchors(job, ids)

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
        def job(builder: Builder, anchors: Anchors) -> AnchoredPage[Link]:
            row_filter = RowFilter.of(builder, relation_paths, far.kind)
            return MatchingReader(builder, anchors, direction, row_filter, far).page(limit, after)

        return await self._run_with_anchors(job, ids)

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
        def job(builder: Builder, anchors: Anchors) -> RowsOrRelations:
            return rows_or_relations(builder, anchors, direction, rows, relations, hops=hops, examples=examples)

        key = (tuple(ids), direction, hops, None, examples, relations)
        if (cached := self._caches.relations.get(key)) is not None and rows_in(cached) > rows:
            return RowsOrRelations(AnchoredPage((), (), Count(rows_in(cached)), Stop.LIMIT), cached)
        result = await self._run_with_anchors(job, ids)
        if result.relations is not None and self._caches.have_anchors(ids):
            put(self._caches.relations, key, result.relations)
        return result

    async def edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        key = (tuple(heads), tuple(tails), None if relations is None else frozenset(relations))
        cached = self._caches.edges.get(key)

        def job(builder: Builder, at_heads: Anchors, at_tails: Anchors) -> tuple[EdgeKeys, Page[Triple]]:
            reader = EdgeReader(builder, at_heads, at_tails)
            relation_paths = None if relations is None else builder.known_paths((relation,) for relation in relations)
            keys = cached or reader.keys(
                None if relation_paths is None else [relation for (relation,) in relation_paths]
            )
            return keys, reader.page(keys, limit, after)

        keys, page = await self._run_with_anchors(job, heads, tails)
        if page.stop is Stop.LIMIT and self._caches.have_anchors(heads, tails):
            put(self._caches.edges, key, keys)
        return page

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        return await self._run(lambda builder: qualified(builder, entity, limit))

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        return await self._run(
            lambda builder: NodeFinder(builder, self._totals).page(label, property_name, value, limit, after)
        )

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        def job(builder: Builder) -> Page[ValueFacts]:
            reader = ValueReader(builder, self._totals, self._orders)
            read_values = reader.of_nodes if kind is ValueOwner.NODE else reader.of_edges
            return read_values(property_name, owner, limit, after)

        return await self._run(job)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        def job(builder: Builder) -> Schema:
            reader = SchemaReader(builder, limit)
            return reader.overview() if name is None else reader.around(name)

        return await self._run(job)

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        def job(builder: Builder) -> PlanPage:
            from kgnav_mcp.adapters.embedded.plans import PlanReader  # noqa: PLC0415 - opening a graph needs no compiler

            return PlanReader(builder).page(plan, limit, after)

        return await self._run(job)

    async def health(self) -> Health:
        return await self._run(lambda builder: health(builder, Path(self._path).name))

    async def _run_with_anchors(self, job: Callable[..., T], *sets: Sequence[str]) -> T:
        """Runs a job on sets of entities. Sets known from an earlier call come from the cache, others are looked up."""
        id_sets = [tuple(ids) for ids in sets]
        cached = [self._caches.anchors.get(ids) for ids in id_sets]

        def read_and_run(builder: Builder) -> tuple[list[Anchors], T]:
            anchors = [
                Anchors.read(builder, ids) if anchor_set is None else anchor_set
                for ids, anchor_set in zip(id_sets, cached, strict=True)
            ]
            return anchors, job(builder, *anchors)

        anchors, answer = await self._run(read_and_run)
        for ids, cached_anchors, anchor_set in zip(id_sets, cached, anchors, strict=True):
            if cached_anchors is None and anchor_set.resolves_all(ids):
                put(self._caches.anchors, ids, anchor_set)
        return answer

    async def _run(self, job: Callable[[Builder], T]) -> T:
        """Runs a job in a thread of the pool."""
        catalogue = self._opened()
        languages = self._options.languages
        if languages in {_DEFAULT_LANGUAGES, catalogue.languages}:
            languages = ()
        return await self._pool.run(lambda session: job(Builder(session, catalogue, languages)))

    def _opened(self) -> Catalogue:
        if self._catalogue is None:
            raise StoreUnavailable(f"the graph file {self._path} is not open", next_step="Open the graph first.")
        return self._catalogue

    def _read_meta(self, session: Session) -> Catalogue:
        graphfile.check_schema((text for (text,) in session.all(queries.entities.SCHEMA)), self._path)
        subclass_keys = [key for key in (RDFS_SUBCLASS,) if session.one(queries.entities.HAS_EDGES, key) == (1,)]
        meta = dict(session.all(queries.entities.META))
        hides_identifiers = not self._options.raw_triples
        bracketed = any(
            all(session.one(queries.entities.HAS_KEYS, start) == (1,) for start in (f"{prefix}:", namespace))
            for prefix, namespace in self._prefixes.items()
        )
        return Catalogue(meta, self._prefixes, subclass_keys, hides_identifiers=hides_identifiers, bracketed=bracketed)
