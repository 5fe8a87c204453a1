"""The maze tools without `trail`: the client of a session has one maze, and nobody else walks in it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.demo.maze import Maze, make_maze, write_maze
from kgnav_mcp.server import build_server
from kgnav_mcp.server.trail_recorder import MAX_TRAILS, ClientTrails
from tests.server.clients import text_of
from tests.server.processes import HttpServer, on_http, on_stdio

MAZE = make_maze(1)
FIRST, SECOND, THIRD = (MAZE.key(place) for place in MAZE.shortest_way()[:3])
WALL = MAZE.key(min(MAZE.walls))
SERVED = ("--graph", "maze.kg", "--toolsets", "trail,maze")


async def answer(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


async def enter(client: Client, cell: str, **arguments: object) -> str:
    return await answer(client, "get_possible_next_cells", node_id=cell, **arguments)


async def start(client: Client, question: str, **arguments: object) -> str:
    text = await answer(client, "start_trail", question=question, topic_entities=[FIRST], **arguments)
    return text.split()[1]


def started(text: str) -> str:
    """The trail that was started by this call."""
    found = re.search(r"Trail: (\S+) was started", text)
    assert found is not None, text
    return found[1]


def write(folder: Path, maze: Maze = MAZE) -> str:
    write_maze(maze, folder / "maze.kg")
    return str(folder / "maze.kg")


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    folder = tmp_path_factory.mktemp("http")
    write(folder)
    with on_http(folder, *SERVED) as server:
        yield server


@pytest.fixture(params=["stdio, handshake", "stdio, stateless", "HTTP, handshake"])
def with_session(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """A client that has a session, of a server in a process of its own."""
    transport, era = str(request.param).split(", ")
    target: StdioServerParameters | str
    if transport == "stdio":
        write(tmp_path)
        target = on_stdio(tmp_path, *SERVED)
    else:
        target = request.getfixturevalue("http").url
    return Client(target, mode="legacy" if era == "handshake" else "auto")


@asynccontextmanager
async def in_process(folder: Path, *graphs: str) -> AsyncGenerator[Client]:
    location = write(folder)
    settings = {name: GraphSettings(location=location) for name in graphs or ("maze",)}
    async with Client(build_server(App(Settings(graphs=settings, toolsets=("trail", "maze"))))) as connected:
        yield connected


async def test_a_session_walks_its_maze_as_the_paper_calls_the_tools(with_session: Client) -> None:
    async with with_session as client:
        handle = started(await enter(client, FIRST))
        assert "is mark 2" in await enter(client, SECOND)
        assert "is mark 3" in await enter(client, THIRD)
        path = await answer(client, "get_connected_path")
        assert path.startswith("2 edges\n")
        assert path == await answer(client, "get_connected_path", trail=handle)


async def test_each_http_session_has_its_own_maze(http: HttpServer) -> None:
    async with AsyncExitStack() as stack:
        one, other = [await stack.enter_async_context(Client(http.url, mode="legacy")) for _ in range(2)]
        await enter(one, FIRST)
        assert "there is no trail yet: no cell has been entered" in await refusal(other, "get_connected_path")
        assert "is mark 2" in await enter(one, SECOND)
        assert "is mark 1" in await enter(other, SECOND)


async def test_a_request_without_a_session_is_told_that_it_needs_a_trail(http: HttpServer) -> None:
    async with Client(http.url) as client:
        assert client.protocol_version == "2026-07-28"
        for tool, arguments in (("get_possible_next_cells", {"node_id": FIRST}), ("get_connected_path", {})):
            error = await refusal(client, tool, **arguments)
            assert "your requests have no session" in error
            assert "start_trail(question, topic_entities) gives a handle" in error
        trail = await start(client, "Where is the goal?")
        await enter(client, FIRST, trail=trail)
        await enter(client, SECOND, trail=trail)
        assert (await answer(client, "get_connected_path", trail=trail)).startswith("1 edge\n")


async def test_parallel_first_calls_walk_one_trail(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        texts = await asyncio.gather(*(enter(client, cell) for cell in (FIRST, SECOND, THIRD)))
        assert sum("was started" in text for text in texts) == 1
        assert (await answer(client, "get_connected_path")).startswith("2 edges\n")


async def test_a_trail_that_the_client_started_or_named_is_meant(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        trail = await start(client, "Where is the goal?")
        assert "was started" not in await enter(client, FIRST)
        await enter(client, SECOND)
        assert (await answer(client, "get_connected_path", trail=trail)).startswith("1 edge\n")


async def test_with_several_trails_the_call_is_refused_and_they_are_named(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        trails = [await start(client, "Where is the goal?"), await start(client, "Is there another way? " * 100)]
        for tool, arguments in (("get_possible_next_cells", {"node_id": FIRST}), ("get_connected_path", {})):
            error = await refusal(client, tool, **arguments)
            assert "you use 2 trails" in error
            assert all(trail in error for trail in trails)
            assert len(error) <= 400
        assert "is mark 1" in await enter(client, FIRST, trail=trails[0])


async def test_mazes_of_two_graphs_are_told_apart_by_the_graph(tmp_path: Path) -> None:
    async with in_process(tmp_path, "one", "two") as client:
        first = started(await enter(client, FIRST))
        assert first != started(await enter(client, SECOND, graph="two"))
        assert "is mark 2" in await enter(client, THIRD, graph="two")
        assert "is mark 2" in await enter(client, SECOND, graph="one")
        assert "you use 2 trails" in await refusal(client, "get_possible_next_cells", node_id=THIRD)


async def test_a_cell_that_is_not_there_starts_no_trail(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        assert "no entity has the id" in await refusal(client, "get_possible_next_cells", node_id="r99c99")
        assert "there is no trail yet: no cell has been entered" in await refusal(client, "get_connected_path")
        assert "is a wall" in await refusal(client, "get_possible_next_cells", node_id=WALL)
        assert "is mark 1" in await enter(client, FIRST)


async def test_the_trails_remembered_of_a_client_are_bounded() -> None:
    app = App(Settings())
    async with app:
        client = ClientTrails()
        for number in range(3 * MAX_TRAILS):
            client.remember(f"trail-{number}")
        assert client.number == MAX_TRAILS
        assert await client.current(app, "") == {}
        assert client.number == 0, "none of them exists"
