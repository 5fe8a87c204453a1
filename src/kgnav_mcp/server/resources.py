"""Resources: the graphs, a schema, one name of a schema, one entity. The same text as the tools give."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from kgnav_mcp.app import App
from kgnav_mcp.errors import InvalidRequest, KgnavError
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation import neighbourhood
from kgnav_mcp.render.budget import bounded
from kgnav_mcp.render.overview import overview
from kgnav_mcp.render.problems import problem
from kgnav_mcp.render.text import cell
from kgnav_mcp.render.triples import neighbourhood as neighbourhood_sheet
from kgnav_mcp.server.call import Call

GRAPHS = "kg://graphs"
SCHEMA = "kg://{graph}/schema"
SCHEMA_OF = "kg://{graph}/schema/{name}"
ENTITY = "kg://{graph}/entity/{id}"

_MARKDOWN = "text/markdown"
_SCHEMA_ROWS = 1000
_NAMES_ARE_NO_PATHS = ResourceSecurity(exempt_params=frozenset({"graph", "name", "id"}))
"""Ids are looked up in a graph, never in a file system: an IRI with slashes is as good as any."""

T = TypeVar("T")


def add_resources(server: MCPServer[None], app: App) -> None:
    """Offer the graphs, their schemas and their entities to read."""

    async def graphs() -> str:
        lines = ["graph|location|schema", "--|--|--"]
        lines += [
            f"{name}|{cell(graph.settings.shown_location)}|kg://{name}/schema" for name, graph in app.graphs.items()
        ]
        return bounded("\n".join(lines), app.style.budget)

    async def schema(graph: str) -> str:
        return await _reading(_schema(app, graph, None), app)

    async def schema_of(graph: str, name: str) -> str:
        return await _reading(_schema(app, graph, name), app)

    async def entity(graph: str, id: str) -> str:  # noqa: A002 - the variable of the URI template
        return await _reading(_entity(app, graph, id), app)

    server.resource(
        GRAPHS, name="graphs", title="Graphs", description="The graphs that are served.", mime_type=_MARKDOWN
    )(graphs)
    for uri, name, title, description, read in (
        (SCHEMA, "schema", "Schema", "Labels, relations and properties of a graph.", schema),
        (SCHEMA_OF, "schema_part", "Part of a schema", "What is around one label, relation or property.", schema_of),
        (ENTITY, "entity", "Entity", "The neighbourhood of an entity in both directions.", entity),
    ):
        server.resource(
            uri,
            name=name,
            title=title,
            description=description,
            mime_type=_MARKDOWN,
            security=_NAMES_ARE_NO_PATHS,
        )(read)


async def _reading(text: Awaitable[str], app: App) -> str:
    """The text, or the SDK's own errors with ours as their words: not found is another code than a store down."""
    try:
        return bounded(await text, app.style.budget)
    except InvalidRequest as error:
        raise ResourceNotFoundError(problem(error)) from error
    except KgnavError as error:
        raise ResourceError(problem(error)) from error


async def _schema(app: App, graph_name: str, name: str | None) -> str:
    graph = app.graph(graph_name)
    async with graph.adapter() as adapter:
        schema = await adapter.schema(name, limit=_SCHEMA_ROWS)
        style = replace(app.style, coined=adapter.coined_prefixes)
    return overview(graph.name, schema, name, style).text


async def _entity(app: App, graph_name: str, reference: str) -> str:
    graph = app.graph(graph_name)
    parts: list[str] = []
    async with graph.adapter() as adapter:
        for direction in Direction:
            # The cursors in the text are those of `search`, so that a model can go on with the tool.
            bound = {"entity": reference, "direction": str(direction)}
            call = Call(app, graph, adapter, "search", bound, shares=len(Direction))
            entity = await call.entity(reference)
            found = await neighbourhood.search(adapter, entity, direction, limits=call.limits)
            page = found.rows or found.relations
            sheet = neighbourhood_sheet(found, call.style, 0)
            parts.append(f"{direction}: {call.answer(sheet, page.positions if page else ()).text}")
    return "\n\n".join(parts)
