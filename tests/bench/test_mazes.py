"""GraphWalk's mazes: ways are checked cell by cell, and scripts find them with the tools and in the grid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.graphwalk.arms import NoTools
from kgnav_bench.graphwalk.maze_arms import GridScript
from kgnav_bench.graphwalk.mazes import Maze, make_maze, parse_path

MAZE = Maze(
    3,
    {(row, column): str(3 * row + column) for row in range(3) for column in range(3)},
    frozenset({(0, 1), (1, 1)}),
    "0",
    "2",
)
"""Cells 1 and 4 are walls: the way from 0 to 2 is round them."""


@pytest.mark.parametrize(
    ("cells", "valid"),
    [
        ("0 3 6 7 8 5 2", True),
        ("0 3 6 7 6 7 8 5 2", True),  # not a shortest way, but a way
        ("0 1 2", False),  # through a wall
        ("0 3 6 8 5 2", False),  # a jump
        ("0 3 7 8 5 2", False),  # a diagonal
        ("3 6 7 8 5 2", False),  # begins elsewhere
        ("0 3 6 7 8 5", False),  # ends elsewhere
        ("0 3 6 7 8 5 9 2", False),  # no such cell
        ("", False),
    ],
)
def test_a_way_is_valid_where_each_step_leads_to_an_open_cell_beside(cells: str, valid: bool):
    assert MAZE.is_path(cells.split()) is valid


def test_cells_at_the_ends_of_two_rows_are_not_adjacent():
    assert not Maze(3, MAZE.keys, frozenset(), "2", "3").is_path(["2", "3"])


def test_the_grid_shows_keys_walls_start_and_goal():
    assert MAZE.grid() == (
        "+---+---+---+\n| S | # | G |\n+---+---+---+\n| 3 | # | 5 |\n+---+---+---+\n| 6 | 7 | 8 |\n+---+---+---+"
    )
    assert MAZE.grid() in MAZE.instruction(with_tools=False)
    assert MAZE.grid() not in MAZE.instruction(with_tools=True)


@pytest.mark.parametrize(
    ("output", "cells"),
    [('["0", "3"]', ["0", "3"]), ("[0, 3]", ["0", "3"]), ("The way is 0, 3.", ()), ('{"way": 3}', ())],
)
def test_a_way_is_read_from_a_list_in_json(output: str, cells: Sequence[str]):
    assert parse_path(output) == cells


@pytest.mark.slow
def test_a_made_maze_has_the_papers_numbers(tmp_path: Path):
    maze = make_maze(3, 10, tmp_path / "maze.kg")
    assert (len(maze.keys), len(maze.walls), len(maze.places)) == (100, 50, 50)
    assert {maze.start, maze.goal} <= set(maze.places)
    way = parse_path(GridScript().find(NoTools(), maze.instruction(with_tools=False), maze.start, maze.goal))
    assert len(way) - 1 >= 15


def test_a_grid_without_a_way_gives_none():
    closed = Maze(3, MAZE.keys, frozenset({(0, 1), (1, 1), (2, 1)}), "0", "2")
    assert GridScript().find(NoTools(), closed.instruction(with_tools=False), "0", "2") == "[]"


@pytest.mark.extended
def test_both_scripts_find_their_way_through_a_maze(tmp_path: Path):
    target = tmp_path / "mazes.jsonl"
    done = CliRunner().invoke(main, ["maze", "--mazes", "1", "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert "PASS: 1 of 1 script with tools" in done.output
    assert "PASS: 1 of 1 script with the grid" in done.output
    _, *lines = target.read_text().splitlines()
    with_tools, in_grid = (json.loads(line)["value"] for line in lines)
    assert with_tools["tool_calls"] > 15
    assert in_grid["tool_calls"] == 0
