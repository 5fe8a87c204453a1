"""The words of a graph's names, to find those that a misspelt word may mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_NEAR = 6
"""Words that a misspelt word is taken to mean at most."""


class Vocabulary:
    """All words of a graph's names, by length and first letter."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for term in terms:
            self._terms[len(term)][term[:1]].append(term)

    def near(self, word: str, *, misspelt: bool = True) -> list[str]:
        """The words within two slips of the pen (one in a short word), nearest first; a swap of letters is one slip.

        Of a word that is not `misspelt`, because some name has it, only words that begin alike are looked at.
        """
        from rapidfuzz import process  # noqa: PLC0415 - the very name needs no such package
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        first = word[:1]
        slips = 0 if len(word) < 3 else 1 if len(word) < 5 else 2
        found: list[tuple[float, bool, str]] = []
        for length in range(len(word) - slips, len(word) + slips + 1):
            groups = self._terms.get(length, {})
            for begin in groups if misspelt else (first,):
                hits = process.extract(word, groups.get(begin, ()), scorer=OSA.distance, score_cutoff=slips, limit=None)
                found += [(distance, begin != first, term) for term, distance, _ in hits if term != word]
        return [term for _, _, term in sorted(found)[:_NEAR]]
