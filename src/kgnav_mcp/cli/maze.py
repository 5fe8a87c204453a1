"""`kgnav maze`: makes a graph file with a maze, to test how well a model finds its way."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from kgnav_mcp.cli.boundary import Command


@click.command(
    cls=Command,
    short_help="Make a maze to walk, as a graph file.",
    epilog="""\b
Examples:
  kgnav maze -o maze.kg
  kgnav serve --graph maze.kg --toolsets trail,maze
  kgnav maze -o large.kg --size 20 --seed 7

The same seed makes the same maze.""",
)
@click.option(
    "-o", "--output", "target", required=True, type=click.Path(path_type=Path), help="The graph file to write."
)
@click.option("--size", type=click.IntRange(8, 40), default=10, show_default=True, help="Cells a side.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which of all mazes.")
def maze(*, target: Path, size: int, seed: int) -> None:
    """Make a maze as in GraphWalk's experiment: a grid of cells, half of them walls, at least 15 steps to the goal.

    Each cell tells by `euclidean_distance` how far the goal is; a wall tells -1. The tools get_possible_next_cells and
    get_connected_path (toolsets maze and trail) walk it.
    """
    from kgnav_mcp.demo.maze import key, make_maze, write_maze  # noqa: PLC0415 - `--help` needs it not

    made = make_maze(seed, size)
    write_maze(made, target)
    way = len(made.shortest_way()) - 1
    start, goal = key(made.start), key(made.goal)
    click.echo(f"{target}: {size} x {size} cells, {len(made.walls):,} of them walls")
    click.echo(f"From {start} to {goal}; the shortest way has {way} steps.")
    click.echo(f"Next: kgnav serve --graph {shlex.quote(str(target))} --toolsets trail,maze")
