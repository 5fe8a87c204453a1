"""Pages of any size give the rows of one page, whatever is small, counted, or grouped."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from kgnav_mcp.adapters.paging.counts import RelationCounts, sum_counts
from kgnav_mcp.adapters.paging.rows import Place, Rows, RowSource, Segment, SegmentPart, neighbours_page
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Count, Entity, Page, Relation, Stop, Triple

Path = tuple[str, ...]
Groups = Sequence[Sequence[str]]
"""The rows of a path at an entity: those of each group together."""


class Graph(RowSource[str, str, str]):
    """Rows in memory. `counted` is the share of them that counting tells, `whole` the size up to which one is small."""

    rows_per_query = 7
    segments_per_query = 3

    def __init__(self, rows: Mapping[tuple[str, Path], Groups], *, whole: int = 3, counted: float = 1.0) -> None:
        self._rows = rows
        self._whole = whole
        self._counted = counted
        self.reads: list[str] = []
        self.late: set[str] = set()
        """Paths whose rows are not read in time."""

    def ids(self, path: Path) -> Path:
        return path

    async def counts(self) -> RelationCounts[str, str]:
        sizes = [(entity, path, sum(map(len, groups))) for (entity, path), groups in self._rows.items()]
        if self._counted == 1.0:
            return sum_counts(sizes)
        return sum_counts((one, path, max(int(n * self._counted), 1)) for one, path, n in sizes).as_lower_bounds()

    def is_small(self, segment: Segment[str, str]) -> bool:
        return segment.exact and len(segment.path) == 1 and segment.rows <= self._whole

    async def read_together(self, wanted: Sequence[SegmentPart[str, str]]) -> Sequence[Rows[str]]:
        self.reads.append(" ".join(one.segment.path[0] for one in wanted))
        return [self._read(one) for one in wanted]

    async def read_slice(self, wanted: SegmentPart[str, str]) -> Rows[str]:
        self.reads.append(f"slice {'.'.join(wanted.segment.path)}")
        return self._read(wanted)

    async def triples(self, rows: Sequence[tuple[Segment[str, str], str]]) -> Sequence[Triple]:
        return [Triple(Entity(one.entity), Relation(".".join(one.path), ""), Entity(row)) for one, row in rows]

    def _read(self, wanted: SegmentPart[str, str]) -> Rows[str]:
        if wanted.segment.path[0] in self.late:
            return Rows((), Stop.TIME_OUT)
        groups = self._rows[wanted.segment.entity, wanted.segment.path]
        places = [(row, Place(n, i)) for n, group in enumerate(groups) for i, row in enumerate(group, 1)]
        ends = {Place(n, len(group)): Place(n + 1) for n, group in enumerate(groups)} if _one_hop(wanted) else {}
        return wanted.select_from([(row, ends.get(place, place)) for row, place in places])


def _one_hop(wanted: SegmentPart[str, str]) -> bool:
    return len(wanted.segment.path) == 1


def _graph(seed: int, **how: float) -> tuple[Graph, list[str]]:
    chance = random.Random(seed)  # noqa: S311 - the same graph at each run
    rows: dict[tuple[str, Path], Groups] = {}
    entities = [f"e{n}" for n in range(6)]
    for entity in entities[1:]:
        for path in [("a",), ("b c",), ("d%20",), ("a", "b c"), ("z", "a")]:
            groups = [[f"{n}.{i}" for i in range(chance.choice([1, 1, 2]))] for n in range(chance.randrange(6))]
            if groups and chance.random() < 0.7:
                rows[entity, path] = groups
    return Graph(rows, **how), entities  # pyright: ignore[reportArgumentType]


async def _page(graph: Graph, entities: list[str], limit: int, after: str | None = None) -> Page[Triple]:
    return await neighbours_page(graph, entities, limit=limit, after=after, all_or_none=False)


@pytest.mark.parametrize("how", [{}, {"whole": 0}, {"whole": 100}, {"counted": 0.4}, {"counted": 0.0}], ids=str)
@pytest.mark.parametrize("seed", range(5))
async def test_pages_of_every_size_behind_every_row_give_the_rows_of_one_page(seed: int, how: dict[str, float]):
    graph, entities = _graph(seed, **how)
    every = await _page(graph, entities, 1_000)
    assert every.stop is Stop.COMPLETE
    assert len(set(every.positions)) == len(every.items)
    assert [entities.index(one.head.id) for one in every.items] == sorted(
        entities.index(o.head.id) for o in every.items
    )
    for size in range(1, len(every.items) + 2):
        page = await _page(graph, entities, size)
        read = list(page.items)
        while page.stop is Stop.LIMIT:
            assert len(page.items) == size
            page = await _page(graph, entities, size, page.positions[-1])
            read += page.items
        assert (tuple(read), page.stop) == (every.items, Stop.COMPLETE)
    for place, position in enumerate(every.positions):
        rest = await _page(graph, entities, 2, position)
        assert rest.items == every.items[place + 1 : place + 3]
        assert rest.total == every.total


async def test_a_page_reads_no_more_segments_than_hold_its_rows_and_small_ones_together():
    rows = {
        ("e", (name,)): [[f"{name}{n}"] for n in range(size)]
        for name, size in zip("abcdef", [3, 9, 2, 3, 1, 3], strict=True)
    }
    graph = Graph(rows)
    page = await _page(graph, ["e"], 18)
    assert sorted(graph.reads) == ["a c", "d e", "slice b"], "f is not read; seven rows and three segments at once"
    assert (len(page.items), page.stop, page.total) == (18, Stop.LIMIT, Count(21))


@pytest.mark.parametrize("counted", [1.0, 0.3])
async def test_all_rows_come_or_none(counted: float):
    graph = Graph({("e", (name,)): [[f"{name}{n}"] for n in range(4)] for name in "ab"}, counted=counted)
    for limit in range(1, 8):
        page = await neighbours_page(graph, ["e"], limit=limit, after=None, all_or_none=True)
        assert (page.items, page.stop, page.total.value > limit) == ((), Stop.LIMIT, True)
    whole = await neighbours_page(graph, ["e"], limit=8, after=None, all_or_none=True)
    assert (len(whole.items), whole.stop) == (8, Stop.COMPLETE)
    rest = await neighbours_page(graph, ["e"], limit=7, after=whole.positions[0], all_or_none=True)
    assert rest.items == whole.items[1:]


async def test_a_page_ends_before_rows_that_were_not_read_in_time():
    graph = Graph({("e", (name,)): [[f"{name}{n}"] for n in range(2)] for name in "abc"})
    graph.late = {"b"}
    page = await _page(graph, ["e"], 6)
    assert ([row.tail for row in page.items], page.stop) == ([Entity("a0"), Entity("a1")], Stop.TIME_OUT)
    graph.late = set()
    rest = await _page(graph, ["e"], 6, page.positions[-1])
    assert len(rest.items) == 4


@pytest.mark.parametrize("after", ["9|0.0|a", "0|0|a", "0|0.0", "x", "0|0.0|a b c"])
async def test_a_position_of_no_row_is_refused(after: str):
    with pytest.raises(InvalidCursor):
        await _page(Graph({("e", ("a",)): [["x"]]}), ["e"], 1, after)
