"""Resources of trails: the transcript and the other export formats."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp.server.mcpserver import MCPServer

from kgnav_mcp.app import App
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.server.exports import EXPORT_FORMATS, JSON, TRANSCRIPT, Export, ExportFormat
from kgnav_mcp.server.resources import ALLOW_PATH_CHARACTERS, resource_errors
from kgnav_mcp.server.trail_recorder import verified_caller

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
        found = await app.trails.read(handle, verified_caller())
        requested = Export(found, handle, app.render_options, page)
        return await in_thread(found.size, lambda: export.write(requested))
