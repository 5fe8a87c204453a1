"""A server process that outlives the command that started it, found again by a file with its process id."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .failure import ServiceError

_PAUSE = 0.05
"""Seconds between two checks of a process."""
_MEGABYTE = 1_000_000
_SHOWN = 10
"""Maximum lines of its output shown if it does not start."""


@dataclass(frozen=True)
class _Activity:
    """The work of a process since its start: seconds of CPU, and bytes that it read and wrote."""

    cpu: float = 0.0
    moved: int = 0

    @classmethod
    def of(cls, pid: int) -> _Activity:
        """The work of a running process; zero if it has just ended."""
        try:
            counters = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            moved = re.findall(r"(?:char|_bytes): (\d+)", Path(f"/proc/{pid}/io").read_text(encoding="ascii"))
        except OSError:
            return cls()
        return cls(sum(map(int, counters[11:13])) / os.sysconf("SC_CLK_TCK"), sum(map(int, moved)))

    def is_more_than(self, before: _Activity, seconds: float) -> bool:
        """Whether it worked in the `seconds` since `before`, beyond the little that a hanging server does."""
        return self.cpu - before.cpu > seconds / 100 or self.moved - before.moved > _MEGABYTE


def thread_states(pid: int) -> set[str]:
    """The states of a process's threads, as the kernel's letters (`S` sleeps, `T` is stopped, `Z` has ended)."""
    states = set[str]()
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            states.add(stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0])
    return states


def _has_ended(pid: int) -> bool:
    """Whether all threads of a process have ended: it may have no command line any more, and still its ports."""
    return thread_states(pid) <= {"Z", "X"}


class DetachedProcess:
    """A background process that later commands find again.

    `mark` is a text in its command line, since a process id may meanwhile belong to another program. Its output goes to
    the file `output`.
    """

    def __init__(self, pid_file: Path, mark: str, output: Path) -> None:
        self._pid_file = pid_file
        self._mark = mark
        self._output = output

    def pid(self) -> int | None:
        """Its process id; None if it does not run. A zombie does not count as running."""
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if self._mark.encode() in command.split(b"\0") else None

    def start(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """Start it in its own session, so that it survives its terminal and parent.

        `environment` is added to this process's own. Unlike the command line, only the owner can read it.
        """
        with self._output.open("ab") as sink:
            process = subprocess.Popen(  # noqa: S603 - the caller's own command
                command,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        self._pid_file.write_text(str(process.pid), encoding="ascii")
        while process.poll() is None and self.pid() is None:  # a new process briefly has no command line
            time.sleep(0.001)

    def wait_until(self, ready: Callable[[], bool], stopping: float, idle: float = 60.0) -> None:
        """Wait until a new process is ready, for as long as it works: a large database may take long.

        Every `idle` seconds a line on stderr reports that it is still working.

        Raises:
            ServiceError: it ended, or did nearly nothing for `idle` seconds; then it is stopped, within
                `stopping`.
        """
        began = marked = time.monotonic()
        done = _Activity()
        while not ready():
            pid = self.pid()
            if pid is None:
                raise ServiceError(f"it ended while it started; {self._output} ends with:\n{self._last_output()}")
            if time.monotonic() - marked > idle:
                marked, before, done = time.monotonic(), done, _Activity.of(pid)
                if not done.is_more_than(before, idle):
                    self.stop(stopping)
                    raise ServiceError(f"it does nothing and gives no answer; it said:\n{self._last_output()}")
                sys.stderr.write(f"not ready after {marked - began:.0f} s, but at work: process {pid}\n")
            time.sleep(_PAUSE)

    def stop(self, patience: float) -> bool:
        """Ask it to end and wait until its ports are free. Returns whether it was running.

        Raises:
            ServiceError: it still runs after `patience` seconds.
        """
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + patience
            while not _has_ended(pid):
                if time.monotonic() > deadline:
                    raise ServiceError(f"process {pid} did not end within {patience:g} s of being asked to")
                time.sleep(_PAUSE)
        self._pid_file.unlink(missing_ok=True)
        return pid is not None

    def _last_output(self) -> str:
        with suppress(FileNotFoundError):
            return "\n".join(self._output.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN:])
        return "(nothing)"
