"""A hub of one relation shows its rows: a list of one relation would say nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import InvalidCursor, StoreTimeout
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Page, Stop, Triple
from kgnav_mcp.navigation.graphwalk import get_all_nearest_neighbors
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.navigation.walking import all_pages, short

ROWS = 300
LIMITS = Limits()
INCOMING, OUTGOING = Direction.INCOMING, Direction.OUTGOING


@pytest.fixture(scope="module")
def clubs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A club with members, a guild whose seats are held by them, and an order whose seats have two roles."""
    folder = tmp_path_factory.mktemp("clubs")
    people = [f"p{n:03}" for n in range(ROWS)]
    nodes = [(name, name.upper()) for name in ("club", "guild", "order", *people)]
    nodes += [(f"{kind}{name}", "") for kind in ("seat", "rank") for name in people]
    edges = [("club", "member", name) for name in people]
    edges += [("guild", "seat", f"seat{name}") for name in people]
    edges += [(f"seat{name}", "held_by", name) for name in people]
    edges += [("order", "rank", f"rank{name}") for name in people]
    edges += [(f"rank{name}", "given_to", name) for name in people]
    edges += [(f"rank{name}", "given_by", people[n - 1]) for n, name in enumerate(people)]
    (folder / "nodes.csv").write_text("".join(f"{key},{name}\n" for key, name in ((":ID", "name"), *nodes)))
    header = (":START_ID", ":TYPE", ":END_ID")
    (folder / "edges.csv").write_text("".join(",".join(row) + "\n" for row in (header, *edges)))
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "clubs.kg", LoadOptions(mediators="unnamed"))
    return folder / "clubs.kg"


@pytest.fixture
async def clubs(clubs_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(clubs_file), AdapterOptions()) as opened:
        yield opened


async def rows_of(graph: GraphAdapter, entity: str, after: str | None, limits: Limits) -> Page[Triple]:
    found = await search(graph, entity, OUTGOING, after=after, limits=limits)
    assert found.rows is not None
    return found.rows


@pytest.mark.parametrize("entity", ["clubs_end", "people"])
async def test_the_rows_of_an_only_relation_are_shown_with_their_total(entity: str, tmp_path: Path) -> None:
    source = tmp_path / "flat.tsv"
    source.write_text("".join(f"x{n:03}\tat\tclubs_end\npeople\thas\tx{n:03}\n" for n in range(ROWS)))
    load([source], tmp_path / "flat.kg")
    direction = INCOMING if entity == "clubs_end" else OUTGOING
    async with open_adapter(str(tmp_path / "flat.kg"), AdapterOptions()) as graph:
        found = await search(graph, entity, direction, limits=Limits(hub_threshold=40))
        assert found.rows is not None
        assert (len(found.rows.items), found.rows.total, found.rows.stop) == (40, Count(ROWS), Stop.LIMIT)
        paper = await search(graph, entity, direction, limits=Limits(collapse_single=True))
        assert paper.relations is not None, "the paper's table is a list of one"


@pytest.mark.parametrize("size", [7, 50, 299])
@pytest.mark.parametrize(
    ("hub", "relation"), [("club", "member"), ("guild", "seat.held_by")], ids=["plain", "through mediators"]
)
async def test_every_row_of_an_only_relation_is_reached_by_the_same_call(
    size: int, hub: str, relation: str, clubs: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_names(clubs, monkeypatch)
    rows = await all_pages(lambda after: rows_of(clubs, hub, after, Limits(hub_threshold=size)))
    assert [short(row) for row in rows] == [(hub, relation, f"p{n:03}") for n in range(ROWS)]


def without_names(graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the names that every entity of a graph file has: then a hub may have one relation only."""
    read = graph.relations

    async def relations(*args: object, **options: object):
        page = await read(*args, **options)  # pyright: ignore[reportArgumentType]
        items = tuple(facts for facts in page.items if facts.relation.id != "name")
        positions = tuple(facts.relation.id for facts in items)
        return replace(page, items=items, positions=positions, total=Count(len(items)))

    monkeypatch.setattr(graph, "relations", relations)
    monkeypatch.setattr(graph, "rows_or_relations", partial(GraphAdapter.rows_or_relations, graph))


async def test_a_choice_of_ways_through_mediators_is_listed(
    clubs: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_names(clubs, monkeypatch)
    found = await search(clubs, "order", OUTGOING, limits=LIMITS)
    assert found.relations is not None
    assert {facts.relation.id for facts in found.relations.items} == {"rank", "rank.given_to", "rank.given_by"}


async def test_a_cursor_of_rows_is_refused_where_there_is_a_list_of_relations_now(
    clubs: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await search(clubs, "order", OUTGOING, limits=LIMITS)
    assert first.relations is not None
    listed = first.relations.positions[0]
    without_names(clubs, monkeypatch)
    rows = await rows_of(clubs, "club", None, Limits(hub_threshold=10))
    monkeypatch.undo()
    with pytest.raises(InvalidCursor):
        await search(clubs, "club", OUTGOING, after=rows.positions[-1], limits=LIMITS)
    without_names(clubs, monkeypatch)
    with pytest.raises(InvalidCursor):
        await search(clubs, "club", OUTGOING, after=listed, limits=LIMITS)


@pytest.mark.parametrize("hub", ["club", "guild"])
async def test_the_neighbours_by_an_only_relation_are_shown_and_paged_through(hub: str, clubs: GraphAdapter) -> None:
    async def page(after: str | None) -> Page[Link]:
        found = await get_all_nearest_neighbors(clubs, "*", "id", hub, after=after, limits=LIMITS)
        assert found.links is not None
        return found.links

    links = await all_pages(page)
    assert [short(link.triple)[2] for link in links] == [f"p{n:03}" for n in range(ROWS)]
    paper = await get_all_nearest_neighbors(clubs, "*", "id", hub, limits=Limits(collapse_single=True))
    assert paper.relations is not None


async def test_an_entity_without_rows_is_looked_for_in_the_other_direction(graph: GraphAdapter) -> None:
    found = await search(graph, "cyd", INCOMING, limits=LIMITS)
    assert found.opposite is None
    found = await search(graph, "registry", INCOMING, limits=LIMITS)
    assert found.opposite == (await graph.neighbours(["registry"], OUTGOING, limit=1)).total
    assert found.opposite is not None
    assert found.opposite.value > ROWS


async def test_an_unknown_total_in_the_other_direction_is_what_was_seen(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await graph.neighbours(["registry"], OUTGOING, limit=1)
    uncounted = replace(one, total=Count.unknown(), stop=Stop.LIMIT)
    monkeypatch.setattr(graph, "neighbours", AsyncMock(return_value=uncounted))
    found = await search(graph, "registry", INCOMING, limits=LIMITS)
    assert found.opposite == Count.at_least(1)


async def test_qualifiers_are_requested_only_where_neither_direction_has_rows_and_a_late_answer_is_none(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = AsyncMock(side_effect=StoreTimeout(30))
    monkeypatch.setattr(graph, "triples_by_qualifier", late)
    await search(graph, "registry", INCOMING, limits=LIMITS)
    late.assert_not_awaited()
    nothing: AnchoredPage[Link] = AnchoredPage((), (), Count(0), anchors={"registry": Entity("registry")})
    monkeypatch.setattr(graph, "neighbours", AsyncMock(return_value=nothing))
    found = await search(graph, "registry", INCOMING, limits=LIMITS)
    assert (found.opposite, found.qualified) == (Count(0), None)
    late.assert_awaited_once()
