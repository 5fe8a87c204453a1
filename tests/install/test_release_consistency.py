"""What a dry run of a release reports: versions, changelog, tag and wheel that do not agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

from scripts.release.consistency import content_problems, version_problems
from scripts.release.distributions import read_project

PROJECT = read_project()
TAG = f"v{PROJECT.version}"
READY = f"# Changelog\n\n## [{PROJECT.version}] - 2026-01-31\n\n## [0.0.1] - 2025-01-31\n"


def test_a_dated_section_and_a_tag_of_the_version_are_ready() -> None:
    assert [*version_problems(PROJECT, READY, ["other", TAG])] == []


def test_a_section_without_a_date_is_reported() -> None:
    [problem] = version_problems(PROJECT, READY.replace("2026-01-31", "unreleased"), [TAG])
    assert "'unreleased'" in problem


def test_a_changelog_that_begins_with_another_version_is_reported() -> None:
    [problem] = version_problems(PROJECT, READY.replace(PROJECT.version, "0.0.9", 1), [TAG])
    assert problem == f"CHANGELOG.md begins with 0.0.9, not {PROJECT.version}. Add its section."


def test_a_commit_without_the_tag_is_reported() -> None:
    [problem] = version_problems(PROJECT, READY, ["v0.0.1"])
    assert f"git tag {TAG}" in problem


def test_distributions_of_another_version_are_reported() -> None:
    problems = [*version_problems(replace(PROJECT, version="9.9"), READY.replace(PROJECT.version, "9.9"), ["v9.9"])]
    assert len(problems) == 2
    assert "bench/pyproject.toml" in problems[1]


def test_a_wheel_without_types_or_with_files_of_others_is_reported(tmp_path: Path) -> None:
    wheel = tmp_path / "kgnav_mcp.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("kgnav_mcp/cli/__init__.py", "")
        archive.writestr("tests/test_x.py", "")
        archive.writestr("kgnav_mcp-1.dist-info/METADATA", "")
    problems = [*content_problems(wheel)]
    assert "The wheel lacks kgnav_mcp/py.typed." in problems
    assert "The wheel has tests/test_x.py, which is not the package's." in problems
    assert not any("METADATA" in problem or "lacks kgnav_mcp/cli/__init__.py" in problem for problem in problems)
