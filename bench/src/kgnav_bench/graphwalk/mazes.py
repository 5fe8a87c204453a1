"""Mazes as in GraphWalk's experiment (section 3), created by `kgnav maze` and checked cell by cell."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from kgnav_bench.client import BareClient, script, server_command
from kgnav_bench.graphwalk.arms import every_row

WALL, START, GOAL = "#", "S", "G"
"""Cells of a grid in text that are shown by a sign instead of a key."""

_ENDS = re.compile(r"^From (\S+) to (\S+);", re.MULTILINE)
_CELLS = "MATCH (c:Cell) RETURN c.key AS key, c.euclidean_distance AS distance"
Place = tuple[int, int]


class MazeError(Exception):
    """A maze could not be made."""


@dataclass(frozen=True, slots=True)
class Maze:
    """A square maze: each cell's key by its row and column, and which cells are walls."""

    size: int
    keys: Mapping[Place, str]
    walls: frozenset[Place]
    start: str
    goal: str

    @property
    def places(self) -> Mapping[str, Place]:
        """The row and column of each open cell, by key."""
        return {key: place for place, key in self.keys.items() if place not in self.walls}

    def is_path(self, cells: Sequence[str]) -> bool:
        """Whether these keys lead from start to goal, each to an adjacent open cell."""
        places = self.places
        return (
            bool(cells)
            and (cells[0], cells[-1]) == (self.start, self.goal)
            and all(cell in places for cell in cells)
            and all(are_adjacent(places[one], places[other]) for one, other in pairwise(cells))
        )

    def grid(self) -> str:
        """The maze as text: a cell is its key, S, G or #, between borders (GraphWalk, D.1)."""
        width = max(map(len, self.keys.values())) + 2
        border = "+".join(("", *("-" * width for _ in range(self.size)), ""))
        lines = [border]
        for row in range(self.size):
            cells = (self._cell((row, column)).center(width) for column in range(self.size))
            lines += ["|".join(("", *cells, "")), border]
        return "\n".join(lines)

    def _cell(self, place: Place) -> str:
        key = self.keys[place]
        return WALL if place in self.walls else {self.start: START, self.goal: GOAL}.get(key, key)

    def instruction(self, *, with_tools: bool) -> str:
        """The task as given to an agent: with the grid, or with the tools instead."""
        task = (
            f"A maze of {self.size} x {self.size} cells: find a way from cell {self.start} to cell {self.goal}. A step "
            "leads to the cell above, below, left or right; walls cannot be entered.\n"
        )
        source = (
            "Look at it with the tools: each cell is a node, euclidean_distance tells how far the goal is. The way "
            "may be made of entered cells alone.\n"
            if with_tools
            else f"Each open cell shows its key; {START} is {self.start}, {GOAL} is {self.goal}, {WALL} is a wall.\n"
            f"{self.grid()}\n"
        )
        return f'{task}{source}Return only the keys of all cells of the way, as JSON of the form ["key", "key"].'


def are_adjacent(one: Place, other: Place) -> bool:
    """Whether two cells share a side."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1


def make_maze(seed: int, size: int, target: Path) -> Maze:
    """Create the graph file of a maze, and read its cells through a server.

    Raises:
        MazeError: `kgnav maze` failed, or its output is not understood.
    """
    command = [script("kgnav"), "maze", "--output", str(target), "--size", str(size), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this project's command
    ends = _ENDS.search(done.stdout)
    if done.returncode or ends is None:
        raise MazeError(done.stderr.strip() or f"kgnav maze does not say where the maze begins: {done.stdout!r}")
    with BareClient([*server_command(target), "--toolsets", "plans"]) as client:
        cells = every_row(client, "run_plan", {"plan": _CELLS}, ("key", "distance"))
    if len(cells) != size**2:
        raise MazeError(f"{target} has {len(cells)} cells where {size**2} are expected")
    keys = {_place(key, size): key for key, _ in cells}
    walls = frozenset(_place(key, size) for key, distance in cells if float(distance) < 0)
    return Maze(size, keys, walls, ends[1], ends[2])


def _place(key: str, size: int) -> Place:
    """Row and column of a cell such as r3c4, or 34: the cells are numbered row by row."""
    numbers = [int(number) for number in re.findall(r"\d+", key)]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else divmod(numbers[0], size)


def parse_path(output: str) -> Sequence[str]:
    """The keys in an agent's output; empty if it is not a list in JSON."""
    try:
        parsed: Any = json.loads(output)
    except ValueError:
        return ()
    return [str(key) for key in cast("list[object]", parsed)] if isinstance(parsed, list) else ()
