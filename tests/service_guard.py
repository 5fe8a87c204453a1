"""Removes the services of a test process, also if that ends by a signal: then a process of its own does it.

A test process starts that process, the guard, with its first service, and sends it the homes of services over a pipe.
The pipe closes when the test process ends, however it ends. Standard library only: the guard runs this file.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

_PAUSE = 0.01
"""Seconds between two looks at processes that were killed."""


def watch(home: Path) -> None:
    """Have a service removed when this process ends. Call it before the service is started."""
    _send(f"+{home}")


def remove_service(home: Path) -> None:
    """Kill the processes of a service and delete its home."""
    _remove(home)
    _send(f"-{home}")


def processes_of(home: Path) -> Iterator[int]:
    """The processes that name this home in their command line or work in it: a service, a command that starts it."""
    named = re.compile(re.escape(os.fsencode(home)) + rb"[/\0]")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):  # it has ended, or belongs to another user
                command = (entry / "cmdline").read_bytes()
                if named.search(command) or (entry / "cwd").readlink().is_relative_to(home):
                    yield int(entry.name)


def _remove(home: Path) -> None:
    while processes := list(processes_of(home)):  # again: one of them may just have started another
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE)
    shutil.rmtree(home, ignore_errors=True)


def _send(line: str) -> None:
    pipe = _guard().stdin
    assert pipe is not None
    pipe.write(f"{line}\n")
    pipe.flush()


@cache
def _guard() -> subprocess.Popen[str]:
    """The guard, in a session of its own: signals to the group of the test process do not reach it."""
    guard = subprocess.Popen([sys.executable, "-S", __file__], stdin=subprocess.PIPE, text=True, start_new_session=True)
    atexit.register(guard.communicate)
    return guard


def _main() -> None:
    """Remember homes until the pipe closes, then remove those that are left."""
    homes: set[Path] = set()
    for line in sys.stdin:
        home = Path(line[1:].rstrip("\n"))
        (homes.add if line.startswith("+") else homes.discard)(home)
    for home in homes:
        _remove(home)


if __name__ == "__main__":
    _main()
