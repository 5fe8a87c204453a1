"""The released Pythons of this machine: in PATH, and where pyenv and uv keep theirs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

_VERSION = "import sys; print(*sys.version_info[:2], sys.version_info.releaselevel)"


def released_pythons(at_least: tuple[int, int], folders: Iterable[Path] | None = None) -> dict[tuple[int, int], Path]:
    """One Python of each released version, in some folders or on this machine."""
    found = _versions(_folders() if folders is None else folders)
    return {version: python for version, python in found.items() if version >= at_least}


def _versions(folders: Iterable[Path]) -> dict[tuple[int, int], Path]:
    """The first Python of each version in some folders.

    A command that does not start is none: pyenv's shims are there for each version, also for those not chosen.
    """
    versions: dict[tuple[int, int], Path] = {}
    for folder in folders:
        for python in sorted(folder.glob("python3.*")):
            if version := _version(python):
                versions.setdefault(version, python)
    return versions


def _version(python: Path) -> tuple[int, int] | None:
    if not python.name.removeprefix("python3.").isdigit():  # python3.11-config, python3.13t
        return None
    try:
        said = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    match said.stdout.split():
        case [major, minor, "final"]:
            return int(major), int(minor)
        case _:
            return None


def _folders() -> list[Path]:
    path = [Path(folder) for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "uv" / "python"
    return [*path, *pyenv.glob("*/bin"), *uv.glob("*/bin")]
