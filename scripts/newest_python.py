"""Print the newest Python of this machine if it is newer than the one that runs this: tests run on it, too.

Looked for in PATH, and where pyenv and uv keep theirs. Previews are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_VERSION = "import sys; print(*sys.version_info[:2], sys.version_info.releaselevel)"


def newest_python(folders: Iterable[Path], newer_than: tuple[int, int]) -> Path | None:
    """The newest released Python in some folders, if it is newer than a version."""
    versions = _versions(folders)
    newest = max(versions, default=None)
    return versions[newest] if newest and newest > newer_than else None


def released_pythons(at_least: tuple[int, int]) -> dict[tuple[int, int], Path]:
    """One Python of each released version on this machine."""
    return {version: python for version, python in _versions(_folders()).items() if version >= at_least}


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


if __name__ == "__main__":
    sys.stdout.write(str(newest_python(_folders(), sys.version_info[:2]) or ""))
