"""The demo graph's file: made once, in the cache, by however many processes come at once."""

from __future__ import annotations

import multiprocessing
import sqlite3
import tempfile
from pathlib import Path

import pytest

from kgnav_mcp import demo
from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    return tmp_path / "own" / "kgnav-mcp"


def is_graph_file(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    finally:
        connection.close()


def test_it_is_made_once_and_then_found(own_cache: Path) -> None:
    made = demo.demo_graph_path()
    before = made.stat()

    assert made.parent == own_cache
    assert is_graph_file(made)
    assert demo.demo_graph_path() == made
    assert made.stat().st_mtime_ns == before.st_mtime_ns
    assert list(own_cache.iterdir()) == [made]


def test_another_format_of_graph_files_makes_another_file(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = demo.demo_graph_path()
    monkeypatch.setattr(demo, "FORMAT_VERSION", -1)
    second = demo.demo_graph_path()
    assert first != second
    assert {first, second} == set(own_cache.iterdir())


@pytest.mark.slow
def test_several_processes_at_once_make_one_whole_file(own_cache: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        paths = set(pool.starmap(demo.demo_graph_path, [()] * 3))
    assert set(own_cache.iterdir()) == paths
    assert all(is_graph_file(path) for path in paths)


def test_without_a_cache_that_can_be_written_a_private_file_is_used(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own_cache.parent.write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    made = demo.demo_graph_path()

    assert made.is_relative_to(tmp_path)
    assert made.parent.stat().st_mode & 0o077 == 0
    assert is_graph_file(made)
    assert demo.demo_graph_path() == made
