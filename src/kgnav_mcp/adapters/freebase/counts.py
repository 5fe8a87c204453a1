"""Counts the rows of two-hop relations, and finds a few of the mediators on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import SAMPLE, Store
from kgnav_mcp.adapters.paging.counts import RelationCounts, near, together
from kgnav_mcp.adapters.sparql.around import counts
from kgnav_mcp.adapters.sparql.around.counts import Anchor, Counts, Path, Question, path_of
from kgnav_mcp.adapters.sparql.around.queries import BY
from kgnav_mcp.adapters.sparql.reading import Read, number
from kgnav_mcp.adapters.sparql.terms import Terms, batches, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Stop

_AT_ONCE = 1_000_000
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
        self._topic = store.ids.topic
        self._freebase = store.freebase

    def shows(self, relation: URIRef) -> bool:
        return self._freebase.shows(relation)

    async def _two_hops(self, iris: Sequence[URIRef], asked: Question) -> Counts:
        if asked.near is not None:
            return await self._through_near(iris, asked, sorted(asked.near))
        one_hop = await self.one_hop(iris, asked.direction, None)
        found: Counts = RelationCounts(stop=one_hop.stop)
        if not one_hop.rows:
            return found
        by_path = await in_thread(len(iris), one_hop.by_path)
        largest = max(count.value for count in by_path.values())
        large = one_hop.total.value > _AT_ONCE if len(iris) == 1 else largest > SAMPLE
        if large:
            leading, stop = await self._leading_to_mediators(iris, asked, by_path)
            return together([found, RelationCounts(stop=stop), await self._through_near(iris, asked, leading)])
        if len(iris) == 1:
            return together([found, await self._through_one(iris[0], asked)])
        parts = await gathered(*(self._through_set(some, asked) for some in batches(iris, self.batch)))
        return await in_thread(len(iris), lambda: together([found, *parts]))

    async def _through_set(self, iris: Sequence[URIRef], asked: Question) -> Counts:
        through = self._reader.part(queries.THROUGH_SET[asked.direction], s=values(*iris))
        kind = self.ends(asked.direction, asked.far_ends)
        read = await self._reader.select(queries.THROUGH_COUNTS_SET, through=through, kind=kind)
        return await in_thread(len(read.rows), lambda: self.counts_of(read.rows, read.stop, direction=asked.direction))

    async def _through_one(self, anchor: URIRef, asked: Question, begin: Sequence[URIRef] | None = None) -> Counts:
        """Count the two-hop relations of one entity, with two mediators of each; `begin` restricts the first hop.

        The two nodes decide whether the unnamed nodes on the path are mediators, because all far ends of a relation
        of Freebase have one type. Where only one of the two is a mediator, each row is checked.
        """
        only = [Terms("")]
        if begin is not None:
            only = [self._reader.part(queries.ONLY_NEAR, relations=values(*batch)) for batch in batches(begin)]
        through = self._reader.part(queries.THROUGH_ONE[asked.direction], s=anchor)
        kind = self.ends(asked.direction, asked.far_ends)
        read = Read.together(
            [
                await self._reader.select(queries.THROUGH_COUNTS_ONE, through=through, only=some, s=anchor, kind=kind)
                for some in only
            ]
        )
        ends = {path_of(row, asked.direction): tuple(dict.fromkeys((row["first"], row["last"]))) for row in read.rows}
        topics = {path: {self._topic(str(node)) for node in nodes} for path, nodes in ends.items()}
        unsure = sorted({near(path, asked.direction) for path, kinds in topics.items() if len(kinds) > 1})
        sure = {
            path: tuple(URIRef(str(node)) for node in ends[path])
            for path, kinds in topics.items()
            if kinds == {True} and near(path, asked.direction) not in unsure
        }
        rows = [row for row in read.rows if path_of(row, asked.direction) in sure]
        found = self.counts_of(rows, read.stop, anchor, asked.direction)
        return together([_with(found, sure), await self._each_near([anchor], asked, unsure)])

    async def _through_near(self, iris: Sequence[URIRef], asked: Question, begin: Sequence[URIRef]) -> Counts:
        """Count the two-hop relations that begin with some relations."""
        if len(iris) == 1:
            return await self._through_one(iris[0], asked, begin)
        return await self._each_near(iris, asked, begin)

    async def _each_near(self, iris: Sequence[URIRef], asked: Question, begin: Sequence[URIRef]) -> Counts:
        """Count the two-hop relations that begin with some relations; checks each node on the path."""
        through, kind = queries.THROUGH_NEAR[asked.direction], self.ends(asked.direction, asked.far_ends)

        def branches(ids: Terms) -> Iterable[str]:
            for place, relation in enumerate(begin):
                part = self._reader.part(through, s=ids, near=relation)
                yield self._reader.filled(queries.THROUGH_NEAR_COUNTS, number=place, through=part, kind=kind)

        read = await self._union_of_batches(iris, branches)
        rows = ({**row, "near": begin[number(row, "number")]} for row in read.rows if "far" in row)
        return await in_thread(len(read.rows), lambda: self.counts_of(rows, read.stop, direction=asked.direction))

    async def _leading_to_mediators(
        self, iris: Sequence[URIRef], asked: Question, one_hop: Iterable[Path]
    ) -> tuple[list[URIRef], Stop]:
        """The relations with a mediator among their first rows, and why some may be missing."""
        begin = sorted(path[0] for path in one_hop)

        def branches(ids: Terms) -> Iterable[str]:
            for place, relation in enumerate(begin):
                by = self._reader.part(BY[asked.direction], s=ids, p=relation)
                yield self._reader.filled(queries.LEADS_TO_MEDIATOR, number=place, by=by, sample=SAMPLE)

        read = await self._union_of_batches(iris, branches)
        return [begin[place] for place in sorted({number(row, "number") for row in read.rows})], read.stop

    async def _union_of_batches(self, iris: Sequence[URIRef], branches: Callable[[Terms], Iterable[str]]) -> Read:
        """Run the branches for each batch of entities."""

        def every() -> list[str]:
            return [branch for batch in batches(iris, self.batch) for branch in branches(values(*batch))]

        return await self._reader.union(await in_thread(len(iris), every))


def _with(found: Counts, mediators: Mapping[Path, tuple[Anchor, ...]]) -> Counts:
    """The counts with their mediators."""
    return RelationCounts(found.rows, found.stop, found.lower_bounds, mediators)
