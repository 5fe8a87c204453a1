"""The trails of one client: where only one can be meant, a call may leave the argument `trail` out.

The client of a process on stdio is one, and so is a session over HTTP. A request without a session has no trails here.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.errors import InvalidArgument, UnknownTrail
from kgnav_mcp.model import Trail
from kgnav_mcp.navigation.references import resolve_entities
from kgnav_mcp.render.text import NAME_LIMIT, name_and_id
from kgnav_mcp.server.trail_recorder import GRAPH, TRAIL, TrailUse, verified_caller

if TYPE_CHECKING:
    from kgnav_mcp.app import App
    from kgnav_mcp.server.tool import ToolSpec

MAX_TRAILS = 10
"""Most trails that are remembered of one client: the last that it used."""

_NAMES = 240
"""Most characters of the list of trails in an error."""


class ClientTrails:
    """The trails that a client has started or named, the last used one last."""

    def __init__(self) -> None:
        self._handles: dict[str, None] = {}
        self._choosing = asyncio.Lock()

    @property
    def number(self) -> int:
        """The number of trails that are remembered."""
        return len(self._handles)

    def remember(self, handle: str) -> None:
        """Note that the client uses this trail."""
        self._handles.pop(handle, None)
        self._handles[handle] = None
        while len(self._handles) > MAX_TRAILS:
            del self._handles[next(iter(self._handles))]

    async def current(self, app: App, graph: str) -> dict[str, Trail]:
        """The trails that have not expired, without their steps; those on one graph only, if it is not empty."""
        found: dict[str, Trail] = {}
        for handle in [*self._handles]:
            try:
                trail = await app.trails.beginning(handle, verified_caller())
            except UnknownTrail:
                self._handles.pop(handle, None)
            else:
                if graph in ("", trail.graph):
                    found[handle] = trail
        return found

    async def choose(self, app: App, spec: ToolSpec[Any], values: dict[str, Any], *, begin: bool) -> str:
        """Set the argument `trail` to the only trail of the client. With `begin` and no trail, one is started.

        Returns a note for the answer if one was started.

        Raises:
            InvalidArgument: there are several trails, or none.
        """
        async with self._choosing:  # parallel first calls walk one trail
            found = await self.current(app, values.get(GRAPH) or "")
            if len(found) > 1:
                names = [f"{handle} ({clipped(found[handle].question, NAME_LIMIT)})" for handle in reversed(found)]
                raise InvalidArgument(
                    f"you use {len(found)} trails, so that `trail` cannot be left out",
                    next_step=f"Pass one of them: {comma_list(names, _NAMES)}.",
                )
            if found:
                (values[TRAIL],) = found
                return ""
            if not begin:
                raise InvalidArgument(
                    "no cell has been entered yet, so there is no trail to read",
                    next_step="Enter one by get_possible_next_cells(node_id), or pass `trail`.",
                )
            values[TRAIL] = handle = await self._begin(app, spec, values)
        return f"Trail: {handle} was started and is meant where `trail` is left out."

    async def _begin(self, app: App, spec: ToolSpec[Any], values: dict[str, Any]) -> str:
        graph = app.graph(values.get(GRAPH) or None)
        async with graph.adapter() as adapter:
            topics = await resolve_entities(adapter, [values[name] for name in spec.arguments.ids])
        trail = Trail(graph.name, f"Walk from {name_and_id(topics[0])}", topics, time.time())
        handle = await app.trails.start(trail, verified_caller())
        self.remember(handle)
        return handle


session_trails = ContextVar[ClientTrails | None]("session_trails", default=None)
"""The trails of the HTTP session to which the request belongs; None without a session."""


def trails_of_client(context: Context[Any, Any], own: ClientTrails) -> ClientTrails | None:
    """The trails of the client that made this call; None if its calls have no session.

    `own` are those of the only client of a server that is not on HTTP.
    """
    if context.request_context.request is None:
        return own
    return None if context.protocol_version in MODERN_PROTOCOL_VERSIONS else session_trails.get()


async def choose_trail(
    app: App, spec: ToolSpec[Any], values: dict[str, Any], client: ClientTrails | None, *, begin: bool = True
) -> str:
    """Set the argument `trail` of a tool where it may be left out and is. Returns a note for the answer, or "".

    Raises:
        InvalidArgument: the client has no session, or it is not clear which of its trails is meant.
    """
    field = spec.arguments.model_fields.get(TRAIL)
    if field is None or field.is_required() or (values.get(TRAIL) or "").strip():
        return ""
    if client is None:
        raise InvalidArgument(
            "`trail` cannot be left out here: your requests have no session, so none knows of those before it",
            next_step="start_trail(question, topic_entities) gives a handle: pass it as `trail` to each call.",
        )
    return await client.choose(app, spec, values, begin=begin and spec.trail is TrailUse.IN_TURN)
