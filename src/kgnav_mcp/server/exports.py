"""Export formats of trails: for a model, for a program, and for people. And the resources that serve them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from mcp.server.mcpserver import MCPServer

from kgnav_mcp.app import App
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Subgraph, Trail
from kgnav_mcp.navigation.shown_graph import walked_subgraph
from kgnav_mcp.render.pictures import mermaid, svg
from kgnav_mcp.render.table import RenderOptions, fit_to_budget
from kgnav_mcp.render.trails import transcript_table
from kgnav_mcp.server.resources import ALLOW_PATH_CHARACTERS, resource_errors
from kgnav_mcp.server.trail_recorder import verified_caller
from kgnav_mcp.trails import trail_json, trail_page_json


@dataclass(frozen=True, slots=True)
class Export:
    """What to write: a trail, its handle, and how much of it."""

    trail: Trail
    handle: str
    options: RenderOptions
    page: int = 1
    whole: bool = False
    """Whether to write everything instead of the part that fits an answer, a page or a readable picture."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format with its title, description, MIME type and writer."""

    title: str
    description: str
    mime_type: str
    write: Callable[[Export], str]


def _transcript(export: Export) -> str:
    options = replace(export.options, budget=_UNLIMITED) if export.whole else export.options
    return fit_to_budget(transcript_table(export.trail, export.handle, options), options, None).text


def _json(export: Export) -> str:
    if export.whole:
        return trail_json(export.trail) + "\n"
    page = export.page + 1
    next_page = (
        f"Next: kg://trail/{export.handle}/json?page={page}, or kgnav trail {export.handle} --format json --page {page}"
    )
    return trail_page_json(export.trail, export.page, next_page) + "\n"


def _subgraph(export: Export) -> Subgraph:
    limits = [_UNLIMITED] * 3 if export.whole else []
    return walked_subgraph(export.trail, *limits)


_UNLIMITED = 1_000_000_000
TRANSCRIPT: Final = "markdown"
JSON: Final = "json"
_PICTURE = "Visited entities, the paths to answers, and a sample of the other rows with the number omitted."
EXPORT_FORMATS: Final[Mapping[str, ExportFormat]] = {
    TRANSCRIPT: ExportFormat(
        "Transcript of a trail", "The steps of a walk, as show_trail gives them.", "text/markdown", _transcript
    ),
    JSON: ExportFormat(
        "A trail as JSON",
        "Every call of a trail with the triples that it showed, in pages of a megabyte.",
        "application/json",
        _json,
    ),
    "mermaid": ExportFormat(
        "A trail as a Mermaid flowchart",
        _PICTURE,
        "text/vnd.mermaid",
        lambda export: mermaid(_subgraph(export)),
    ),
    "svg": ExportFormat(
        "A trail as a picture",
        _PICTURE,
        "image/svg+xml",
        lambda export: svg(_subgraph(export)),
    ),
}


TRAIL = "kg://trail/{trail}"


def add_trail_resources(server: MCPServer[None], app: App) -> None:
    """Add trails as resources, for the callers that may use them in tools.

    Clients choose resources by MIME type, so each format has its own template.
    """
    for name, export in EXPORT_FORMATS.items():
        server.resource(
            _template(name),
            name="trail" if name == TRANSCRIPT else f"trail_{name}",
            title=export.title,
            description=export.description,
            mime_type=export.mime_type,
            security=ALLOW_PATH_CHARACTERS,
        )(_page_reader(app, export) if name == JSON else _reader(app, export))


def _template(name: str) -> str:
    if name == TRANSCRIPT:
        return TRAIL
    return f"{TRAIL}/{name}{{?page}}" if name == JSON else f"{TRAIL}/{name}"


def _reader(app: App, export: ExportFormat) -> Callable[[str], Awaitable[str]]:
    async def read(trail: str) -> str:
        return await _export(app, export, trail, 1)

    return read


def _page_reader(app: App, export: ExportFormat) -> Callable[[str, str], Awaitable[str]]:
    # The page is a text: the SDK reports a value that is not a number as an internal error.
    async def read(trail: str, page: str = "1") -> str:
        return await _export(app, export, trail, int(page) if page.isdecimal() else 0)

    return read


async def _export(app: App, export: ExportFormat, handle: str, page: int) -> str:
    with resource_errors():
        trail = await app.trails.read(handle, verified_caller())
        requested = Export(trail, handle, app.render_options, page)
        return await in_thread(trail.size, lambda: export.write(requested))
