"""The relations of a set of entities, with the number of statements of each property at each entity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from heapq import nsmallest

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import (
    CountCache,
    CountRequest,
    RelationCounts,
    merge_counts,
    paths_in_order,
    relations_page,
    sum_counts,
)
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.query_reader import Read, iri_in, is_at_most, number_in
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.statements import StatementReader, StatementRow, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Node, Page, RelationFacts, Stop
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

COUNTED_AT_HUBS = 1_001
"""Maximum number of rows of one relation of a hub that are counted."""

_BATCH_SIZE = 300
"""Properties, or entities, that one query tests."""
_PROPERTIES_PER_QUERY = 40
"""Properties that one query counts."""
_MAX_ANSWER_ROWS = 10_000
"""The number of rows to which endpoints usually limit a result."""
_MAX_TRIPLES_SAMPLED = 20_000
"""Triples at a hub that are sampled for its relations, if there is no catalogue."""

Path = tuple[str]
"""The bare id of a property: `P31`."""
Counts = RelationCounts[URIRef, str]
_CountRequest = CountRequest[str]


class CountReader:
    """Counts statements, and caches the counts for a minute."""

    def __init__(self, store: Store, catalogues: CatalogueCache) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._cache = CountCache[URIRef, str]()

    async def at(
        self,
        entities: Sequence[URIRef],
        direction: Direction,
        far_end_kind: FarEndKind | None,
        relation_paths: Collection[Path] | None = None,
    ) -> Counts:
        """The number of statements of each property (or those in `relation_paths`) with far ends of this kind."""
        wanted = None if relation_paths is None else frozenset[tuple[str, ...]](relation_paths)
        request = _CountRequest(frozenset(map(str, entities)), direction, far_end_kind, wanted)
        return await self._cache.get(request, lambda: self._counted(entities, request))

    async def exceeds(self, entities: Sequence[URIRef], direction: Direction, limit: int) -> bool:
        """Whether more than `limit` statements point at the entities, tested without counting all of them.

        Also False if that cannot be tested; then `at` must count.
        """
        cached = await self._cache.cached(_CountRequest(frozenset(map(str, entities)), direction, None))
        if cached is not None or direction is Direction.OUTGOING or self._store.wikidata.counted is not None:
            return False
        found = 0
        for batch in batches(entities, _BATCH_SIZE):
            ids = await in_thread(len(batch), partial(values, *batch))
            try:
                found += (await self._reader.count(queries.PROBE[direction], s=ids, most=limit + 1)).value
            except StoreTimeout:
                return False  # `at` has other ways to find out, and reports if they end early.
        return found > limit

    async def _counted(self, entities: Sequence[URIRef], request: _CountRequest) -> Counts:
        if request.direction is Direction.INCOMING and request.far_end_kind is FarEndKind.LITERAL:
            return RelationCounts()
        if request.relation_paths is not None:
            return await self._count_properties(entities, request, sorted(path[0] for path in request.relation_paths))
        if request.direction is Direction.INCOMING:
            return await self._count_incoming(entities, self._count_hub, self._count_by_group)
        if request.far_end_kind is not FarEndKind.LITERAL:
            query = queries.COUNTS[request.direction] if request.far_end_kind is None else queries.ENTITY_COUNTS
            return await self._count_by_group(entities, query)
        return await self._count_literals(entities, request)

    async def _count_literals(self, entities: Sequence[URIRef], request: _CountRequest) -> Counts:
        """Count statements whose value is not an entity: all statements minus those whose value is one."""
        all_counts, entity_counts = await gathered(
            self.at(entities, request.direction, None), self.at(entities, request.direction, FarEndKind.ENTITY)
        )
        if entity_counts.stop is not Stop.COMPLETE:
            raise errors.stopped_by_store()  # If too little is subtracted, the rest is not even a lower bound.
        rest = (
            (one, path, rows - entity_counts.rows.get(one, {}).get(path, 0))
            for one, counts in all_counts.rows.items()
            for path, rows in counts.items()
        )
        return await in_thread(
            len(entities),
            lambda: sum_counts(((one, path, rows) for one, path, rows in rest if rows > 0), all_counts.stop),
        )

    async def _count_properties(
        self, entities: Sequence[URIRef], request: _CountRequest, names: Sequence[str]
    ) -> Counts:
        """Count some properties, each by its own subquery."""
        if request.far_end_kind is not None or len(names) > _PROPERTIES_PER_QUERY:
            all_counts = await self.at(entities, request.direction, request.far_end_kind)
            return await in_thread(len(entities), lambda: all_counts.restricted_to([(name,) for name in names]))

        async def count(some: Sequence[URIRef]) -> Counts:
            size = min(_MAX_ANSWER_ROWS // len(names), MAX_TERMS)
            parts = await gathered(
                *(self._count_each_property(part, request.direction, names) for part in batches(some, size))
            )
            return await in_thread(len(some), lambda: merge_counts(parts))

        if request.direction is Direction.OUTGOING:
            return await count(entities)
        return await self._count_incoming(entities, lambda one: self._count_up_to_bound(one, names), count)

    async def _count_each_property(
        self, entities: Sequence[URIRef], direction: Direction, names: Sequence[str]
    ) -> Counts:
        variable = "s" if direction is Direction.OUTGOING else "o"
        ids = await in_thread(len(entities), lambda: values(*entities))
        branches = [
            self._reader.filled(
                queries.COUNTS_BY[direction],
                number=place,
                s=ids,
                rows=self._store.rows(self._store.form.rows[direction], name),
            )
            for place, name in enumerate(names)
        ]
        read = await self._reader.union(branches)
        rows = (
            (iri_in(row, variable), (names[number_in(row, "number")],), number_in(row, "n"))
            for row in read.rows
            if variable in row
        )
        return await in_thread(len(read.rows), lambda: sum_counts(rows, read.stop))

    async def _count_incoming(
        self,
        entities: Sequence[URIRef],
        hub: Callable[[URIRef], Awaitable[Counts]],
        count: Callable[[Sequence[URIRef]], Awaitable[Counts]],
    ) -> Counts:
        """Count what points at entities: by `count` for those with few rows, by `hub` for each other one."""
        bound = self._store.wikidata.counted
        small = set(entities) if bound is None else set(await self._within_bound(entities, bound))
        found: Counts = RelationCounts()
        if small:
            try:
                found = await count([one for one in entities if one in small])
            except StoreTimeout:
                small = set[URIRef]()
        hubs = [await hub(one) for one in entities if one not in small]
        return await in_thread(len(entities), lambda: merge_counts([found, *hubs]))

    async def _within_bound(self, entities: Sequence[URIRef], bound: int) -> Sequence[URIRef]:
        """The entities at which at most `bound` triples point, found by halving the set."""
        batch = entities[:MAX_TERMS]
        try:
            ids = await in_thread(len(batch), lambda: values(*batch))
            found = await self._reader.count(queries.POINTING, s=ids, most=bound + 1)
        except StoreTimeout:
            found = None  # Taking so long means that there are many.
        if len(batch) < len(entities):
            return [*await self._within_bound(batch, bound), *await self._within_bound(entities[MAX_TERMS:], bound)]
        if found is not None and is_at_most(found, bound):
            return entities
        half = len(entities) // 2
        if not half:
            return ()
        parts = await gathered(self._within_bound(entities[:half], bound), self._within_bound(entities[half:], bound))
        return [*parts[0], *parts[1]]

    async def _count_hub(self, anchor: URIRef) -> Counts:
        """Count the relations that lead to a hub without reading its rows, each up to a bound."""
        known = [known.id for known in self._catalogues.current.properties if known.to_entities]
        if not known:
            rows = (await self._reader.select(queries.SOME_RELATIONS, s=values(anchor), most=_MAX_TRIPLES_SAMPLED)).rows
            found = sorted(local for row in rows if (local := self._store.ids.property_of(str(row["p"]))) is not None)
            return RelationCounts({anchor: {(local,): 1 for local in found}}, Stop.TIME_OUT)
        parts = await gathered(*(self._properties_leading_to(anchor, chunk) for chunk in batches(known, _BATCH_SIZE)))
        names = [name for found, _ in parts for name in found]
        missing = any(not whole for _, whole in parts)
        if missing and not names:
            raise hub_timed_out()
        found = merge_counts([RelationCounts({anchor: {}}), await self._count_up_to_bound(anchor, names)])
        return merge_counts([found, RelationCounts(stop=Stop.TIME_OUT)]) if missing else found

    async def _properties_leading_to(self, anchor: URIRef, names: Sequence[str]) -> tuple[list[str], bool]:
        """Those of the properties that lead to an entity, and whether all were tested in time."""
        directs = values(*map(self._store.ids.direct, names))
        try:
            read = await self._reader.select(queries.LEADING, directs=directs, s=anchor)
        except StoreTimeout:
            return [], False  # The caller marks its counts as partial.
        found = [local for row in read.rows if (local := self._store.ids.property_of(str(row["direct"]))) is not None]
        return found, read.stop is Stop.COMPLETE

    async def _count_up_to_bound(self, anchor: URIRef, names: Sequence[str]) -> Counts:
        """Count the rows of properties at a hub, each up to a bound. "At least one" where that takes too long."""
        return merge_counts(
            await gathered(
                *(self._count_batch_up_to_bound(anchor, chunk) for chunk in batches(names, _PROPERTIES_PER_QUERY))
            )
        )

    async def _count_batch_up_to_bound(self, anchor: URIRef, names: Sequence[str]) -> Counts:
        branches = [
            self._reader.filled(
                queries.AT_MOST,
                pointing=self._store.rows(self._store.form.pointing, name, s=anchor),
                most=COUNTED_AT_HUBS,
                number=place,
            )
            for place, name in enumerate(names)
        ]
        try:
            read = await self._reader.union(branches)
        except StoreTimeout:
            read = Read((), Stop.TIME_OUT)  # Each count becomes a lower bound.
        found = {names[number_in(row, "number")]: number_in(row, "n") for row in read.rows}
        exact = {name for name, rows in found.items() if rows < COUNTED_AT_HUBS and read.stop is Stop.COMPLETE}
        rows = {(name,): found[name] if name in exact else max(found.get(name, 1), 1) for name in names}
        bounds = frozenset((anchor, path) for path in rows if path[0] not in exact)
        return RelationCounts({anchor: rows}, lower_bounds=bounds)

    async def _count_by_group(
        self, entities: Sequence[URIRef], query: str = queries.COUNTS[Direction.INCOMING]
    ) -> Counts:
        read = await self._reader.in_batches(query, "s", entities)
        return await in_thread(len(read.rows), lambda: sum_counts(self._count_rows(read), read.stop))

    def _count_rows(self, read: Read) -> Iterable[tuple[URIRef, Path, int]]:
        for row in read.rows:
            local = self._store.ids.property_of(str(row["p"]))
            if local is not None:
                yield iri_in(row, "s"), (local,), number_in(row, "n")


def hub_timed_out() -> StoreTimeout:
    """The error for a hub of which nothing could be read in time."""
    return StoreTimeout(
        None,
        "the store timed out while counting the triples that point at this entity",
        next_step="Give relations, or use direction outgoing.",
    )


_MAX_EXAMPLE_ANCHORS = 20
"""Entities of the set whose far ends are used as examples."""


class RelationReader:
    """Answers the verb `relations`."""

    def __init__(
        self, store: Store, catalogues: CatalogueCache, counts: CountReader, statements: StatementReader
    ) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._counts = counts
        self._statements = statements

    async def page(self, anchors: Sequence[URIRef], request: RelationRequest) -> Page[RelationFacts]:
        """The relations sorted by id. Identifiers of other databases are marked as hidden, and have no examples."""
        counts = await self._counts.at(anchors, request.direction, request.far_end_kind)
        relation_paths = await in_thread(len(anchors), lambda: paths_in_order(counts, lambda path: path))
        catalogue, shown = self._catalogues.current, [path[0] for path in relation_paths[: request.limit]]
        hidden = set[str]() if self._store.wikidata.external_ids else set(filter(catalogue.hidden, shown))
        examples, stop = await self._examples(counts, [name for name in shown if name not in hidden], request)
        return await in_thread(
            len(anchors),
            lambda: relations_page(
                counts,
                request.direction,
                relation_paths=relation_paths,
                limit=request.limit,
                names={name: catalogue.relation(name) for name in shown},
                printed=self._store.ids.shown,
                examples={(name,): nodes for name, nodes in examples.items()},
                stop=stop,
                hidden=[(name,) for name in hidden],
            ),
        )

    async def _examples(
        self, counts: Counts, names: Sequence[str], request: RelationRequest
    ) -> tuple[dict[str, tuple[Node, ...]], Stop]:
        """The first few distinct far ends of each property, and whether all were read.

        One query reads them for all properties. If it times out, there are no examples.
        """
        if not request.examples or not names:
            return {}, Stop.COMPLETE
        outgoing = request.direction is Direction.OUTGOING
        pattern = self._store.form.valued if outgoing else self._store.form.rows[request.direction]
        kind = self._reader.part(queries.KINDS[request.far_end_kind if outgoing else None])
        rows = await in_thread(len(counts.rows), counts.by_path_and_entity)
        branches: list[str] = []
        for place, name in enumerate(names):
            first_entities = await in_thread(
                len(rows[name,]), partial(nsmallest, _MAX_EXAMPLE_ANCHORS, rows[name,], key=str)
            )
            branches.append(
                self._reader.filled(
                    queries.EXAMPLES[request.direction],
                    s=values(*first_entities),
                    rows=self._store.rows(pattern, name),
                    kind=kind,
                    number=place,
                    most=request.examples,
                )
            )
        try:
            read = await self._reader.union(branches)
        except StoreTimeout:
            return {}, Stop.TIME_OUT  # Counts without examples are still a useful answer.
        found: list[StatementRow] = []
        for row in read.rows:
            name = names[number_in(row, "number")]
            if outgoing:
                found.append(StatementRow(iri_in(row, "head"), name, statement(row, "one"), row["o"]))
            else:
                found.append(StatementRow(iri_in(row, "s"), name, None, None))
        nodes: dict[str, list[Node]] = defaultdict(list)
        for each, node in zip(found, await self._statements.nodes(found, request.direction), strict=True):
            if node not in nodes[each.property]:
                nodes[each.property].append(node)
        return {name: tuple(far) for name, far in nodes.items()}, read.stop
