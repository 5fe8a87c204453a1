"""The ranker `semantic`: relations by the similarity of their names' meaning to the question's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cachetools import LRUCache

from kgnav_mcp.model import Entity, RelationFacts
from kgnav_mcp.navigation.ranking import Ranking, without_own_name
from kgnav_mcp.navigation.words import words
from kgnav_mcp.rankers.semantic.weights import model_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[str], NDArray[np.float32]]

_REMEMBERED = 10_000
"""Relations whose vectors are kept: 1.5 kB each, and more than the relations of any known schema."""

_AT_ONCE = 50
"""Texts embedded between two looks at whether the call was cancelled: about a tenth of a second."""

_DECIMALS = 5
"""Similarities that differ by less are ties: what is left of them below is the rounding of float sums."""


def semantic_ranker() -> SemanticRanker:
    """The ranker over the installed weights. They are loaded by the first question.

    Raises:
        MissingDriver: the packages that run a model are not installed.
        ConfigurationError: the weights are not installed.
    """
    folder = model_folder()

    def load() -> Embed:
        from kgnav_mcp.rankers.semantic.embedding import Embedder  # noqa: PLC0415 - a quarter of a second at start

        return Embedder(folder)

    return SemanticRanker(load)


class SemanticRanker:
    """Ranks by meaning. `load` makes the function that embeds a text; both run in a thread.

    The vectors of the last `remembered` relations are kept.
    """

    def __init__(self, load: Callable[[], Embed], remembered: int = _REMEMBERED) -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self._embed: Embed | None = None
        self._vectors: LRUCache[str, NDArray[np.float32]] = LRUCache(remembered)

    async def __call__(self, question: str, anchor: Entity | None, relations: Sequence[RelationFacts]) -> Ranking:
        embed = await self._loaded()
        asked = await asyncio.to_thread(embed, without_own_name(question, anchor) or question)
        texts = [relation_text(facts) for facts in relations]
        vectors = await self._embedded(list(dict.fromkeys(texts)), embed)
        likeness = {text: round(float(vector @ asked), _DECIMALS) for text, vector in vectors.items()}
        best = sorted(range(len(relations)), key=lambda n: (-likeness[texts[n]], n))
        return Ranking(tuple(relations[n] for n in best), len(best))

    async def _loaded(self) -> Embed:
        async with self._loading:
            if self._embed is None:
                self._embed = await asyncio.to_thread(self._load)
        return self._embed

    async def _embedded(self, texts: list[str], embed: Embed) -> dict[str, NDArray[np.float32]]:
        """The vectors of the texts, those not remembered computed a few at a time."""
        found = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        new = [text for text in texts if text not in found]
        for start in range(0, len(new), _AT_ONCE):
            few = new[start : start + _AT_ONCE]
            found.update(zip(few, await asyncio.to_thread(_each, embed, few), strict=True))
        for text in texts:
            self._vectors[text] = found[text]
        return found


def _each(embed: Embed, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    return [embed(text) for text in texts]


def relation_text(facts: RelationFacts) -> str:
    """What a relation is called, as words: of its id where that says more than its label, else of its label."""
    label, own = words(facts.relation.label), words(facts.relation.id)
    readable = "://" not in facts.relation.id and set(label) <= set(own)
    return " ".join(own if readable else label) or facts.relation.label
