"""Completions: graph names, names in a schema, and ids of entities found by name."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.mcpserver import MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from kgnav_mcp.app import App
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.budget import count_tokens

_MAX_VALUES = 100
"""Maximum values of a completion (MCP, completion/complete)."""

_LONGEST = 200
"""Longest value that is offered."""

_SCHEMA_ROWS = 5000


def add_completions(server: MCPServer[None], app: App) -> None:
    """Add completions for the arguments of prompts and resource templates."""

    @server.completion()
    async def complete(
        _: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        if argument.name == "graph":
            return _completion(list(app.graphs), argument.value, app)
        if argument.name not in ("name", "id"):
            return None
        chosen = (context.arguments or {}).get("graph") if context else None
        try:
            async with app.graph(chosen or None).adapter() as graph:
                if argument.name == "name":
                    return _completion(await _schema_names(graph), argument.value, app)
                return Completion(values=_fitting(await _entities(graph, argument.value), app))
        except KgnavError:
            return None  # A graph that cannot be read has no completions. The call itself reports why.


def _completion(known: list[str], typed: str, app: App) -> Completion:
    """The known names that start with the typed text, then those that contain it."""
    folded = typed.casefold()
    starting = [name for name in known if name.casefold().startswith(folded)]
    containing = [name for name in known if folded in name.casefold() and name not in starting]
    found = [*starting, *containing]
    shown = _fitting(found, app)
    return Completion(values=shown, total=len(found), has_more=len(found) > len(shown))


def _fitting(values: Sequence[str], app: App) -> list[str]:
    """The first values that fit the token budget and the limits of a completion."""
    shown: list[str] = []
    left = app.render_options.budget
    for value in values:
        left -= count_tokens(value[:_LONGEST])
        if len(shown) < _MAX_VALUES and left >= 0 and len(value) <= _LONGEST:
            shown.append(value)
    return shown


async def _schema_names(graph: GraphAdapter) -> list[str]:
    schema = await graph.schema(limit=_SCHEMA_ROWS)
    names = (
        *(facts.id for facts in schema.labels),
        *(facts.relation.id for facts in schema.relations),
        *(facts.relation.id for facts in schema.properties),
    )
    return list(dict.fromkeys(names))


async def _entities(graph: GraphAdapter, typed: str) -> list[str]:
    if not typed.strip():
        return [node.id for node in (await graph.node_ids(None, None, None, limit=20)).items]
    return [candidate.entity.id for candidate in (await graph.find(typed, limit=20)).items]
