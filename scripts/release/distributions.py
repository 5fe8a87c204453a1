"""What pyproject.toml says of the project, and the wheels and source distributions of both its distributions."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = (ROOT, ROOT / "bench")
"""Folders with a pyproject.toml: the server and its benchmarks."""


@dataclass(frozen=True, slots=True)
class Project:
    """Facts of the server's pyproject.toml that other files repeat."""

    name: str
    version: str
    description: str
    keywords: tuple[str, ...]
    requires_python: str
    repository: str
    """`OWNER/NAME` on GitHub."""

    @property
    def url(self) -> str:
        """The address of the repository."""
        return f"https://github.com/{self.repository}"

    @property
    def registry_name(self) -> str:
        """The name in the MCP registry: only the owner of the repository may publish under it."""
        owner, _, _ = self.repository.partition("/")
        return f"io.github.{owner}/{self.name}"


def read_project() -> Project:
    """The facts of this checkout."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = document["project"]
    return Project(
        name=project["name"],
        version=project["version"],
        description=project["description"],
        keywords=tuple(project["keywords"]),
        requires_python=project["requires-python"],
        repository=document["tool"]["kgnav"]["repository"],
    )


def build_distributions(target: Path) -> Path:
    """Build both distributions into a folder. Returns the server's wheel."""
    for folder in DISTRIBUTIONS:
        build = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
        subprocess.run(build, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    [wheel] = target.glob("kgnav_mcp-*.whl")
    return wheel
