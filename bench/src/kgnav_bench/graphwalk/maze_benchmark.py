"""Runs mazes, and reports them in the columns of GraphWalk's table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, ToolFailedError, server_command
from kgnav_bench.graphwalk.arms import Counted, NoTools
from kgnav_bench.graphwalk.maze_arms import MazeArm
from kgnav_bench.graphwalk.mazes import Maze, make_maze, parse_path
from kgnav_bench.runs import Run
from kgnav_bench.tables import UnreadableAnswerError

_TOOLSETS = ("--toolsets", "trail,maze")


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of one maze."""

    correct: bool
    """Whether the answer is a way from start to goal; it need not be a shortest one."""
    cells: int
    """Number of cells of the answer."""
    tool_calls: int
    seconds: float
    output: str
    fault: str
    """The error that ended the walk; empty if there was none."""


def run(record: Run, arms: Sequence[MazeArm], mazes: int, seed: int, size: int) -> str:
    """Let each arm walk every maze that it has not walked yet, and report all walks.

    Raises:
        MazeError: a maze could not be made.
    """
    seeds = {str(number): number for number in range(seed, seed + mazes)}
    walks = {
        arm: record.measured(_title(arm), Walk, seeds, partial(nullcontext, [partial(walk, arm, size)])) for arm in arms
    }
    return _report(walks, f"{mazes} mazes of {size} x {size} cells, seeds {seed} to {seed + mazes - 1}")


def walk(arm: MazeArm, size: int, seed: int) -> Walk:
    """Let an arm walk one maze."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "maze.kg"
        maze = make_maze(seed, size, target)
        if arm.with_tools:
            with BareClient([*server_command(target), *_TOOLSETS]) as client:
                return _walk(arm, maze, Counted(client))
        return _walk(arm, maze, Counted(NoTools()))


def _walk(arm: MazeArm, maze: Maze, tools: Counted) -> Walk:
    output, fault = "", ""
    start = perf_counter()
    try:
        output = arm.find(tools, maze.instruction(with_tools=arm.with_tools), maze.start, maze.goal)
    except (ToolFailedError, UnreadableAnswerError) as error:
        fault = str(error)
    seconds = perf_counter() - start
    cells = parse_path(output)
    return Walk(maze.is_path(cells), len(cells), tools.calls, seconds, output, fault)


def _title(arm: MazeArm) -> str:
    return f"{arm.name} with {'tools' if arm.with_tools else 'the grid'}"


def _report(walks: Mapping[MazeArm, Sequence[Walk]], title: str) -> str:
    rows = [
        (
            arm.name,
            arm.with_tools,
            f"{sum(each.correct for each in own)} of {len(own)}",
            f"{100 * fmean(each.correct for each in own):.2f}",
            f"{fmean(each.seconds for each in own):.3f}",
            f"{fmean(each.tool_calls for each in own):.1f}" if arm.with_tools else "",
        )
        for arm, own in walks.items()
    ]
    verdicts = [
        report.verdict(
            all(each.correct for each in own), f"{sum(each.correct for each in own)} of {len(own)} {_title(arm)}"
        )
        for arm, own in walks.items()
    ]
    columns = ("arm", "tools", "correct", "accuracy", "average s", "average tool calls")
    return "\n".join((title, "", report.table(columns, rows), "", *verdicts))
