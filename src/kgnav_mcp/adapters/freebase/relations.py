"""Counts the triples of each relation of entities, also over two hops, and reads a few far ends of each as examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.store import SAMPLE, Store
from kgnav_mcp.adapters.generic_sparql.queries import FAR
from kgnav_mcp.adapters.paging.counts import RelationCounts, far_relation, merge_counts, near_relation
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base.around import counts, relations
from kgnav_mcp.adapters.sparql_base.around.blocks import End
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Counts, IriCountRequest, Path, path_of
from kgnav_mcp.adapters.sparql_base.around.queries import AROUND_ONE, BY
from kgnav_mcp.adapters.sparql_base.around.relations import ExampleEnds
from kgnav_mcp.adapters.sparql_base.query_reader import Read, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Stop
from kgnav_mcp.port.lists import batches

_MAX_ROWS_FOLLOWED = 1_000_000
"""Maximum number of rows of one entity that are all followed to find mediators, which takes a second. With more rows,
only relations are followed where a sample contains a mediator."""


class CountReader(counts.CountReader):
    """Counts rows.

    For an entity with more than a million rows, and for several entities where a relation has more than 1,000 rows, a
    relation counts as leading to mediators if one of its first 1,000 far ends is one: all far ends of a relation of
    Freebase have one type.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.reader)
        self._topic = store.endpoint.ids.is_topic
        self._freebase = store.endpoint

    def shows(self, relation: URIRef) -> bool:
        return self._freebase.shows(relation)

    async def _two_hops(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        if request.near is not None:
            return await self._through_near(iris, request, sorted(request.near))
        one_hop = await self.one_hop(iris, request.direction, None)
        found: Counts = RelationCounts(stop=one_hop.stop)
        if not one_hop.rows:
            return found
        by_path = await in_thread(len(iris), one_hop.by_path)
        largest = max(count.value for count in by_path.values())
        large = one_hop.total.value > _MAX_ROWS_FOLLOWED if len(iris) == 1 else largest > SAMPLE
        if large:
            leading, stop = await self._leading_to_mediators(iris, request, by_path)
            return merge_counts([found, RelationCounts(stop=stop), await self._through_near(iris, request, leading)])
        if len(iris) == 1:
            return merge_counts([found, await self._through_one(iris[0], request)])
        parts = await gathered(*(self._through_set(batch, request) for batch in batches(iris, self.batch)))
        return await in_thread(len(iris), lambda: merge_counts([found, *parts]))

    async def _through_set(self, iris: Sequence[URIRef], request: IriCountRequest) -> Counts:
        through = self._reader.part(queries.THROUGH_SET[request.direction], s=values(*iris))
        kind = self.far_end_filter(request.direction, request.far_end_kind)
        read = await self._reader.select(queries.THROUGH_COUNTS_SET, through=through, kind=kind)
        return await in_thread(
            len(read.rows), lambda: self.counts_of(read.rows, read.stop, direction=request.direction)
        )

    async def _through_one(
        self, anchor: URIRef, request: IriCountRequest, first_hops: Sequence[URIRef] | None = None
    ) -> Counts:
        """Count the two-hop relations of one entity, with two mediators of each; `first_hops` restricts the first hop.

        The two nodes decide whether the unnamed nodes on the path are mediators, because all far ends of a relation
        of Freebase have one type. Where only one of the two is a mediator, each row is checked.
        """
        restrictions = [Fragment("")]
        if first_hops is not None:
            restrictions = [
                self._reader.part(queries.ONLY_NEAR, relations=values(*batch))
                for batch in batches(first_hops, MAX_TERMS)
            ]
        through = self._reader.part(queries.THROUGH_ONE[request.direction], s=anchor)
        kind = self.far_end_filter(request.direction, request.far_end_kind)
        read = Read.combined(
            [
                await self._reader.select(
                    queries.THROUGH_COUNTS_ONE, through=through, only=restriction, s=anchor, kind=kind
                )
                for restriction in restrictions
            ]
        )
        ends = {path_of(row, request.direction): tuple(dict.fromkeys((row["first"], row["last"]))) for row in read.rows}
        topics = {path: {self._topic(str(node)) for node in nodes} for path, nodes in ends.items()}
        mixed = sorted({near_relation(path, request.direction) for path, kinds in topics.items() if len(kinds) > 1})
        certain = {
            path: tuple(URIRef(str(node)) for node in ends[path])
            for path, kinds in topics.items()
            if kinds == {True} and near_relation(path, request.direction) not in mixed
        }
        rows = [row for row in read.rows if path_of(row, request.direction) in certain]
        found = self.counts_of(rows, read.stop, anchor, request.direction)
        return merge_counts([_with_mediators(found, certain), await self._through_each_near([anchor], request, mixed)])

    async def _through_near(
        self, iris: Sequence[URIRef], request: IriCountRequest, first_hops: Sequence[URIRef]
    ) -> Counts:
        """Count the two-hop relations that begin with some relations."""
        if len(iris) == 1:
            return await self._through_one(iris[0], request, first_hops)
        return await self._through_each_near(iris, request, first_hops)

    async def _through_each_near(
        self, iris: Sequence[URIRef], request: IriCountRequest, first_hops: Sequence[URIRef]
    ) -> Counts:
        """Count the two-hop relations that begin with some relations; checks each node on the path."""
        through, kind = (
            queries.THROUGH_NEAR[request.direction],
            self.far_end_filter(request.direction, request.far_end_kind),
        )

        def branches(ids: Fragment) -> Iterable[str]:
            for place, relation in enumerate(first_hops):
                part = self._reader.part(through, s=ids, near=relation)
                yield self._reader.filled(queries.THROUGH_NEAR_COUNTS, number=place, through=part, kind=kind)

        read = await self._union_of_batches(iris, branches)
        rows = ({**row, "near": first_hops[number_in(row, "number")]} for row in read.rows)
        return await in_thread(len(read.rows), lambda: self.counts_of(rows, read.stop, direction=request.direction))

    async def _leading_to_mediators(
        self, iris: Sequence[URIRef], request: IriCountRequest, one_hop: Iterable[Path]
    ) -> tuple[list[URIRef], Stop]:
        """The relations with a mediator among their first rows, and why some may be missing."""
        relations = sorted(path[0] for path in one_hop)

        def branches(ids: Fragment) -> Iterable[str]:
            for place, relation in enumerate(relations):
                pattern = self._reader.part(BY[request.direction], s=ids, p=relation)
                yield self._reader.filled(queries.LEADS_TO_MEDIATOR, number=place, by=pattern, sample=SAMPLE)

        read = await self._union_of_batches(iris, branches)
        return [relations[place] for place in sorted({number_in(row, "number") for row in read.rows})], read.stop

    async def _union_of_batches(self, iris: Sequence[URIRef], branches: Callable[[Fragment], Iterable[str]]) -> Read:
        """Run the branches for each batch of entities."""

        def every() -> list[str]:
            return [branch for batch in batches(iris, self.batch) for branch in branches(values(*batch))]

        return await self._reader.union(await in_thread(len(iris), every))


def _with_mediators(found: Counts, mediators: Mapping[Path, tuple[Anchor, ...]]) -> Counts:
    """The counts with their mediators."""
    return RelationCounts(found.rows, found.stop, found.lower_bounds, mediators)


_KNOWN_MEDIATORS = 2
"""Maximum number of examples for which the two known mediators of a relation suffice."""
_MAX_ROLES = 5_000
"""Maximum number of rows behind mediators that are read to find examples."""


class RelationReader(relations.RelationReader):
    """Reads far ends. Names in the preferred languages come with the same query and are cached."""

    def __init__(self, store: Store, names: Names, counts: CountReader) -> None:
        super().__init__(store, names, counts)
        self.mediator = store.reader.part(queries.MEDIATOR)

    async def _examples(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        known = [path for path in relation_paths if request.examples <= _KNOWN_MEDIATORS and path in counts.mediators]
        others = [path for path in relation_paths if path not in known]
        reads: list[Awaitable[ExampleEnds]] = []
        if known:
            reads.append(self._behind(counts, known, request))
        if others and len(counts.rows) == 1 and all(len(path) == 1 for path in others):
            reads.append(self._of_one(URIRef(str(next(iter(counts.rows)))), others, request))
        elif others:
            reads.append(self._of_some(counts, others, request))
        found = ExampleEnds()
        for ends in await gathered(*reads):
            found |= ends
        return found

    async def _of_one(self, anchor: URIRef, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """Read the first far ends of an entity's one-hop relations."""
        pattern, kind = (
            self._reader.part(AROUND_ONE[request.direction], s=anchor),
            self._counts.far_end_filter(request.direction, request.far_end_kind),
        )
        ends = [self._reader.filled(queries.FAR_END, by=pattern, kind=kind, skip=n) for n in range(request.examples)]
        called = [self._reader.filled(queries.FAR_END_CALLED, skip=n) for n in range(request.examples)]
        parts = {"far_ends": Fragment(" ".join(ends)), "called": Fragment(" ".join(called))}
        read = await self._reader.in_batches(
            queries.FIRST_FAR_ENDS, "relations", [path[0] for path in relation_paths], **parts
        )
        found: dict[Path, Sequence[End]] = {}
        labels: dict[URIRef, list[Literal]] = defaultdict(list)
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            relation = iri_in(row, "p")
            add_name(names[relation], row.get("called"))
            found[(relation,)] = [row[end] for n in range(request.examples) if (end := f"o{n}") in row]
            for n, end in enumerate(found[(relation,)]):
                if name := row.get(f"called{n}"):
                    add_name(labels[URIRef(str(end))], name)
        await self._cache_names(read.stop, labels, names)
        return ExampleEnds(found, read.stop)

    async def _behind(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """Read far ends of an entity's two-hop relations, behind the known mediators."""
        nodes = list(dict.fromkeys(URIRef(str(node)) for path in relation_paths for node in counts.mediators[path]))
        anchor, edge = URIRef(str(next(iter(counts.rows)))), Fragment(FAR[request.direction])
        kind = self._counts.far_end_filter(request.direction, request.far_end_kind)
        read = await self._reader.in_batches(
            queries.ROLES_OF, "ids", nodes, s=anchor, edge=edge, kind=kind, most=_MAX_ROLES
        )
        behind: dict[tuple[Anchor, URIRef], list[Term]] = defaultdict(list)
        labels: dict[URIRef, list[Literal]] = {node: [] for node in nodes}
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            relation, end = iri_in(row, "far"), row["o"]
            behind[iri_in(row, "m"), relation].append(end)
            add_name(names[relation], row.get("role"))
            if name := row.get("called"):
                add_name(labels.setdefault(URIRef(str(end)), []), name)
        await self._cache_names(read.stop, labels, names)
        found: dict[Path, Sequence[End]] = {}
        for path in relation_paths:
            relation = far_relation(path, request.direction)
            ends = (end for node in counts.mediators[path] for end in sorted(behind[node, relation], key=str))
            found[path] = list(dict.fromkeys(ends))[: request.examples]
        return ExampleEnds(found, read.stop)

    async def _cache_names(
        self,
        stop: Stop,
        labels: Mapping[URIRef, Sequence[Literal]],
        relations: Mapping[URIRef, Sequence[Literal]],
    ) -> None:
        """Cache the names of entities and of relations, unless a time-out may have cut some."""
        if stop is not Stop.TIME_OUT:
            await self._names.keep(labels)
            await self._names.keep_relations(relations)
