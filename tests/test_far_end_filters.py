"""Long lists that a store searches by itself: what it finds is compared, and paged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import AnchoredPage, Direction, Link, Page, Stop
from kgnav_mcp.port import AdapterOptions, FarEndFilter, FarEndKind, GraphAdapter, far_end_filters
from kgnav_mcp.port.lists import page_of
from tests.contract import example, toy


@pytest.fixture
async def graph() -> AsyncGenerator[GraphAdapter]:
    async with example.open_adapter("example://tests.contract.example_graph", AdapterOptions()) as opened:
        yield opened


async def searched(
    graph: GraphAdapter, ids: Sequence[str], far: FarEndFilter, limit: int, after: str | None = None
) -> AnchoredPage[Link]:
    """A page of what a store finds that gives all edges, whatever their far ends are."""

    async def search(direction: Direction, most: int, behind: str | None) -> Page[Link]:
        page = await graph.neighbours(ids, direction, far_end_kind=FarEndKind.ENTITY, limit=10_000)
        return page_of(page.items, most, behind)

    asked = far_end_filters.MatchRequest(ids, None, None, far, limit, after)
    return await far_end_filters.read_or_search(graph, asked, search)


@pytest.mark.parametrize("together", [7, 1_000])
@pytest.mark.parametrize(
    "far",
    [
        FarEndFilter(words="visitor number 1"),
        FarEndFilter(label="person"),
        FarEndFilter(words="old harbour"),
        FarEndFilter(words="no"),
    ],
)
async def test_what_a_store_finds_is_compared_as_rows_that_are_read_are(
    graph: GraphAdapter, far: FarEndFilter, together: int, monkeypatch: pytest.MonkeyPatch
):
    ids = [toy.HUB, "ada"]
    read = await graph.matching(ids, None, far=far, limit=1_000)
    assert await searched(graph, ids, far, 1_000) == read, "a list that fits a page is read"
    monkeypatch.setattr(far_end_filters, "_ROWS", 50)
    monkeypatch.setattr(far_end_filters, "_SEARCHED_TOGETHER", together)
    expected = {link.triple for link in read.items if not read.note}
    found = await searched(graph, ids, far, 1_000)
    assert {link.triple for link in found.items} == expected
    assert (found.stop, found.anchors, bool(found.note)) == (Stop.COMPLETE, read.anchors, not expected)
    page = await searched(graph, ids, far, 4)
    paged = list(page.items)
    while page.stop is Stop.LIMIT:
        page = await searched(graph, ids, far, 4, page.positions[-1])
        paged += page.items
    assert paged == list(found.items)


async def test_a_position_of_another_search_is_refused(graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(far_end_filters, "_ROWS", 50)
    for position in ("~nowhere~1", "~incoming~x"):
        with pytest.raises(InvalidCursor):
            await searched(graph, [toy.HUB], FarEndFilter(words="boat"), 4, position)
