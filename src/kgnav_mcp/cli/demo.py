"""`kgnav demo`: answers a question hop by hop, with a real client and the server started as clients start it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.clients import client_setup_text, server_command
from kgnav_mcp.config import environment_without_settings
from kgnav_mcp.errors import KgnavError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp import Client

QUESTION = "What is the capital of Vincent van Gogh's birth country?"

Row = Mapping[str, str]


class DemoFailed(KgnavError):
    """An answer lacks what the next step of the walk needs."""


@click.command(cls=Command, short_help="Answer a question with the demo graph, hop by hop.")
def demo() -> None:
    """Answer a question with the demo graph and show every call and answer.

    The server is started as a client starts it, over stdio and with no configuration. What follows shows the lines
    that add it to Claude Desktop, Claude Code, VS Code and Cursor.
    """
    walk = asyncio.run(_walk())
    if walk.failure:
        raise walk.failure
    click.echo(f"Final answer: {{{walk.answer}}}\n")
    click.echo(client_setup_text())


@dataclass(slots=True)
class Walk:
    """The outcome of the walk: the answer, or the failure of a step."""

    answer: str = ""
    failure: DemoFailed | None = None


async def _walk() -> Walk:
    click.echo(f"Question: {QUESTION}\n")
    walk = Walk()
    async with _client() as client:
        try:
            walk.answer = await _answer(client)
        except DemoFailed as error:  # raised after the client is closed: its task group would wrap it
            walk.failure = error
    return walk


async def _answer(client: Client) -> str:
    """The paper's three hops. Every id is read from the answer before."""
    _print_thought("Which entity is meant?")
    painter = (await _call(client, "find_node", hint="Vincent van Gogh"))[0]["entity"]
    _print_thought("Where was he born?")
    [birthplace] = _rows_of_relation(await _call(client, "search", entity=painter, direction="outgoing"), "born_in")
    _print_thought(f"Born in {birthplace['valueLabel']}. What country is that in?")
    outgoing = await _call(client, "search", entity=birthplace["value"], direction="outgoing")
    [country] = _rows_of_relation(outgoing, "country")
    _print_thought(f"{country['valueLabel']}. What leaves it?")
    relations = await _call(client, "search", entity=country["value"], direction="outgoing")
    [relation] = _rows_of_relation(relations, "capital")
    _print_thought("Too many neighbours to list: one row per relation instead. Follow the one that fits.")
    found = await _call(
        client,
        "search",
        entity=country["value"],
        direction="outgoing",
        properties_to_filter_for=[relation["property"]],
    )
    [capital] = _rows_of_relation(found, relation["property"])
    return capital["valueLabel"]


def _rows_of_relation(rows: Sequence[Row], relation: str) -> Sequence[Row]:
    matching = [row for row in rows if row.get("property") == relation]
    if not matching:
        raise DemoFailed(f"the answer shows no {relation!r}", next_step="`kgnav doctor` checks the installation.")
    return matching


def _print_thought(thought: str) -> None:
    click.secho(f"# {thought}", bold=True)


async def _call(client: Client, tool: str, **arguments: object) -> Sequence[Row]:
    """Call a tool, print the call and its answer, and return the rows of its table."""
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    click.secho(f"> {tool}({shown})", fg="cyan")
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    click.echo(text + "\n")
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
