"""A maze as a graph, as GraphWalk's experiment has it: a grid of cells, half of them walls, with one way out."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

Place = tuple[int, int]
"""Row and column, from 0."""

WALL = -1.0
"""The distance that walls tell."""


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


def make_maze(seed: int, size: int = 10, shortest: int = 15) -> Maze:
    """A maze of `size` x `size` cells, half of them walls, whose shortest way has at least `shortest` steps."""
    random = Random(seed)  # noqa: S311 - a maze is no secret
    places = [(row, column) for row in range(size) for column in range(size)]
    while True:
        start, goal, *others = random.sample(places, size * size)
        maze = Maze(size, frozenset(others[: size * size // 2]), start, goal)
        if len(maze.shortest_way()) > shortest:
            return maze


def key(place: Place) -> str:
    """The id of a cell."""
    return f"r{place[0]}c{place[1]}"


def write_maze(maze: Maze, target: Path) -> None:
    """Make the graph file of a maze: cells with `euclidean_distance` to the goal, tied to those beside them.

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
            writer.writerow(("key:ID", "name", "euclidean_distance:float", ":LABEL"))
            for one in places:
                distance = WALL if one in maze.walls else round(dist(one, maze.goal), 3)
                writer.writerow((key(one), f"cell {one[0]},{one[1]}", distance, "Cell"))
        with edges.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((":START_ID", ":END_ID", ":TYPE"))
            writer.writerows(
                (key(one), key(other), "BESIDE") for one in places for other in maze.beside(one) if one < other
            )
        load([cells, edges], target, LoadOptions())
