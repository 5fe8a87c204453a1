"""Makes the pictures of the documentation: walks on the demo graph and in a maze, drawn by the server."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client
from mcp_types import TextContent, TextResourceContents

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.demo.maze import make_maze, write_maze
from kgnav_mcp.server import build_server

_Call = Callable[..., Awaitable[str]]
_QUESTION = "What is the capital of Vincent van Gogh's birth country?"
_TOOLSETS = ("sog", "graphwalker", "trail", "maze")


async def walk_picture() -> str:
    """The walk that answers the opening question of Search-on-Graph's paper."""
    async with _walk(Settings(toolsets=_TOOLSETS), _QUESTION, "vincent_van_gogh") as (call, picture):
        await call("get_triples", entity="vincent_van_gogh", relations=["born_in", "part_of_movement"])
        await call("get_triples", entity="zundert", relations=["country"])
        await call("search", entity="the_netherlands", direction="outgoing")
        await call("check_answer", answers=["Amsterdam"])
        return await picture()


async def maze_picture() -> str:
    """The shortest walk through a maze."""
    maze = make_maze(seed=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "maze.kg"
        write_maze(maze, file)
        settings = Settings(graphs={"maze": GraphSettings(location=str(file))}, toolsets=_TOOLSETS)
        async with _walk(settings, "Where is the way out?", maze.key(maze.start)) as (call, picture):
            for cell in maze.shortest_way():
                await call("get_possible_next_cells", node_id=maze.key(cell))
            await call("check_answer", answers=[maze.key(maze.goal)])
            return await picture()


@asynccontextmanager
async def _walk(
    settings: Settings, question: str, *topics: str
) -> AsyncGenerator[tuple[_Call, Callable[[], Awaitable[str]]]]:
    """Two functions: one calls a tool on a new trail, the other draws the trail."""
    async with Client(build_server(App(settings))) as client:

        async def call(tool: str, **arguments: str | Sequence[str]) -> str:
            result = await client.call_tool(tool, arguments)
            (block,) = result.content
            if result.is_error or not isinstance(block, TextContent):
                raise ValueError(f"{tool} failed: {block}")
            return block.text

        begun = await call("start_trail", question=question, topic_entities=topics)
        trail = begun.partition("\n")[0].removeprefix("trail: ")

        async def on_trail(tool: str, **arguments: str | Sequence[str]) -> str:
            return await call(tool, **arguments, trail=trail)

        async def picture() -> str:
            (content,) = (await client.read_resource(f"kg://trail/{trail}/svg")).contents
            if not isinstance(content, TextResourceContents):
                raise TypeError(f"no picture: {content}")
            return content.text

        yield on_trail, picture
