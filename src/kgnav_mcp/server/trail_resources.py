"""Resources of trails: the transcript and the other export formats."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp.server.mcpserver import MCPServer

from kgnav_mcp.app import App
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.server.exports import EXPORT_FORMATS, TRANSCRIPT, ExportFormat
from kgnav_mcp.server.recording import verified_caller
from kgnav_mcp.server.resources import ALLOW_PATH_CHARACTERS, resource_errors

TRAIL = "kg://trail/{trail}"


def add_trail_resources(server: MCPServer[None], app: App) -> None:
    """Add trails as resources, for the callers that may use them in tools. Pictures and JSON are never truncated.

    Clients choose resources by MIME type, so each format has its own template.
    """
    for name, export in EXPORT_FORMATS.items():
        server.resource(
            TRAIL if name == TRANSCRIPT else f"{TRAIL}/{name}",
            name="trail" if name == TRANSCRIPT else f"trail_{name}",
            title=export.title,
            description=export.description,
            mime_type=export.mime_type,
            security=ALLOW_PATH_CHARACTERS,
        )(_reader(app, export))


def _reader(app: App, export: ExportFormat) -> Callable[[str], Awaitable[str]]:
    async def read(trail: str) -> str:
        with resource_errors():
            found = await app.trails.read(trail, verified_caller())
            triples = sum(len(step.triples) for step in found.steps)
            return await in_thread(triples, lambda: export.write(found, app.render_options))

    return read
