"""A maze as a graph, as in GraphWalk's experiment (section 3, appendix E): a grid of cells, some of them walls."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from kgnav_mcp.errors import InvalidArgument

Place = tuple[int, int]
"""Row and column, from 0."""

WALL = -1.0
"""The `euclidean_distance` of walls."""
ADJACENT = "ADJACENT"
"""The relationship between cells that share an edge."""
WALL_SHARE = 0.5
SHORTEST = 15
"""Least number of steps from start to goal."""
_MAX_TRIES = 20_000
"""Random mazes that are tried for one with a path that is long enough."""


@dataclass(frozen=True, slots=True)
class Maze:
    """A square of `size` cells a side, the walls in it, and its two ends."""

    size: int
    walls: frozenset[Place]
    start: Place
    goal: Place

    def beside(self, place: Place) -> Iterator[Place]:
        """The cells next to a cell, walls too."""
        row, column = place
        for one in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if all(0 <= each < self.size for each in one):
                yield one

    def key(self, place: Place) -> str:
        """The id of a cell: its position from 0, by rows from the top left; 0 to 99 in a maze of 10 x 10 cells."""
        return str(place[0] * self.size + place[1])

    def shortest_way(self) -> Sequence[Place]:
        """The cells from start to goal; none where walls part them."""
        came: dict[Place, Place | None] = {self.start: None}
        queue = deque([self.start])
        while queue and self.goal not in came:
            here = queue.popleft()
            for one in self.beside(here):
                if one not in came and one not in self.walls:
                    came[one] = here
                    queue.append(one)
        way: list[Place] = []
        here = self.goal if self.goal in came else None
        while here is not None:
            way.append(here)
            here = came[here]
        return way[::-1]


def make_maze(seed: int, size: int = 10, wall_share: float = WALL_SHARE, shortest: int = SHORTEST) -> Maze:
    """A maze of `size` x `size` cells, a share of them walls, whose shortest path has at least `shortest` steps.

    Raises:
        InvalidArgument: no such maze was found.
    """
    random = Random(seed)  # noqa: S311 - a maze is no secret
    places = [(row, column) for row in range(size) for column in range(size)]
    walls = min(int(size * size * wall_share), size * size - 2)
    for _ in range(_MAX_TRIES):
        start, goal, *others = random.sample(places, size * size)
        maze = Maze(size, frozenset(others[:walls]), start, goal)
        if len(maze.shortest_way()) > shortest:
            return maze
    raise InvalidArgument(
        f"none of {_MAX_TRIES:,} random mazes of {size} x {size} cells with {walls:,} walls has a shortest path of at "
        f"least {shortest} steps",
        next_step="Ask for fewer walls, a shorter path or more cells.",
    )


def write_maze(maze: Maze, target: Path) -> None:
    """Make the graph file of a maze: cells with `key` and `euclidean_distance` to the goal, joined by ADJACENT.

    Raises:
        LoadError: the file cannot be written.
    """
    from kgnav_mcp.adapters.embedded.loading import (  # noqa: PLC0415 - the parsers it brings are needed here only
        LoadOptions,
        load,
    )

    places = [(row, column) for row in range(maze.size) for column in range(maze.size)]
    with TemporaryDirectory(prefix="maze-") as folder:
        cells, edges = Path(folder) / "cells.csv", Path(folder) / "edges.csv"
        with cells.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((":ID", "key:int", "euclidean_distance:float", ":LABEL"))
            for one in places:
                distance = WALL if one in maze.walls else round(dist(one, maze.goal), 3)
                writer.writerow((maze.key(one), maze.key(one), distance, "Cell"))
        with edges.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((":START_ID", ":END_ID", ":TYPE"))
            writer.writerows(
                (maze.key(one), maze.key(other), ADJACENT)
                for one in places
                for other in maze.beside(one)
                if one < other
            )
        load([cells, edges], target, LoadOptions())
