"""The words of a graph's names, to correct misspelt words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_MAX_CORRECTIONS = 24
"""Corrections of one misspelt word, at most."""


class Vocabulary:
    """All words of a graph's names, by length and first letter."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for term in terms:
            self._terms[len(term)][term[:1]].append(term)

    def near(self, word: str, *, misspelt: bool = True) -> list[str]:
        """Returns the words within edit distance 2 (1 for short words), nearest first. A swap of letters counts as 1.

        If the word is not `misspelt`, because some name has it, only words with the same first letter are compared.
        """
        from rapidfuzz import process  # noqa: PLC0415 - an exactly matching name does not need it
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        first = word[:1]
        max_distance = 0 if len(word) < 3 else 1 if len(word) < 5 else 2
        found: list[tuple[float, bool, str]] = []
        for length in range(len(word) - max_distance, len(word) + max_distance + 1):
            groups = self._terms.get(length, {})
            for initial in groups if misspelt else (first,):
                hits = process.extract(
                    word, groups.get(initial, ()), scorer=OSA.distance, score_cutoff=max_distance, limit=None
                )
                found += [(distance, initial != first, term) for term, distance, _ in hits if term != word]
        return [term for _, _, term in sorted(found)[:_MAX_CORRECTIONS]]
