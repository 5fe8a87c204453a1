"""`kgnav maze`: makes a graph file with a maze, to test how well a model finds its way."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.options import JSON_FLAG, print_json
from kgnav_mcp.demo.maze import SHORTEST, WALL_SHARE, make_maze, write_maze


@click.command(
    cls=Command,
    short_help="Make a graph file with a maze.",
    epilog="""\b
Examples:
  kgnav maze -o maze.kg
  kgnav serve --graph maze.kg --toolsets trail,maze
  kgnav maze -o large.kg --size 20 --walls 0.3 --shortest 40 --seed 7

The same seed makes the same maze.""",
)
@click.option(
    "-o", "--output", "target", required=True, type=click.Path(path_type=Path), help="The graph file to write."
)
@click.option("--size", type=click.IntRange(8, 40), default=10, show_default=True, help="Cells per side.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random maze.")
@click.option(
    "--walls",
    type=click.FloatRange(0, 0.9),
    default=WALL_SHARE,
    show_default=True,
    help="Share of the cells that are walls.",
)
@click.option(
    "--shortest",
    type=click.IntRange(1),
    default=SHORTEST,
    show_default=True,
    help="Minimum steps of the shortest path from start to goal.",
)
@JSON_FLAG
def maze(*, target: Path, size: int, seed: int, walls: float, shortest: int, as_json: bool) -> None:
    """Make a maze as in GraphWalk's experiment: a grid of cells, by default half of them walls.

    Each cell has a `key` (from 0, by rows) and its `euclidean_distance` to the goal, which is -1 for a wall. The tools
    get_possible_next_cells and get_connected_path (toolsets maze and trail) walk it.
    """
    made = make_maze(seed, size, walls, shortest)
    write_maze(made, target)
    way = len(made.shortest_way()) - 1
    start, goal = made.key(made.start), made.key(made.goal)
    if as_json:
        print_json(
            {
                "graph": str(target),
                "cells": size * size,
                "walls": len(made.walls),
                "start": start,
                "goal": goal,
                "shortest": way,
            }
        )
        return
    click.echo(f"{target}: {size} x {size} cells, {len(made.walls):,} of them walls")
    click.echo(f"From {start} to {goal}; the shortest path has {way} steps.")
    click.echo(f"Next: kgnav serve --graph {shlex.quote(str(target))} --toolsets trail,maze")
