"""GraphWalk's maze: cells are entered and marked in the trail, walls are refused, the store stays as it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.demo.maze import Maze, make_maze, write_maze
from kgnav_mcp.errors import InvalidArgument, StoreTimeout, UnknownEntity, Unsupported
from kgnav_mcp.model import AnchoredPage, Entity, Link, Stop, Trail, TrailStep
from kgnav_mcp.navigation.maze import TOOL, Marks, mark_order, possible_next_cells
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter, ValueOwner
from tests.adapters.embedded.loaded import write

EMPTY = Trail("maze", "Where is the goal?", (), 0.0)


@pytest.fixture(scope="module")
def maze() -> Maze:
    return make_maze(1)


@pytest.fixture
async def cells(maze: Maze, tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    write_maze(maze, tmp_path / "maze.kg")
    async with open_adapter(str(tmp_path / "maze.kg"), AdapterOptions()) as graph:
        yield graph


def entered(trail: Trail, cell: str) -> Trail:
    return replace(trail, steps=(*trail.steps, TrailStep(TOOL, {"node_id": cell}, 0.0, visited=(cell,))))


@pytest.mark.parametrize("seed", range(10))
def test_half_of_a_maze_is_walls_and_its_shortest_way_is_long(seed: int) -> None:
    maze = make_maze(seed)
    assert (len(maze.walls), maze.start in maze.walls, maze.goal in maze.walls) == (50, False, False)
    assert len(maze.shortest_way()) - 1 >= 15
    assert make_maze(seed) == maze


def test_the_share_of_walls_and_the_least_path_are_chosen() -> None:
    maze = make_maze(2, size=12, wall_share=0.25, shortest=17)
    assert len(maze.walls) == 36
    assert len(maze.shortest_way()) - 1 >= 17


def test_a_maze_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgnav_mcp.demo.maze._MAX_TRIES", 20)
    with pytest.raises(InvalidArgument, match="none of 20 random mazes of 8 x 8 cells with 32 walls has a shortest"):
        make_maze(1, size=8, shortest=63)


async def test_cells_are_numbered_by_rows_and_adjacent_to_those_beside_them(maze: Maze, cells: GraphAdapter) -> None:
    (found,) = (await cells.schema(limit=5)).relations
    assert found.relation.id == "ADJACENT"
    for number in (0, 11, 99):
        (node,) = (await cells.nodes("Cell", "key", str(number), limit=5)).items
        around = await cells.neighbours([node.id], None, far_end_kind=FarEndKind.ENTITY, limit=10)
        beside = {str(row * 10 + column) for row, column in maze.beside(divmod(number, 10))}
        assert {link.far_end.id for link in around.items if isinstance(link.far_end, Entity)} == beside
    assert (await cells.nodes("Cell", None, None, limit=0)).total.value == 100


async def test_open_cells_beside_one_are_listed_nearest_to_the_goal_first(maze: Maze, cells: GraphAdapter) -> None:
    found = await possible_next_cells(cells, EMPTY, maze.key(maze.start))
    open_cells = {maze.key(one) for one in maze.beside(maze.start) if one not in maze.walls}
    assert {cell.entity.id for cell in found.neighbours} == open_cells
    distances = [cell.distance or 0.0 for cell in found.neighbours]
    assert distances == sorted(distances)
    assert (found.cell.mark, found.at_goal, len(found.triples)) == (1, False, len(open_cells))


@pytest.mark.parametrize("kind", FarEndKind)
@pytest.mark.parametrize("stop", [Stop.TIME_OUT, Stop.UNORDERED])
async def test_cells_that_the_store_did_not_all_return_are_not_listed(
    maze: Maze, cells: GraphAdapter, monkeypatch: pytest.MonkeyPatch, kind: FarEndKind, stop: Stop
) -> None:
    read = cells.neighbours

    async def cut(*given: Any, far_end_kind: FarEndKind, **named: Any) -> AnchoredPage[Link]:
        page = await read(*given, far_end_kind=far_end_kind, **named)
        return replace(page, items=page.items[:1], stop=stop) if far_end_kind is kind else page

    monkeypatch.setattr(cells, "neighbours", cut)
    with pytest.raises(StoreTimeout if stop is Stop.TIME_OUT else Unsupported):
        await possible_next_cells(cells, EMPTY, maze.key(maze.start))


async def test_a_cell_knows_when_it_was_marked(maze: Maze, cells: GraphAdapter) -> None:
    first, second, third = (maze.key(one) for one in maze.shortest_way()[:3])
    trail = entered(entered(EMPTY, first), second)
    found = await possible_next_cells(cells, trail, third)
    assert (found.cell.mark, {cell.entity.id: cell.mark for cell in found.neighbours}[second]) == (3, 2)
    again = await possible_next_cells(cells, trail, first)
    assert again.cell.mark == 1


def test_a_wall_that_was_run_into_is_not_marked() -> None:
    failed = replace(EMPTY, steps=(TrailStep(TOOL, {"node_id": "w"}, 0.0, failed=True, visited=("w",)),))
    assert mark_order(failed) == {}


async def test_a_wall_cannot_be_entered_and_the_open_cells_beside_it_are_named(maze: Maze, cells: GraphAdapter) -> None:
    wall = next(one for one in maze.beside(maze.start) if one in maze.walls)
    with pytest.raises(InvalidArgument, match="is a wall") as caught:
        await possible_next_cells(cells, EMPTY, maze.key(wall))
    assert maze.key(maze.start) in caught.value.next_step


async def test_a_cell_that_is_not_there_is_unknown(cells: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity):
        await possible_next_cells(cells, EMPTY, "r99c99")


async def test_the_goal_says_so(maze: Maze, cells: GraphAdapter) -> None:
    assert (await possible_next_cells(cells, EMPTY, maze.key(maze.goal))).at_goal


async def test_a_distance_that_is_no_number_is_none_and_its_cell_is_counted_by_no_mark(tmp_path: Path) -> None:
    nodes = "id:ID,:LABEL,euclidean_distance\na,Cell,5 km\nb,Cell,2.5\nc,Cell,-1\nd,Cell,1\n"
    sources = [
        write(tmp_path, "n.csv", nodes),
        write(tmp_path, "e.csv", ":START_ID,:END_ID,:TYPE\na,b,beside\na,c,beside\na,d,beside\n"),
    ]
    load(sources, tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions()) as graph:
        found = await possible_next_cells(graph, EMPTY, "a")
        assert [(cell.entity.id, cell.distance) for cell in found.neighbours] == [("d", 1.0), ("b", 2.5)]
        marks = Marks(mark_order(entered(entered(EMPTY, "a"), "d")))
        page = await marks.values(graph, "marked", "Cell", ValueOwner.NODE)
        assert page is not None
        assert {facts.value.text: facts.count.value for facts in page.items} == {"false": 1, "true": 2}


async def test_cells_without_distances_are_all_open(graph: GraphAdapter) -> None:
    found = await possible_next_cells(graph, EMPTY, "jose")
    assert [(cell.entity.id, cell.distance) for cell in found.neighbours] == [("yolka", None)]
