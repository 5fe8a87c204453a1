"""The index of meanings: exact search, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kgnav_mcp.adapters.embedded.meanings import IndexWriter, MeaningIndex, Origin, UnusableIndexError

ORIGIN = Origin("load 1", "model 1")


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    chance = np.random.default_rng(7).standard_normal((20_000, 16), dtype=np.float32)
    return (chance / np.linalg.norm(chance, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path, vectors: NDArray[np.float32]) -> Path:
    with IndexWriter(tmp_path / "g.kg.meanings", ORIGIN) as writer:
        for start in range(0, len(vectors), 3_000):
            part = vectors[start : start + 3_000]
            writer.add([2 * n for n in range(start, start + len(part))], list(part))
    return tmp_path / "g.kg.meanings"


def test_a_search_finds_exactly_the_vectors_above_the_threshold_best_first(
    path: Path, vectors: NDArray[np.float32]
) -> None:
    query = vectors[17_000]
    found = MeaningIndex.open(path, ORIGIN).similar(query, 0.6)
    halves = vectors.astype(np.float16).astype(np.float64) @ query.astype(np.float64)
    expected = {2 * n: value for n, value in enumerate(halves) if round(float(value), 4) >= 0.6}
    assert found[0] == (34_000, pytest.approx(1.0, abs=1e-3))
    assert len(found) > 10
    assert dict(found) == pytest.approx(expected, abs=1e-4)
    similarities = [similarity for _, similarity in found]
    assert similarities == sorted(similarities, reverse=True)


@pytest.mark.parametrize("origin", [Origin("load 2", "model 1"), Origin("load 1", "model 2")])
def test_an_index_of_another_origin_is_refused(path: Path, origin: Origin) -> None:
    with pytest.raises(UnusableIndexError, match="was made"):
        MeaningIndex.open(path, origin)


@pytest.mark.parametrize("kept", [0, 100, 5_000, -1])
def test_an_index_that_is_cut_short_is_refused(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UnusableIndexError, match="is damaged"):
        MeaningIndex.open(path, ORIGIN)


def test_vectors_that_are_no_numbers_are_never_similar(path: Path, vectors: NDArray[np.float32]) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 32] = np.full(16, np.nan, np.float16).tobytes()
    path.write_bytes(content)
    found = MeaningIndex.open(path, ORIGIN).similar(vectors[0], 0.9)
    assert 0 not in dict(found)


def test_an_index_that_was_not_finished_leaves_the_old_one_and_nothing_else(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="must have the same shape"), IndexWriter(path, ORIGIN) as writer:
        writer.add([1, 2], [np.zeros(16, np.float32), np.zeros(8, np.float32)])
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_an_index_of_no_entities_finds_none(tmp_path: Path) -> None:
    with IndexWriter(tmp_path / "empty.meanings", ORIGIN):
        pass
    assert MeaningIndex.open(tmp_path / "empty.meanings", ORIGIN).similar(np.ones(1, np.float32), -1.0) == []
