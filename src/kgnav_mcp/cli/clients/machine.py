"""The operating system, home and environment of the user whose clients are configured."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What the places of configuration files depend on."""

    system: System
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def current(cls) -> Machine:
        """The machine that this program runs on."""
        system: System = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")  # pyright: ignore[reportAssignmentType]
        return cls(system, Path.home(), os.environ)

    def folder(self, variable: str, *default: str) -> Path:
        """The folder that a variable names, else one below home."""
        return Path(value) if (value := self.environment.get(variable)) else self.home.joinpath(*default)

    @property
    def application_settings(self) -> Path:
        """The folder in which applications keep a user's settings."""
        if self.system == "windows":
            return self.folder("APPDATA", "AppData", "Roaming")
        if self.system == "macos":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")
