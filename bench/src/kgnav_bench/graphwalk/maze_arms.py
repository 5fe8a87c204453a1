"""Finds a way through a maze without a model: a script that uses the maze tools, and one that reads the grid."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from kgnav_bench.graphwalk.arms import Tools, every_row
from kgnav_bench.graphwalk.mazes import GOAL, START, WALL, Place


class MazeArm(Protocol):
    """Finds a way through a maze."""

    name: str
    with_tools: bool
    """Whether it gets the tools instead of the grid."""

    def find(self, tools: Tools, instruction: str, start: str, goal: str) -> str:
        """The final output, in the form that the instruction asks for.

        If `with_tools` is false, `tools` must not be used.
        """
        ...


class ToolScript:
    """Enters the open cell nearest to the goal that was not entered yet, and goes back where there is none."""

    name = "script"
    with_tools = True

    def find(self, tools: Tools, instruction: str, start: str, goal: str) -> str:
        begun = tools.call("start_trail", {"question": instruction, "topic_entities": [start]})
        trail = {"trail": begun.split()[1]}
        waiting, entered = [start], set[str]()
        while waiting and goal not in entered:
            cell = waiting.pop()
            if cell not in entered:
                entered.add(cell)
                beside = every_row(tools, "get_possible_next_cells", {"node_id": cell, **trail}, ("cell",))
                waiting += [name for (name,) in reversed(beside)]
        steps = every_row(tools, "get_connected_path", trail, ("from", "to"))
        return json.dumps([steps[0][0], *(end for _, end in steps)] if steps else [])


class GridScript:
    """Finds a shortest way in the grid of the instruction by breadth-first search."""

    name = "script"
    with_tools = False

    def find(self, tools: Tools, instruction: str, start: str, goal: str) -> str:
        del tools
        names = {START: start, GOAL: goal}
        cells = {place: names.get(text, text) for place, text in _open_cells(instruction)}
        first = next(place for place, key in cells.items() if key == start)
        came: dict[Place, Place | None] = {first: None}
        queue = deque([first])
        while queue:
            here = queue.popleft()
            if cells[here] == goal:
                return json.dumps([cells[place] for place in _way(came, here)])
            row, column = here
            for place in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if place in cells and place not in came:
                    came[place] = here
                    queue.append(place)
        return "[]"


def _open_cells(text: str) -> Iterator[tuple[Place, str]]:
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell.strip() != WALL:
                yield (row, column), cell.strip()


def _way(came: Mapping[Place, Place | None], end: Place) -> Sequence[Place]:
    way: list[Place] = []
    here: Place | None = end
    while here is not None:
        way.append(here)
        here = came[here]
    return way[::-1]
