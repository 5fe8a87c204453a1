"""Loads the sentence model once for all that use it: the ranker of relations, and the search for entities."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgnav_mcp.rankers.semantic.weights import model_folder

if TYPE_CHECKING:
    from kgnav_mcp.rankers.semantic.embedding import Embedder

_LOADING = threading.Lock()
"""Held while a model is loaded, so that a second caller waits and does not load it again."""


def load_embedder() -> Embedder:
    """The installed model, loaded by the first call, which takes half a second: call it in a thread.

    Raises:
        MissingDriver: the packages that run a model are not installed.
        ConfigurationError: the weights are not installed.
    """
    with _LOADING:
        return _loaded(model_folder())


@cache
def _loaded(folder: Path) -> Embedder:
    from kgnav_mcp.rankers.semantic.embedding import Embedder  # noqa: PLC0415 - the import takes 0.25 s

    return Embedder(folder)
