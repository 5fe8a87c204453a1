"""`kgnav call`: one tool call, answered as a model sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from kgnav_mcp.cli.boundary import FAILED, Command
from kgnav_mcp.cli.options import with_settings
from kgnav_mcp.config import Settings

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool


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

Exit code: 0 for an answer, 1 for an error answer, 2 for a call that could not be made.""",
)
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@with_settings()
@click.pass_context
def call(context: click.Context, *, tool: str, arguments: tuple[str, ...], settings: Settings) -> None:
    """Call TOOL once and print its answer as a model sees it.

    A VALUE is text. Where the tool wants a list, it is JSON or one element, and several are given by repeating NAME;
    where it wants a number, it is read as one. With --structured the answer is printed as JSON.
    """
    result = asyncio.run(_call(tool, _pairs(arguments), settings))
    click.echo(_text(result))
    if result.is_error:
        context.exit(FAILED)


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        name, given, value = argument.partition("=")
        if not given or not name:
            raise click.UsageError(f"{argument!r} is not NAME=VALUE.")
        pairs.append((name, value))
    return pairs


async def _call(name: str, pairs: list[tuple[str, str]], settings: Settings) -> CallToolResult:
    from mcp import Client  # noqa: PLC0415 - `--help` needs no protocol

    from kgnav_mcp.app import App  # noqa: PLC0415
    from kgnav_mcp.server import build_server  # noqa: PLC0415

    async with Client(build_server(App(settings))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        fault = None if name in tools else _unknown_tool(name, tools, settings)
        result = None if fault else await client.call_tool(name, _arguments(pairs))
    # Raised outside the client, whose task group would wrap it.
    if result is None:
        raise click.UsageError(fault or "")
    return result


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
