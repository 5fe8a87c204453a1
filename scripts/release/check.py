"""Installs the wheel in an empty environment of every Python of the machine, without a compiler, and calls a tool."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.release.pythons import released_pythons

OLDEST = (3, 11)
QUESTION = ("call", "search", "entity=the_netherlands", "direction=outgoing", "properties_to_filter_for=capital")
ANSWER = "capital|capital|amsterdam|Amsterdam"


def uv() -> str:
    """The command uv of this environment."""
    return str(Path(sys.executable).with_name("uv"))


def empty_home(home: Path) -> Mapping[str, str]:
    """The variables of a user with an empty home and no compiler. Downloads come from this user's cache of uv."""
    ours = ("KGNAV_", "XDG_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    cache = subprocess.check_output([uv(), "cache", "dir"], text=True).strip()  # noqa: S603 - our own command
    return {**kept, "HOME": str(home), "UV_CACHE_DIR": cache, "CC": "false", "CXX": "false", "UV_NO_PROGRESS": "1"}


def install(wheel: Path, python: Path | str, environment: Path, variables: Mapping[str, str]) -> Path:
    """Install the wheel in a new environment, from wheels alone. Returns the folder of its commands."""
    run([uv(), "venv", "--quiet", "--python", str(python), str(environment)], variables)
    target = ["--python", str(environment), "--only-binary", ":all:"]
    run([uv(), "pip", "install", "--quiet", *target, str(wheel)], variables)
    return environment / ("Scripts" if os.name == "nt" else "bin")


def run(command: Sequence[str], variables: Mapping[str, str]) -> str:
    """The output of a command."""
    done = subprocess.run(  # noqa: S603 - our own commands
        command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")
    return done.stdout


def try_wheel(wheel: Path) -> bool:
    """Try the wheel on every released Python of the machine that it is made for, and print what came of it."""
    succeeded = True
    for version, python in sorted(released_pythons(OLDEST).items()):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            variables = empty_home(Path(folder))
            try:
                commands = install(wheel, python, Path(folder, "venv"), variables)
                outcome = "answers" if ANSWER in run([str(commands / "kgnav"), *QUESTION], variables) else "IS WRONG"
            except RuntimeError as error:
                outcome = f"FAILS: {error}"
        succeeded &= outcome == "answers"
        seconds = time.monotonic() - started
        sys.stdout.write(f"Python {'.'.join(map(str, version))}: {outcome}, {seconds:.0f} s\n")
    return succeeded
