"""The file that is written aside and takes the target's place in one step, or is gone."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from kgnav_mcp.errors import LoadError


class PartFile:
    """`<target>.part-<pid>`, with the files it is made from beside it.

    Leftovers of dead processes are removed on entry.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = target.with_name(f"{target.name}.part-{os.getpid()}")
        self.staging = target.with_name(f"{self.path.name}-staging")
        self.nodes = target.with_name(f"{self.path.name}-nodes")

    def __enter__(self) -> PartFile:
        """Make room for the part file.

        Raises:
            LoadError: the target's folder is missing, or the target is a folder itself.
        """
        if not self._target.parent.is_dir():
            raise LoadError(f"the folder {self._target.parent} does not exist", next_step="Make it first.")
        if self._target.is_dir():
            raise LoadError(f"{self._target} is a folder", next_step="Name a file, for instance graph.kg.")
        remove_leftovers(self._target)
        return self

    def __exit__(self, *_: object) -> None:
        for path in (self.path, self.staging, self.nodes):
            path.unlink(missing_ok=True)

    def commit(self) -> None:
        """Put the part file in the target's place, on disk before this returns."""
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
    """Remove part files of the target whose process is gone: all that a killed load leaves behind."""
    pattern = re.compile(re.escape(target.name) + r"\.part-(\d+)(-staging|-nodes)?")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _alive(int(match[1])):
            with suppress(PermissionError):  # Windows keeps a file that a living process has open
                path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    """Whether another process has this number. Off POSIX, where asking would end it, an open file tells instead."""
    if pid == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
