"""A server that outlives the command which started it: known by a file with its process id."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .failure import ServiceError

_PAUSE = 0.05
"""Seconds between two looks at a process."""
_SHOWN = 10
"""Lines of its output that are shown when it does not start."""


class DetachedProcess:
    """One process, found again by later commands.

    `mark` is a text of its command line: a process id alone may have been given to another program meanwhile. What it
    says goes to the file `output`.
    """

    def __init__(self, pid_file: Path, mark: str, output: Path) -> None:
        self._pid_file = pid_file
        self._mark = mark
        self._output = output

    def pid(self) -> int | None:
        """Its process id, None where it does not run. A process that ended but was never waited for does not run."""
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if self._mark.encode() in command.split(b"\0") else None

    def start(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """Start it in a session of its own, so that no terminal or parent takes it along when it ends.

        `environment` is added to this process's own: unlike a command line, it is for the owner's eyes only.
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
        while process.poll() is None and self.pid() is None:  # a new process has no command line for a moment
            time.sleep(0.001)

    def wait_until(self, ready: Callable[[], bool], patience: float, stopping: float) -> None:
        """Wait until a new process is ready for work.

        Raises:
            ServiceError: it ended, or is not ready after `patience` seconds; it is stopped then, within `stopping`.
        """
        deadline = time.monotonic() + patience
        while not ready():
            if self.pid() is None:
                raise ServiceError(f"it ended while it started; {self._output} ends with:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self.stop(stopping)
                raise ServiceError(f"no answer {patience:g} s after its start; it said:\n{self._last_words()}")
            time.sleep(_PAUSE)

    def stop(self, patience: float) -> bool:
        """Ask it to end and wait; whether it was running.

        Raises:
            ServiceError: it still runs after `patience` seconds.
        """
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + patience
            while self.pid() is not None:
                if time.monotonic() > deadline:
                    raise ServiceError(f"process {pid} did not end within {patience:g} s of being asked to")
                time.sleep(_PAUSE)
        self._pid_file.unlink(missing_ok=True)
        return pid is not None

    def _last_words(self) -> str:
        with suppress(FileNotFoundError):
            return "\n".join(self._output.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN:])
        return "(nothing)"
