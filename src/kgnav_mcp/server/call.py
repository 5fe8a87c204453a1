"""One call of a tool: the graph it is for, and the paging of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.app import App, Graph
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.cursor import Cursor, Paging
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.resolving import resolve_entity
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.sheet import Answer, Sheet, Style, fit


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool works with. `bound` are the arguments its cursors are bound to.

    Its answer may take one in `shares` parts of the budget: the rest is for others beside it.
    """

    app: App
    graph: Graph
    adapter: GraphAdapter
    tool: str
    bound: Mapping[str, object]
    shares: int = 1

    @property
    def limits(self) -> Limits:
        return self.app.limits

    @property
    def style(self) -> Style:
        style = self.app.style
        return replace(style, budget=style.budget // self.shares, coined=self.adapter.coined_prefixes)

    @property
    def paging(self) -> Paging:
        """Reads and writes the cursors of this call."""
        return Paging.of(self.tool, self.graph.name, self.adapter.revision, self.bound)

    def place(self, cursor: str | None) -> Cursor:
        """Where the answer starts.

        Raises:
            InvalidCursor: the cursor is not of this call.
        """
        return self.paging.read(cursor)

    async def entity(self, reference: str) -> Entity:
        """The entity of an id or an unambiguous name."""
        return await resolve_entity(self.adapter, reference)

    def answer(self, sheet: Sheet, positions: Sequence[str] | None) -> Answer:
        """The sheet cut to the budget, with a cursor that goes on behind the last row shown, where it can go on."""
        return fit(sheet, self.style, self._cursors(sheet.seen, positions) if positions is not None else None)

    def _cursors(self, seen: int, positions: Sequence[str]) -> Callable[[int], str]:
        paging = self.paging
        return lambda shown: paging.write(Cursor(positions[shown - 1], seen + shown))
