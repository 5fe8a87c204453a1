"""A wheel is tried on the released Pythons that run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts.release.pythons import released_pythons

OWN = sys.version_info[:2]
NEWER = (OWN[0], OWN[1] + 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with this Python, and with names of newer ones that do not run."""
    (tmp_path / f"python3.{OWN[1]}").symlink_to(sys.executable)
    (tmp_path / f"python3.{OWN[1]}-config").write_text("#!/bin/sh\necho 3 99 final\n")
    (tmp_path / "python3.97").write_text("#!/bin/sh\necho 'pyenv: python3.97: command not found' >&2\nexit 127\n")
    (tmp_path / "python3.98").write_text("#!/bin/sh\necho 3 98 beta\n")
    (tmp_path / "python3.99").write_text("no program")
    for name in ("python3.97", "python3.98", "python3.99", f"python3.{OWN[1]}-config"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_the_pythons_that_run_are_found_where_they_are_new_enough(folder: Path, tmp_path: Path):
    folders = [tmp_path / "nothing", folder]
    assert released_pythons(OWN, folders) == {OWN: folder / f"python3.{OWN[1]}"}


def test_none_is_found_where_all_are_older_or_previews_or_do_not_run(folder: Path):
    assert released_pythons(NEWER, [folder]) == {}
