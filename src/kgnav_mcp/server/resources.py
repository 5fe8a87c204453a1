"""Resources (the graphs, a schema, a part of a schema, an entity) and completions of names and ids.

The texts of resources are those of the tools' answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from kgnav_mcp.app import App
from kgnav_mcp.errors import InvalidRequest, KgnavError
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation import neighbourhood
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.navigation.subclasses import schema_with_subclasses
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.overview import SCHEMA_ROWS, schema_overview
from kgnav_mcp.render.problems import error_text
from kgnav_mcp.render.text import count_tokens, table_cell, truncate_text
from kgnav_mcp.render.triples import neighbourhood_table
from kgnav_mcp.server.tool import ToolCall

GRAPHS = "kg://graphs"
SCHEMA = "kg://{graph}/schema"
SCHEMA_OF = "kg://{graph}/schema/{name}"
ENTITY = "kg://{graph}/entity/{id}"

_MARKDOWN = "text/markdown"
ALLOW_PATH_CHARACTERS = ResourceSecurity(exempt_params=frozenset({"graph", "name", "id", "trail"}))
"""Turns off the SDK's path checks: an IRI with slashes is a valid id, and no id is used as a file path."""

T = TypeVar("T")


def add_resources(server: MCPServer[None], app: App) -> None:
    """Add the graphs, their schemas and their entities as resources."""

    async def graphs() -> str:
        lines = ["graph|location|schema", "--|--|--"]
        lines += [
            f"{name}|{table_cell(graph.settings.shown_location)}|kg://{name}/schema"
            for name, graph in app.graphs.items()
        ]
        return truncate_text("\n".join(lines), app.render_options.budget)

    async def schema(graph: str) -> str:
        return await _reading(_schema(app, graph, None), app)

    async def schema_of(graph: str, name: str) -> str:
        return await _reading(_schema(app, graph, name), app)

    async def entity(graph: str, id: str) -> str:  # noqa: A002 - the variable of the URI template
        return await _reading(_entity(app, graph, id), app)

    server.resource(
        GRAPHS, name="graphs", title="Graphs", description="The graphs that are served.", mime_type=_MARKDOWN
    )(graphs)
    for uri, name, title, description, reader in (
        (SCHEMA, "schema", "Schema", "Labels, relations and properties of a graph.", schema),
        (SCHEMA_OF, "schema_part", "Part of a schema", "Details of one label, relation or property.", schema_of),
        (ENTITY, "entity", "Entity", "The neighbourhood of an entity in both directions.", entity),
    ):
        server.resource(
            uri,
            name=name,
            title=title,
            description=description,
            mime_type=_MARKDOWN,
            security=ALLOW_PATH_CHARACTERS,
        )(reader)


async def _reading(text: Awaitable[str], app: App) -> str:
    """The text truncated to the budget, with errors translated to those of resources."""
    with resource_errors():
        return truncate_text(await text, app.render_options.budget)


@contextmanager
def resource_errors() -> Generator[None]:
    """Translate errors within the block to the SDK's errors of resources.

    Raises:
        ResourceNotFoundError: the graph, name, entity or trail does not exist.
        ResourceError: it cannot be read.
    """
    try:
        yield
    except InvalidRequest as error:
        raise ResourceNotFoundError(error_text(error)) from error
    except KgnavError as error:
        raise ResourceError(error_text(error)) from error


async def _schema(app: App, graph_name: str, name: str | None) -> str:
    graph = app.graph(graph_name)
    async with graph.adapter() as adapter:
        schema = await schema_with_subclasses(adapter, name, limit=SCHEMA_ROWS)
        options = replace(app.render_options, generated_prefixes=adapter.generated_prefixes)
    return schema_overview(graph.name, schema, name, options).text


async def _entity(app: App, graph_name: str, reference: str) -> str:
    graph = app.graph(graph_name)
    parts: list[str] = []
    async with graph.adapter() as adapter:
        for direction in Direction:
            # Cursors in the text belong to `search`, so that a model can continue with that tool.
            arguments = {"entity": reference, "direction": str(direction)}
            call = ToolCall(app, graph, adapter, "search", arguments, budget_parts=len(Direction))
            entity = await resolve_entity(call.adapter, reference)
            result = await neighbourhood.search(adapter, entity, direction, limits=call.limits)
            page = result.rows or result.relations
            table = neighbourhood_table(result, 0)
            parts.append(f"{direction}: {call.answer(table, page.positions if page else ()).text}")
    return "\n\n".join(parts)


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


def _completion(names: list[str], typed: str, app: App) -> Completion:
    """The known names that start with the typed text, then those that contain it."""
    folded = typed.casefold()
    starting = [name for name in names if name.casefold().startswith(folded)]
    containing = [name for name in names if folded in name.casefold() and name not in starting]
    matches = [*starting, *containing]
    shown = _fitting(matches, app)
    return Completion(values=shown, total=len(matches), has_more=len(matches) > len(shown))


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
