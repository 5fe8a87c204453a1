"""The part file that a load writes. At the end it replaces the target in one step; after a failure it is deleted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from kgnav_mcp.adapters.embedded import graphfile
from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import LoadError


def check_paths(sources: Iterable[Path], target: Path) -> None:
    """Checks that the system accepts the paths of the sources and of the files written beside the target.

    Raises:
        LoadError: a name is too long, or the path is invalid.
    """
    written = PartFile(target).longest if target.name else target  # a folder such as `.` is refused later
    for path in (*sources, written):
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError) as error:
            shown = clipped(path.name, LONGEST_NAME)
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise LoadError(f"{shown}: {reason}", next_step="Give the file a shorter name.") from error


def check_target(target: Path, sources: Sequence[Path], *, force: bool) -> None:
    """Checks that writing the target loses nothing. Reads only the first bytes of the target.

    Raises:
        LoadError: the target's folder is missing, or the target is a folder, is one of the sources (also by another
            path), or is not a graph file and `force` is false.
    """
    if target.is_dir():
        raise LoadError(
            f"{target} is a folder, not a file to write", next_step=f"Name a file in it: -o {target / 'graph.kg'}"
        )
    if not target.parent.is_dir():
        raise LoadError(f"the folder {target.parent} does not exist", next_step="Make it first.")
    if not target.exists():
        return
    for source in sources:
        if source.exists() and target.samefile(source):
            raise LoadError(
                f"{target} is a source of this load and would be overwritten",
                next_step=f"Write the graph into another file: -o {graphfile.output_path_for(target)}",
            )
    if not target.is_file():
        raise LoadError(f"{target} is not a regular file", next_step="Name a file that may be replaced.")
    if target.stat().st_size and not force and not graphfile.is_graph_file(target):
        raise LoadError(
            f"{target} exists and is not a graph file, so it is not overwritten",
            next_step=f"Write the graph into another file: -o {graphfile.output_path_for(target)}. "
            "Or load with --force.",
        )


def check_distinct(sources: Sequence[Path]) -> None:
    """Checks that no sources are given twice, which would duplicate its blank nodes and parallel edges.

    Raises:
        LoadError: two paths lead to the same file.
    """
    existing = [source for source in sources if source.exists()]
    for first, second in combinations(existing, 2):
        if first.samefile(second):
            message = f"{first} is given twice" if first == second else f"{first} and {second} are the same file"
            raise LoadError(message, next_step="Give each source once.")


LONGEST_NAME = 100
"""Characters of a file's name in a message about it."""


class PartFile:
    """The file `<target>.part-<pid>` and its temporary files beside it.

    On entry, removes part files left by dead processes. On exit, removes its own files.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = target.with_name(f"{target.name}.part-{os.getpid()}")
        self.staging = target.with_name(f"{self.path.name}-staging")
        self.longest = self.staging
        """The path with the longest name."""
        self.nodes = target.with_name(f"{self.path.name}-nodes")

    def __enter__(self) -> PartFile:
        remove_leftovers(self._target)
        return self

    def __exit__(self, *_: object) -> None:
        for path in (self.path, self.staging, self.nodes):
            path.unlink(missing_ok=True)

    def commit(self) -> None:
        """Replaces the target by the part file. It is safely on disk when this returns."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        self.path.replace(self._target)
        if os.name == "posix":
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def remove_leftovers(target: Path) -> None:
    """Removes part files of this target whose process no longer runs. A killed load leaves nothing else behind."""
    pattern = re.compile(re.escape(target.name) + r"\.part-(\d+)(-staging|-nodes)?")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _is_running(int(match[1])):
            with suppress(PermissionError):  # Windows keeps a file that a living process has open
                path.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    """Whether another process has this id. Always false off POSIX, where checking a process would end it.

    There, a file that a process has open cannot be deleted anyway.
    """
    if pid == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
