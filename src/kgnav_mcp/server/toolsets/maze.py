"""GraphWalk's maze: enters one cell per call, with the marks kept in the trail."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from kgnav_mcp.navigation.maze import TOOL, possible_next_cells
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.trails import CELL_COLUMNS, cells_table
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.toolsets.trail import ONLY_TRAIL
from kgnav_mcp.server.trail_recorder import TrailUse


class NextCellsArguments(Arguments):
    """Arguments of `get_possible_next_cells`."""

    ids: ClassVar[frozenset[str]] = frozenset({"node_id"})

    node_id: str = Field(description="The cell to enter, by its id.")
    trail: str | None = Field(default=None, description=ONLY_TRAIL)


async def get_possible_next_cells(call: ToolCall, arguments: NextCellsArguments) -> Answer:
    """Enter a cell and answer with the open cells next to it (GraphWalk's maze step)."""
    cells = await possible_next_cells(call.adapter, await call.trail(), arguments.node_id)
    return call.answer(cells_table(cells), None)


TOOLSET = Toolset(
    title="GraphWalk's maze",
    instructions=(
        "Mazes: get_possible_next_cells(node_id) enters and marks a cell and lists the open ones beside it; "
        "get_connected_path() gives the path over the marked cells. `trail` is needed only with several trails or "
        "without a session."
    ),
    tools=(
        ToolSpec(
            name=TOOL,
            title="Enter a cell of a maze",
            description=(
                "Enter a cell of a maze graph and list the open cells beside it, nearest to the goal first, with their "
                "distance to it and the order in which cells were marked. Marks are kept in the trail; GraphWalk's "
                "tools show them as `marked` and `mark_order`. A wall cannot be entered."
            ),
            arguments=NextCellsArguments,
            run=get_possible_next_cells,
            tables=(CELL_COLUMNS,),
            example={"node_id": "zundert"},
            read_only=False,
            trail=TrailUse.IN_TURN,
        ),
    ),
)
