"""Turns a text into a vector that represents its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs] - it has none
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgnav_mcp.rankers.semantic.graph import INPUT, OUTPUT, Shape, build
from kgnav_mcp.rankers.semantic.weights import TOKENIZER, WEIGHTS

Vector = NDArray[np.float32]

_LONGEST = 256
"""Tokens of a text that are read at most; the model was not trained on more."""


class _Session(Protocol):
    """The part of ONNX Runtime that is used. The package has no types."""

    def run(self, outputs: Sequence[str], inputs: dict[str, NDArray[Any]]) -> list[Vector]: ...


class Embedder:
    """A sentence model in memory. Slow to create and blocking to use: do both in a thread. Safe for several threads."""

    def __init__(self, folder: Path) -> None:
        self.model = f"all-MiniLM-L6-v2, {(folder / WEIGHTS).stat().st_size} bytes"
        longest = min(_LONGEST, Shape.read(folder).max_position_embeddings)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)  # pyright: ignore[reportUnknownMemberType] - its **kwargs
        runtime = cast("Any", onnxruntime)
        options = runtime.SessionOptions()
        # Texts are short: a second thread costs more than it gains. A single one adds floats always in the same order.
        options.intra_op_num_threads = 1
        self._session: _Session = runtime.InferenceSession(build(folder), options, providers=["CPUExecutionProvider"])

    def __call__(self, text: str) -> Vector:
        """The text's unit vector. The dot product of two vectors is the similarity of the meanings, from -1 to 1."""
        ids = np.array(self._tokenizer.encode(text).ids, dtype=np.int64)
        return self._session.run([OUTPUT], {INPUT: ids})[0]
