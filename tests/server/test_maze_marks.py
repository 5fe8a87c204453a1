"""`marked` and `mark_order` are read from the cells, as in the paper, and the store is not written to."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.demo.maze import make_maze, write_maze
from kgnav_mcp.server import build_server
from tests.server.clients import text_of
from tests.server.processes import on_http, on_stdio

MAZE = make_maze(1)
WAY = [MAZE.key(place) for place in MAZE.shortest_way()]
WALL = MAZE.key(min(MAZE.walls))
TOOLSETS = ("graphwalk", "trail", "maze")
UNMARKED = {"marked": False, "mark_order": -1}


class Walker:
    """A client that reads rows as scripts do."""

    def __init__(self, client: Client, **always: object) -> None:
        self.client, self.always = client, always

    async def rows(self, tool: str, **arguments: object) -> list[dict[str, Any]]:
        result = await self.client.call_tool(tool, {**self.always, **arguments})
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return result.structured_content["rows"]

    async def refusal(self, tool: str, **arguments: object) -> str:
        result = await self.client.call_tool(tool, {**self.always, **arguments})
        assert result.is_error, text_of(result)
        return text_of(result)

    async def enter(self, *cells: str) -> None:
        for cell in cells:
            await self.rows("get_possible_next_cells", node_id=cell)

    async def cells(self, name: str, value: object, **arguments: object) -> dict[str, dict[str, object]]:
        """The marks of the selected cells, by their ids."""
        given = {"label": "Cell", "property_name": name, "property_value": value, **arguments}
        return {row["node"]["id"]: marks(row["properties"]) for row in await self.rows("get_node_by_property", **given)}

    async def beside(self, name: str, value: object) -> dict[str, dict[str, object]]:
        found = await self.rows("get_all_nearest_neighbors", label="Cell", property_name=name, property_value=value)
        return {row["neighbor"]["id"]: marks(row["neighborProperties"]) for row in found}

    async def values(self, name: str) -> list[tuple[object, int]]:
        found = await self.rows(
            "get_unique_property_values", property_name=name, entity_name="Cell", entity_type="node"
        )
        return [(row["value"], row["nodes"]) for row in found]


def marks(properties: list[Mapping[str, Any]]) -> dict[str, object]:
    named = [(one["property"]["id"], one["value"]) for one in properties]
    found = {name: value for name, value in named if name in UNMARKED}
    assert len(found) == sum(name in UNMARKED for name, _ in named)
    return found


@asynccontextmanager
async def walking(folder: Path, **settings: Any) -> AsyncGenerator[Walker]:
    write_maze(MAZE, folder / "maze.kg")
    graphs = {"maze": GraphSettings(location=str(folder / "maze.kg"))}
    app = App(Settings(graphs=graphs, toolsets=TOOLSETS, **settings))
    async with Client(build_server(app, structured=True)) as client:
        yield Walker(client)


async def test_cells_show_their_marks_and_walls_have_none(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        assert await walker.cells("key", int(WAY[1])) == {WAY[1]: UNMARKED}
        await walker.enter(*WAY[:2])
        assert await walker.cells("key", int(WAY[1])) == {WAY[1]: {"marked": True, "mark_order": 2}}
        assert await walker.cells("key", int(WALL)) == {WALL: {}}
        seen = await walker.beside("key", int(WAY[1]))
        assert seen[WAY[0]] == {"marked": True, "mark_order": 1}
        assert seen[WAY[2]] == UNMARKED
        walls = {MAZE.key(place) for place in MAZE.walls}
        assert all((cell in walls) == (own == {}) for cell, own in seen.items())


async def test_marks_are_columns_where_they_are_requested(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        await walker.enter(WAY[0])
        assert await walker.cells("key", int(WAY[0]), properties=["marked"]) == {WAY[0]: {"marked": True}}
        assert await walker.cells("key", int(WALL), properties=["marked", "mark_order"]) == {WALL: {}}


async def test_marked_cells_are_selected_by_their_marks(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        found = await walker.refusal("get_node_by_property", label="Cel", property_name="marked", property_value=True)
        assert "Cell" in found
        assert await walker.cells("marked", True) == {}
        await walker.enter(*WAY, WAY[3])
        assert [*await walker.cells("marked", True)] == WAY
        assert [*await walker.cells("mark_order", 3)] == [WAY[2]]
        assert [*await walker.cells("mark_order", 3.0)] == [WAY[2]]
        assert await walker.cells("mark_order", len(WAY) + 1) == {}
        around = {MAZE.key(place) for place in MAZE.beside(MAZE.goal)}
        assert set(await walker.beside("mark_order", len(WAY))) == around
        for name, value in (("marked", False), ("mark_order", -1)):
            for tool in ("get_node_by_property", "get_all_nearest_neighbors"):
                error = await walker.refusal(tool, label="Cell", property_name=name, property_value=value)
                assert "cannot be selected by a missing mark" in error


async def test_the_values_of_marks_count_the_cells(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        assert await walker.values("marked") == [(False, 50)]
        assert await walker.values("mark_order") == [(-1, 50)]
        await walker.enter(*WAY[:3])
        assert await walker.values("marked") == [(False, 47), (True, 3)]
        assert await walker.values("mark_order") == [(-1, 47), (1, 1), (2, 1), (3, 1)]


async def test_each_trail_has_its_own_marks_and_without_one_meant_none_are_shown(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        trails = [
            (await walker.rows("start_trail", question="?", topic_entities=[WAY[0]]))[0]["trail"] for _ in range(2)
        ]
        await Walker(walker.client, trail=trails[0]).enter(WAY[0])
        one, other = (Walker(walker.client, trail=trail) for trail in trails)
        assert await one.cells("key", int(WAY[0])) == {WAY[0]: {"marked": True, "mark_order": 1}}
        assert await other.cells("key", int(WAY[0])) == {WAY[0]: UNMARKED}
        assert await walker.cells("key", int(WAY[0])) == {WAY[0]: {}}
        select = {"label": "Cell", "property_name": "marked", "property_value": True}
        assert "Pass as `trail` the trail" in await walker.refusal("get_node_by_property", **select)
        assert [*await one.cells("marked", True)] == [WAY[0]]
        values = {"property_name": "marked", "entity_name": "Cell", "entity_type": "node"}
        assert "Pass as `trail` the trail" in await walker.refusal("get_unique_property_values", **values)


async def test_a_property_marked_of_a_graph_that_is_no_maze_stays_its_own(tmp_path: Path) -> None:
    (tmp_path / "exams.csv").write_text(":ID,marked:boolean,:LABEL\nx1,false,Exam\nx2,true,Exam\n", encoding="utf-8")
    load([tmp_path / "exams.csv"], tmp_path / "exams.kg", LoadOptions())
    graphs = {"exams": GraphSettings(location=str(tmp_path / "exams.kg"))}
    async with Client(build_server(App(Settings(graphs=graphs, toolsets=TOOLSETS)), structured=True)) as client:
        walker = Walker(client)
        assert await walker.cells("marked", False, label="Exam") == {"x1": {"marked": False}}
        found = await walker.rows(
            "get_unique_property_values", property_name="marked", entity_name="Exam", entity_type="node"
        )
    assert [(row["value"], row["nodes"]) for row in found] == [(False, 1), (True, 1)]


async def test_marks_that_the_store_has_are_replaced_by_those_of_the_trail(tmp_path: Path) -> None:
    header, rows = ":ID,key:int,euclidean_distance:float,marked:boolean,mark_order:int,:LABEL", range(3)
    lines = [header, *(f"{number},{number},{number},true,7,Cell" for number in rows)]
    (tmp_path / "cells.csv").write_text("\n".join(lines), encoding="utf-8")
    load([tmp_path / "cells.csv"], tmp_path / "cells.kg", LoadOptions())
    graphs = {"cells": GraphSettings(location=str(tmp_path / "cells.kg"))}
    async with Client(build_server(App(Settings(graphs=graphs, toolsets=TOOLSETS)), structured=True)) as client:
        walker = Walker(client)
        await walker.enter("1")
        assert await walker.cells("key", 0) == {"0": UNMARKED}
        assert await walker.cells("mark_order", 1) == {"1": {"marked": True, "mark_order": 1}}
        assert await walker.cells("mark_order", 7) == {}
        assert await walker.values("marked") == [(False, 2), (True, 1)]


async def test_the_path_is_over_cells_that_were_entered_not_those_looked_up(tmp_path: Path) -> None:
    async with walking(tmp_path) as walker:
        (begun,) = await walker.rows("start_trail", question="?", topic_entities=[WAY[0]])
        on_trail = Walker(walker.client, trail=begun["trail"])
        await on_trail.cells("key", int(WAY[-1]))
        await on_trail.enter(*WAY[:3])
        await on_trail.cells("key", int(WAY[-1]))
        path = await on_trail.rows("get_connected_path")
        assert [path[0]["from"]["id"], *(edge["to"]["id"] for edge in path)] == WAY[:3]


@pytest.mark.slow
async def test_a_session_reads_its_marks_in_the_papers_format(tmp_path: Path) -> None:
    write_maze(MAZE, tmp_path / "maze.kg")
    flags = ("--graph", "maze.kg", "--toolsets", ",".join(TOOLSETS), "--paper-format")
    async with Client(on_stdio(tmp_path, *flags)) as client:
        await client.call_tool("get_possible_next_cells", {"node_id": WAY[0]})
        (node,) = await objects(client, "get_node_by_property", property_name="key", property_value=int(WAY[0]))
        assert (node["marked"], node["mark_order"]) == (True, 1)
        assert await objects(client, "get_node_by_property", property_name="marked", property_value=True) == [node]
        around = await objects(client, "get_all_nearest_neighbors", property_name="mark_order", property_value=1)
        assert {(each["neighbor"].get("marked"), each["neighbor"].get("mark_order")) for each in around} <= {
            (False, -1),
            (None, None),
        }
        result = await client.call_tool(
            "get_unique_property_values", {"property_name": "marked", "entity_name": "Cell", "entity_type": "node"}
        )
        assert json.loads(text_of(result)) == [{"values": False}, {"values": True}]


async def objects(client: Client, tool: str, **arguments: object) -> list[dict[str, Any]]:
    result = await client.call_tool(tool, {"label": "Cell", **arguments})
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


@pytest.mark.slow
async def test_over_http_a_session_reads_its_marks_and_a_request_without_one_none(tmp_path: Path) -> None:
    write_maze(MAZE, tmp_path / "maze.kg")
    with on_http(tmp_path, "--graph", "maze.kg", "--toolsets", ",".join(TOOLSETS)) as server:
        url = f"{server.url}/structured"
        async with Client(url, mode="legacy") as client:
            walker = Walker(client)
            await walker.enter(*WAY[:2])
            assert await walker.cells("key", int(WAY[1])) == {WAY[1]: {"marked": True, "mark_order": 2}}
        async with Client(url, mode="legacy") as client:
            assert await Walker(client).cells("key", int(WAY[1])) == {WAY[1]: UNMARKED}
        async with Client(url) as client:
            assert await Walker(client).cells("key", int(WAY[1])) == {WAY[1]: {}}
