"""Installs programs from Python packages on first use, each in its own virtual environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .failure import ServiceError
from .instance import exclusive, shared_folder

_SHOWN = 15
"""Lines of a failed command's output that are shown."""


def ensure(program: str, requirement: str) -> Path:
    """The path of a program. Its package is installed if it is missing. All instances share it.

    Raises:
        ServiceError: the package cannot be installed.
    """
    folder = place(program)
    found = folder / "bin" / program
    with exclusive(folder.parent):
        if found.exists():
            return found
        sys.stderr.write(f"installing {program}\n")
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], program)
        try:
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
            _run([*pip, requirement], program)
        except ServiceError:
            shutil.rmtree(folder)
            raise
    if not found.exists():
        raise ServiceError(f"{requirement} is installed but brought no {program}; remove {folder} to try again")
    return found


def place(program: str) -> Path:
    """The folder of the program's environment, which may not exist yet."""
    return shared_folder("programs") / program


def _run(command: Sequence[str], program: str) -> None:
    done = subprocess.run(  # noqa: S603 - the arguments are this module's
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        output = "\n".join(done.stdout.splitlines()[-_SHOWN:]) or "(no output)"
        raise ServiceError(f"{program} could not be installed: {' '.join(command[1:4])} failed with\n{output}")
