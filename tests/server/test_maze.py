"""Mazes are solved by the two tools alone, without a model."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.demo.maze import make_maze, write_maze
from kgnav_mcp.server import build_server
from tests.server.clients import text_of


@pytest.mark.parametrize("seed", range(10))
async def test_a_maze_is_solved_by_going_to_the_open_cell_that_is_nearest_to_the_goal(
    seed: int, tmp_path: Path
) -> None:
    maze = make_maze(seed)
    write_maze(maze, tmp_path / "maze.kg")
    graphs = {"maze": GraphSettings(location=str(tmp_path / "maze.kg"))}
    app = App(Settings(graphs=graphs, toolsets=("trail", "maze")))
    async with Client(build_server(app, structured=True)) as client:

        async def rows(tool: str, **arguments: object) -> list[dict[str, Any]]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, text_of(result)
            assert result.structured_content is not None
            return result.structured_content["rows"]

        start = maze.key(maze.start)
        (begun,) = await rows("start_trail", question="Where is the goal?", topic_entities=[start])
        cell, waiting, entered, distances = start, [start], set[str](), dict[str, float]()
        while distances.get(cell) != 0:
            cell = waiting.pop()
            if cell not in entered:
                beside = await rows("get_possible_next_cells", node_id=cell, trail=begun["trail"])
                distances |= {row["cell"]["id"]: row["distance"] for row in beside}
                waiting += [row["cell"]["id"] for row in reversed(beside)]
                entered.add(cell)
        path = await rows("get_connected_path", trail=begun["trail"])

    way = [path[0]["from"]["id"], *(row["to"]["id"] for row in path)]
    places = {maze.key((row, column)): (row, column) for row in range(maze.size) for column in range(maze.size)}
    assert (way[0], way[-1]) == (start, maze.key(maze.goal))
    assert all(places[other] in maze.beside(places[one]) for one, other in pairwise(way))
    assert set(way) <= entered
    assert not maze.walls & {places[one] for one in entered}
