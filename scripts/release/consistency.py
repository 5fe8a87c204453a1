"""What has to agree before a release: versions, the changelog, the tag of the commit, and the contents of the wheel."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from scripts.release.distributions import DISTRIBUTIONS, ROOT, Project

_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\] - (?P<date>.+)$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NEEDED = ("kgnav_mcp/py.typed", "kgnav_mcp/cli/__init__.py")
"""Files without which an installed wheel does not work or has no types."""


def version_problems(project: Project, changelog: str, tags: list[str]) -> Iterator[str]:
    """Yields what in the versions, the changelog and the tags of this commit does not agree."""
    for folder in DISTRIBUTIONS:
        version = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        if version != project.version:
            yield f"{folder.name}/pyproject.toml has version {version}, and the server {project.version}. Set one."
    newest = _HEADING.search(changelog)
    if newest is None or newest["version"] != project.version:
        found = newest["version"] if newest else "no version"
        yield f"CHANGELOG.md begins with {found}, not {project.version}. Add its section."
    elif not _DATE.fullmatch(newest["date"]):
        yield f"CHANGELOG.md dates {project.version} {newest['date']!r}. Write the day of the release, as 2026-01-31."
    if f"v{project.version}" not in tags:
        yield f"This commit has no tag v{project.version}. Set it last: git tag v{project.version}"


def tags_of_commit() -> list[str]:
    """The tags of the commit that is checked out."""
    command = ["git", "tag", "--points-at", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603 - our own command


def content_problems(wheel: Path) -> Iterator[str]:
    """Yields what a wheel lacks, and what it has that is not the package's."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    listed = ["git", "ls-files", "kgnav_mcp"]
    done = subprocess.run(listed, cwd=ROOT / "src", capture_output=True, text=True, check=True)  # noqa: S603 - as above
    sources = set(done.stdout.split())
    for name in sorted({*_NEEDED, *sources} - {*names}):
        yield f"The wheel lacks {name}."
    for name in names:
        if not name.startswith("kgnav_mcp/") and ".dist-info/" not in name:
            yield f"The wheel has {name}, which is not the package's."
