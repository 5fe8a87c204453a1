"""`kgnav call`: one tool call, answered as a model sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from kgnav_mcp.cli.boundary import FAILED, INCOMPLETE, SUCCEEDED, Command
from kgnav_mcp.cli.export import Destination, Export, read_pages, row_spool, whole_answers, write_rows
from kgnav_mcp.cli.options import with_settings
from kgnav_mcp.config import Settings

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

_DESTINATION = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command(
    cls=Command,
    short_help="Make one tool call and print its answer.",
    epilog="""\b
Examples:
  kgnav call describe_graph
  kgnav call find_node hint="van gogh"
  kgnav call search entity=vincent_van_gogh direction=outgoing
  kgnav call search entity=the_netherlands direction=outgoing properties_to_filter_for=capital
  kgnav call get_triples entity=zundert 'relations=["located_in", "born_in"]'
  kgnav call find_node_by_edge edge_type=located_in --csv located.csv

Exit code: 0 for an answer, 1 for an error answer, 2 for a call that could not be made, 3 for rows written by --csv or
--json that are not all there are.""",
)
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--csv", "csv_path", type=_DESTINATION, help="Write all rows of all pages as CSV; - is stdout.")
@click.option("--json", "json_path", type=_DESTINATION, help="Write all rows of all pages as JSON; - is stdout.")
@with_settings()
@click.pass_context
def call(
    context: click.Context,
    *,
    tool: str,
    arguments: tuple[str, ...],
    csv_path: Path | None,
    json_path: Path | None,
    settings: Settings,
) -> None:
    """Call TOOL once and print its answer as a model sees it.

    A VALUE is text. Where the tool wants a list, it is JSON or one element, and several are given by repeating NAME;
    where it wants a number, it is read as one. With --structured the answer is printed as JSON.
    """
    if csv_path and json_path:
        raise click.UsageError("--csv and --json exclude each other. Make the call once for each.")
    if path := csv_path or json_path:
        destination = Destination(path, is_csv=csv_path is not None)
        context.exit(_export(tool, _pairs(arguments), destination, settings))
    result = asyncio.run(_call(tool, _pairs(arguments), settings))
    click.echo(_text(result))
    if result.is_error:
        context.exit(FAILED)


def _export(tool: str, pairs: list[tuple[str, str]], destination: Destination, settings: Settings) -> int:
    """Write the whole answer of a call and print what was written. Returns the exit code."""
    destination.check()
    with row_spool() as spool:
        export, found = asyncio.run(_read_pages(tool, pairs, destination, spool, whole_answers(settings)))
        if not export.error:
            write_rows(spool, export, found, _arguments(pairs), destination)
    click.echo(export.summary, err=destination.is_stdout or bool(export.error))
    if export.error:
        return FAILED
    return SUCCEEDED if export.is_complete else INCOMPLETE


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        name, given, value = argument.partition("=")
        if not given or not name:
            raise click.UsageError(f"{argument!r} is not NAME=VALUE.")
        pairs.append((name, value))
    return pairs


async def _call(name: str, pairs: list[tuple[str, str]], settings: Settings) -> CallToolResult:
    result: CallToolResult | None = None
    async with _tool_client(name, settings) as (client, fault, _):
        if not fault:
            result = await client.call_tool(name, _arguments(pairs))
    # Raised outside the client, whose task group would wrap it.
    if result is None:
        raise click.UsageError(fault)
    return result


async def _read_pages(
    name: str, pairs: list[tuple[str, str]], destination: Destination, spool: IO[str], settings: Settings
) -> tuple[Export, Tool]:
    read: tuple[Export, Tool] | None = None
    async with _tool_client(name, settings) as (client, fault, tool):
        if tool:

            async def read_page(cursor: Mapping[str, str]) -> CallToolResult:
                return await client.call_tool(name, {**_arguments(pairs), **cursor})

            read = await read_pages(read_page, destination.path, spool), tool
    if read is None:
        raise click.UsageError(fault)  # outside the client, as above
    return read


@asynccontextmanager
async def _tool_client(name: str, settings: Settings) -> AsyncGenerator[tuple[Client, str, Tool | None]]:
    """A client of a server in this process, and the tool of this name, or why there is none."""
    from mcp import Client  # noqa: PLC0415 - `--help` needs no protocol

    from kgnav_mcp.app import App  # noqa: PLC0415
    from kgnav_mcp.server import build_server  # noqa: PLC0415

    async with Client(build_server(App(settings))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        yield client, "" if name in tools else _unknown_tool(name, tools, settings), tools.get(name)


def _unknown_tool(name: str, tools: Mapping[str, Tool], settings: Settings) -> str:
    from kgnav_mcp.server.toolsets import load_toolsets  # noqa: PLC0415 - `--help` needs no tools

    if off := [each for each, toolset in load_toolsets().items() if name in {tool.name for tool in toolset.tools}]:
        toolsets = ",".join((*settings.toolsets, *off))
        return f"the tool {name!r} is in the toolset {off[0]!r}, which is off. Add --toolsets {toolsets}"
    near = get_close_matches(name, list(tools), n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The tools are: {', '.join(tools)}."
    return f"there is no tool {name!r}. {hint}"


def _arguments(pairs: list[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Arguments by name, as text, or a list of texts if a name is repeated. The server converts them."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    return {name: given[0] if len(given) == 1 else given for name, given in texts.items()}


def _text(result: CallToolResult) -> str:
    if result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False, indent=2)
    return "\n".join(block.text for block in result.content if block.type == "text")
