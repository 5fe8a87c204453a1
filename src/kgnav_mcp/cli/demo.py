"""`kgnav demo` answers a question hop by hop, and `kgnav maze` makes a graph file with a maze for tests of a model."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.clients import CLIENTS, server_command
from kgnav_mcp.cli.options import JSON_FLAG, print_json
from kgnav_mcp.config import environment_without_settings
from kgnav_mcp.demo.maze import SHORTEST, WALL_SHARE, make_maze, write_maze
from kgnav_mcp.errors import KgnavError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp import Client

QUESTION = "What is the capital of Vincent van Gogh's birth country?"

Row = Mapping[str, str]


class DemoFailed(KgnavError):
    """An answer does not show the rows that the next step of the walk needs."""


@click.command(cls=Command, short_help="Answer a question with the demo graph, hop by hop.")
@JSON_FLAG
def demo(*, as_json: bool) -> None:
    """Answer a question with the demo graph, and show every call and answer.

    The server is started over stdio without configuration, as MCP clients do. The last lines say how to add it to
    your client, and how to serve your own graph.
    """
    walk = Walk(shown=not as_json)
    asyncio.run(_walk(walk))
    if walk.failure:
        raise walk.failure
    if as_json:
        print_json({"question": QUESTION, "calls": walk.calls, "answer": walk.answer})
        return
    click.echo(f"Final answer: {{{walk.answer}}}\n")
    click.echo(f"Add it to your client: {shlex.quote(_program())} install CLIENT")
    click.echo(f"CLIENT is {', '.join(CLIENTS)}; --graph FILE serves your own graph.")


def _program() -> str:
    """How to start this program, also if it is not on PATH."""
    on_path = shutil.which("kgnav")
    here = Path(server_command()).with_name("kgnav")
    return "kgnav" if on_path and Path(on_path).absolute() == here else str(here)


@dataclass(slots=True)
class Walk:
    """The walk, printed step by step if it is shown, and its outcome: the answer, or the failure of a step."""

    shown: bool = True
    calls: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    answer: str = ""
    failure: DemoFailed | None = None

    def say(self, text: str, *, bold: bool = False, color: str | None = None) -> None:
        """Print a line, if the walk is shown."""
        if self.shown:
            click.secho(text, bold=bold, fg=color)

    def think(self, thought: str) -> None:
        """Print why the next call is made."""
        self.say(f"# {thought}", bold=True)


async def _walk(walk: Walk) -> None:
    walk.say(f"Question: {QUESTION}\n")
    async with _client() as client:
        try:
            walk.answer = await _answer(client, walk)
        except DemoFailed as error:  # raised after the client is closed: its task group would wrap it
            walk.failure = error


async def _answer(client: Client, walk: Walk) -> str:
    """The paper's three hops. Every id is read from the answer before."""
    walk.think("Which entity is meant?")
    painter = (await _call(client, walk, "find_node", hint="Vincent van Gogh"))[0]["entity"]
    walk.think("Where was he born?")
    [birthplace] = _rows_of_relation(
        await _call(client, walk, "search", entity=painter, direction="outgoing"), "born_in"
    )
    walk.think(f"Born in {birthplace['valueLabel']}. What country is that in?")
    outgoing = await _call(client, walk, "search", entity=birthplace["value"], direction="outgoing")
    [country] = _rows_of_relation(outgoing, "country")
    walk.think(f"{country['valueLabel']}. What leaves it?")
    relations = await _call(client, walk, "search", entity=country["value"], direction="outgoing")
    [relation] = _rows_of_relation(relations, "capital")
    walk.think("Too many neighbours to list: one row per relation instead. Follow the one that fits.")
    answer = await _call(
        client,
        walk,
        "search",
        entity=country["value"],
        direction="outgoing",
        properties_to_filter_for=[relation["property"]],
    )
    [capital] = _rows_of_relation(answer, relation["property"])
    return capital["valueLabel"]


def _rows_of_relation(rows: Sequence[Row], relation: str) -> Sequence[Row]:
    matching = [row for row in rows if row.get("property") == relation]
    if not matching:
        raise DemoFailed(f"the answer shows no {relation!r}", next_step="`kgnav doctor` checks the installation.")
    return matching


async def _call(client: Client, walk: Walk, tool: str, **arguments: object) -> Sequence[Row]:
    """Call a tool, print the call and its answer, and return the rows of its table."""
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    walk.say(f"> {tool}({shown})", color="cyan")
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    walk.say(text + "\n")
    walk.calls.append({"tool": tool, "arguments": arguments, "answer": text})
    if result.is_error:
        raise DemoFailed(f"{tool} answered with an error")
    return _rows(text)


def _rows(text: str) -> Sequence[Row]:
    """The rows of the answer's table, keyed by column. No name in the demo graph has a `|`, so splitting is safe."""
    lines = [line.split("|") for line in text.splitlines()]
    rule = next((n for n, cells in enumerate(lines) if len(cells) > 1 and set(cells) == {"--"}), None)
    if not rule:
        return []
    columns = lines[rule - 1]
    return [dict(zip(columns, cells, strict=True)) for cells in lines[rule + 1 :] if len(cells) == len(columns)]


@asynccontextmanager
async def _client() -> AsyncGenerator[Client]:
    """A client of `kgnav-mcp`, which runs in its own process without the user's configuration."""
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415 - `--help` needs no protocol

    with tempfile.TemporaryDirectory() as folder:
        empty_config = Path(folder) / "kgnav.toml"
        empty_config.touch()
        environment = {**environment_without_settings(), "KGNAV_CONFIG": str(empty_config)}
        server = StdioServerParameters(command=server_command(), env=environment)
        async with Client(stdio_client(server)) as client:
            yield client


@click.command(
    cls=Command,
    short_help="Make a graph file with a maze.",
    epilog="""\b
Examples:
  kgnav maze -o maze.kg
  kgnav serve --graph maze.kg --toolsets trail,maze
  kgnav maze -o large.kg --size 20 --walls 0.3 --shortest 40 --seed 7

The same seed makes the same maze.""",
)
@click.option(
    "-o", "--output", "target", required=True, type=click.Path(path_type=Path), help="The graph file to write."
)
@click.option("--size", type=click.IntRange(8, 40), default=10, show_default=True, help="Cells per side.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random maze.")
@click.option(
    "--walls",
    type=click.FloatRange(0, 0.9),
    default=WALL_SHARE,
    show_default=True,
    help="Share of the cells that are walls.",
)
@click.option(
    "--shortest",
    type=click.IntRange(1),
    default=SHORTEST,
    show_default=True,
    help="Minimum steps of the shortest path from start to goal.",
)
@JSON_FLAG
def maze(*, target: Path, size: int, seed: int, walls: float, shortest: int, as_json: bool) -> None:
    """Make a maze as in GraphWalk's experiment: a grid of cells, by default half of them walls.

    Each cell has a `key` (from 0, by rows) and its `euclidean_distance` to the goal, which is -1 for a wall. The tools
    get_possible_next_cells and get_connected_path (toolsets maze and trail) walk it.
    """
    made = make_maze(seed, size, walls, shortest)
    write_maze(made, target)
    way = len(made.shortest_way()) - 1
    start, goal = made.key(made.start), made.key(made.goal)
    if as_json:
        print_json(
            {
                "graph": str(target),
                "cells": size * size,
                "walls": len(made.walls),
                "start": start,
                "goal": goal,
                "shortest": way,
            }
        )
        return
    click.echo(f"{target}: {size} x {size} cells, {len(made.walls):,} of them walls")
    click.echo(f"From {start} to {goal}; the shortest path has {way} steps.")
    click.echo(f"Next: kgnav serve --graph {shlex.quote(str(target))} --toolsets trail,maze")
