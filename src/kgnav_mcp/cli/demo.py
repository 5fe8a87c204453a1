"""`kgnav demo`: a question answered hop by hop, through a real client and the server as clients start it."""

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
    """An answer did not hold what the next step of the walk needs."""


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
    """Where the walk ended: at the answer, or at the step that failed."""

    answer: str = ""
    failure: DemoFailed | None = None


async def _walk() -> Walk:
    click.echo(f"Question: {QUESTION}\n")
    walk = Walk()
    async with _client() as client:
        try:
            walk.answer = await _answer(client)
        except DemoFailed as error:  # kept for after the client, whose task group would wrap it
            walk.failure = error
    return walk


async def _answer(client: Client) -> str:
    """The paper's three hops. Every id is read out of the answer before."""
    _say("Which entity is meant?")
    painter = (await _call(client, "find_node", hint="Vincent van Gogh"))[0]["entity"]
    _say("Where was he born?")
    [birthplace] = _pick(await _call(client, "search", entity=painter, direction="outgoing"), "born_in")
    _say(f"Born in {birthplace['valueLabel']}. What country is that in?")
    around = await _call(client, "search", entity=birthplace["value"], direction="outgoing")
    [country] = _pick(around, "country")
    _say(f"{country['valueLabel']}. What leaves it?")
    relations = await _call(client, "search", entity=country["value"], direction="outgoing")
    [relation] = _pick(relations, "capital")
    _say("A hub: its relations are listed instead of its neighbours. Follow the one that fits.")
    found = await _call(
        client,
        "search",
        entity=country["value"],
        direction="outgoing",
        properties_to_filter_for=[relation["property"]],
    )
    [capital] = _pick(found, relation["property"])
    return capital["valueLabel"]


def _pick(rows: Sequence[Row], relation: str) -> Sequence[Row]:
    picked = [row for row in rows if row.get("property") == relation]
    if not picked:
        raise DemoFailed(f"the answer shows no {relation!r}", next_step="`kgnav doctor` checks the installation.")
    return picked


def _say(thought: str) -> None:
    click.secho(f"# {thought}", bold=True)


async def _call(client: Client, tool: str, **arguments: object) -> Sequence[Row]:
    """Call a tool, show the call and the answer, and give back the rows of its table."""
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    click.secho(f"> {tool}({shown})", fg="cyan")
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    click.echo(text + "\n")
    if result.is_error:
        raise DemoFailed(f"{tool} answered with an error")
    return _rows(text)


def _rows(text: str) -> Sequence[Row]:
    """The rows of the answer's table by column. The demo graph has no `|` in its names, so each one parts two cells."""
    lines = [line.split("|") for line in text.splitlines()]
    rule = next((n for n, cells in enumerate(lines) if len(cells) > 1 and set(cells) == {"--"}), None)
    if not rule:
        return []
    columns = lines[rule - 1]
    return [dict(zip(columns, cells, strict=True)) for cells in lines[rule + 1 :] if len(cells) == len(columns)]


@asynccontextmanager
async def _client() -> AsyncGenerator[Client]:
    """A client of `kgnav-mcp`, started as its own process and kept from any configuration of this user."""
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415 - `--help` needs no protocol

    with tempfile.TemporaryDirectory() as folder:
        nothing = Path(folder) / "kgnav.toml"
        nothing.touch()
        environment = {**environment_without_settings(), "KGNAV_CONFIG": str(nothing)}
        server = StdioServerParameters(command=server_command(), env=environment)
        async with Client(stdio_client(server)) as client:
            yield client
