"""One call of a tool: its graph, its arguments, and the paging of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.app import App, Graph
from kgnav_mcp.errors import UnknownTrail
from kgnav_mcp.model import Trail
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.maze import Marks, mark_order
from kgnav_mcp.navigation.pages import Cursor, Paging
from kgnav_mcp.navigation.progress import Progress
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.table import Answer, RenderOptions, Table, fit_to_budget
from kgnav_mcp.server.trail_recorder import ClientTrails, Recording, verified_caller

_MAZE = "maze"
"""The toolset whose marks are shown as properties of maze cells."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The context of one tool call: graph, arguments, limits and paging."""

    app: App
    graph: Graph
    adapter: GraphAdapter
    tool: str
    arguments: Mapping[str, object]
    """The arguments without the cursor. A cursor is valid only with the same arguments."""
    structured: bool = False
    """Whether the answer is sent as structured content; the token budget then counts that form."""
    progress: Progress | None = None
    """Reports the progress of a long call to the client, if it asked for that."""
    budget_parts: int = 1
    """The answer may take this fraction (1 / n) of the token budget."""
    refuse_absent: bool = False
    """Whether an absent relation in a list is an error, so that no example call has one."""
    recording: Recording | None = None
    """The trail on which the call is recorded, if any."""
    client: ClientTrails | None = None
    """The trails of the client; None if its requests have no session."""

    @property
    def limits(self) -> Limits:
        """The thresholds of the algorithms."""
        return self.app.limits

    @property
    def options(self) -> RenderOptions:
        """How the answer is rendered."""
        options = self.app.render_options
        budget = options.budget // self.budget_parts
        prefixes = self.adapter.generated_prefixes
        return replace(options, budget=budget, structured=self.structured, generated_prefixes=prefixes)

    @property
    def paging(self) -> Paging:
        """The reader and writer of this call's cursors."""
        return Paging.of(self.tool, self.graph.name, self.adapter.revision, self.arguments)

    async def trail(self) -> Trail:
        """The trail of the call, with all its steps.

        Raises:
            UnknownTrail: the trail has expired meanwhile, or its handle is blank.
        """
        if self.recording is None:
            raise UnknownTrail("", self.app.trails.lifetime)
        return await self.recording.read()

    async def marks(self) -> Marks | None:
        """The marks of the maze's cells on the trail of the call, or on the client's only trail.

        None if this server has no mazes.

        Raises:
            UnknownTrail: the trail has expired meanwhile.
        """
        if _MAZE not in self.app.settings.toolsets:
            return None
        if self.recording is not None:
            return Marks(mark_order(await self.recording.read()))
        used = await self.client.current(self.app, self.graph.name) if self.client is not None else None
        if used is None or len(used) > 1:
            return Marks(None)
        return Marks(mark_order(await self.app.trails.read(next(iter(used)), verified_caller())) if used else {})

    def start(self, cursor: str | None) -> Cursor:
        """The start of the answer: the beginning, or the position of a cursor.

        Raises:
            InvalidCursor: the cursor belongs to another call.
        """
        return self.paging.read(cursor) if cursor else Cursor()

    def answer(self, table: Table, positions: Sequence[str] | None) -> Answer:
        """The table truncated to the budget, with a cursor after the last row shown if there are more.

        `positions` has the position of each row in the whole list; None if the list cannot be paged.
        """
        return fit_to_budget(
            table, self.options, self._cursors(table.offset, positions) if positions is not None else None
        )

    def _cursors(self, offset: int, positions: Sequence[str]) -> Callable[[int], str]:
        return lambda shown: self.paging.write(Cursor(positions[shown - 1], offset + shown))
