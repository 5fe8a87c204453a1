"""A machine as one finds it who has just cloned the repository: an empty home, Python, pipx, and nothing of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]

_OURS = ("KGNAV_", "XDG_", "PYTHON", "PIPX_", "VIRTUAL_ENV", "MAKE")
"""Beginnings of variables that such a machine does not have."""


@dataclass(frozen=True)
class Machine:
    """A home, and in it a clone. What is downloaded comes from this very user's cache of pip."""

    home: Path

    @property
    def clone(self) -> Path:
        return self.home / "kgnav-mcp"

    @cached_property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        cache = subprocess.check_output([sys.executable, "-m", "pip", "cache", "dir"], text=True).strip()
        path = os.pathsep.join((str(self.home / ".local" / "bin"), str(self.home / "tools"), "/usr/bin", "/bin"))
        pipx = {"PIPX_DEFAULT_BACKEND": "pip"}  # it would find the uv of the tests' own environment
        return {**kept, **pipx, "HOME": str(self.home), "PATH": path, "PIP_CACHE_DIR": cache}

    @classmethod
    def new(cls, home: Path) -> Machine:
        """The files of this checkout that are, or would be, committed."""
        machine = cls(home)
        machine.clone.mkdir()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
        files = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")
        there = [file for file in files if (ROOT / file).is_file()]
        copy = ["cp", "--parents", "-t", str(machine.clone), *there]
        subprocess.run(copy, cwd=ROOT, check=True)
        tools = home / "tools"
        tools.mkdir()
        (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
        (tools / "pipx").symlink_to(Path(sysconfig.get_path("scripts")) / "pipx")
        return machine

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """One command of a shell in the clone, whatever comes of it."""
        return subprocess.run(
            ["bash", "-euc", command],
            cwd=self.clone,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
