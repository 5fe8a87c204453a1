"""The semantic index beside a graph file: an embedding of the name and description of each entity.

    films.kg            the graph file
    films.kg.meanings   header (JSON, 4,096 bytes) | vectors, float16 [rows, size] | numbers of nodes, int64 [rows]

A search compares the hint with every vector (exact, no approximation), through a memory map, so that processes share
its pages. An index belongs to one load of the graph file and to one model. With another load or model it is not used.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

_FORMAT, _HEADER = "kgnav meanings 1", 4096
_VECTOR, _NUMBER = np.dtype("<f2"), np.dtype("<i8")
_CHUNK = 16_384
"""Vectors that are converted to float32 at once: 25 MB of 384 dimensions."""
_DECIMALS = 4
"""Decimals of a similarity that are compared: float16 is not more exact."""
MAX_SIMILAR = 10_000
"""Maximum number of entities above the threshold that a search returns."""


class UnusableIndexError(Exception):
    """There is no usable index. The message says why; it is empty if no index exists."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What an index was made from: a load of a graph file, and a model."""

    revision: str
    model: str


@dataclass(frozen=True, slots=True)
class MeaningIndex:
    """An open index."""

    vectors: NDArray[np.float16]
    numbers: NDArray[np.int64]

    @classmethod
    def open(cls, path: Path, origin: Origin) -> Self:
        """Opens the index at a path.

        Raises:
            UnusableIndexError: there is none, it is incomplete, or it has another origin.
        """
        try:
            with path.open("rb") as file:
                header = _header(file.read(_HEADER))
                length = file.seek(0, os.SEEK_END)
        except OSError as error:
            raise UnusableIndexError("" if isinstance(error, FileNotFoundError) else "cannot be read") from error
        rows, size = header.get("rows"), header.get("size")
        if not isinstance(rows, int) or not isinstance(size, int) or rows < 0 or size < 1:
            raise UnusableIndexError("is damaged")
        numbers_at = _HEADER + rows * size * _VECTOR.itemsize
        if length != numbers_at + rows * _NUMBER.itemsize:
            raise UnusableIndexError("is damaged")
        if header.get("revision") != origin.revision:
            raise UnusableIndexError("was made from another load of the graph")
        if header.get("model") != origin.model:
            raise UnusableIndexError("was made with another model")
        if not rows:
            return cls(np.empty((0, size), _VECTOR), np.empty(0, _NUMBER))
        return cls(
            np.memmap(path, _VECTOR, "r", _HEADER, (rows, size)), np.memmap(path, _NUMBER, "r", numbers_at, (rows,))
        )

    def similar(self, query: NDArray[np.float32], threshold: float) -> list[tuple[int, float]]:
        """Returns the nodes at least this similar to a unit vector, best first, each with its cosine similarity.

        Ties are in the order of the file. At most MAX_SIMILAR are returned. It takes time, so call it in a thread.
        """
        if query.shape != self.vectors.shape[1:]:
            return []
        parts = [
            np.asarray(self.vectors[start : start + _CHUNK], np.float32) @ query
            for start in range(0, len(self.vectors), _CHUNK)
        ]
        similarities = np.round(np.concatenate(parts), _DECIMALS) if parts else np.empty(0, np.float32)
        (places,) = np.nonzero(similarities >= threshold)  # NaN, of a damaged file, is not
        best = places[np.argsort(-similarities[places], kind="stable")][:MAX_SIMILAR]
        return [(int(self.numbers[place]), round(float(similarities[place]), _DECIMALS)) for place in best]


class IndexWriter:
    """Writes an index under a temporary name, and renames it on success. A context manager."""

    def __init__(self, path: Path, origin: Origin) -> None:
        self._path, self._origin = path, origin
        self._part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        self._numbers: list[int] = []
        self._size = 1

    def __enter__(self) -> Self:
        self._file = self._part.open("xb")
        self._file.write(bytes(_HEADER))
        return self

    def add(self, numbers: Sequence[int], vectors: Sequence[NDArray[np.float32]]) -> None:
        """Add the vectors of some nodes."""
        if numbers:
            matrix = np.stack(vectors)
            self._size = matrix.shape[1]
            self._file.write(matrix.astype(_VECTOR).tobytes())
            self._numbers += numbers

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._file.write(np.array(self._numbers, _NUMBER).tobytes())
                facts: dict[str, Any] = {"rows": len(self._numbers), "size": self._size}
                facts |= {"format": _FORMAT, "revision": self._origin.revision, "model": self._origin.model}
                self._file.seek(0)
                self._file.write(json.dumps(facts).encode().ljust(_HEADER))
                self._file.close()
                self._part.replace(self._path)
        finally:
            self._file.close()
            self._part.unlink(missing_ok=True)


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw)
    except ValueError as error:
        raise UnusableIndexError("is damaged") from error
    if not isinstance(header, dict) or cast("dict[str, Any]", header).get("format") != _FORMAT:
        raise UnusableIndexError("is damaged, or of another version")
    return cast("dict[str, Any]", header)
