"""How alike a hint and a name are, and which words a misspelt word may mean. No store here, only text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

NAME, ALIAS, DESCRIPTION = 0, 1, 2
"""The kinds of rows of the table `name`."""

MOST_WORDS = 16
"""Distinct words of a hint that are looked for; a hint is a name, not a text."""

_NEAR = 6
"""Words that a misspelt word is taken to mean at most."""

_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")

_SAME_LETTERS = 0.99
_SAME_BUT_ACCENTS = 0.98
_ALIAS = 0.98
_MOST_ALIKE = 0.95
_DESCRIPTION = 0.25


def folded(text: str) -> str:
    """The text without letter case and accents, as the full-text index sees words."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def words(hint: str) -> list[str]:
    """The distinct words of a hint, folded, in their order."""
    return list(dict.fromkeys(_WORD.findall(folded(hint))))[:MOST_WORDS]


class Likeness:
    """Scores names against one hint: 1 is the very name, 0 has nothing in common."""

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._caseless = hint.casefold()
        self._folded = folded(hint)
        self._words = set(words(hint))

    def score(self, text: str, kind: int) -> float:
        """How well a name of some kind answers the hint. Descriptions stay below every name that is alike at all."""
        if kind == DESCRIPTION:
            found = self._words.intersection(_WORD.findall(folded(text)))
            return _DESCRIPTION * len(found) / max(len(self._words), 1)
        return self._name(text) * (_ALIAS if kind == ALIAS else 1.0)

    def _name(self, text: str) -> float:
        if text == self._hint:
            return 1.0
        if text.casefold() == self._caseless:
            return _SAME_LETTERS
        name = folded(text)
        if name == self._folded:
            return _SAME_BUT_ACCENTS
        from rapidfuzz import fuzz  # noqa: PLC0415 - the very name needs no such package
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        whole = OSA.normalized_similarity(self._folded, name)
        in_any_order = 0.98 * fuzz.token_sort_ratio(self._folded, name) / 100
        in_part = (whole + fuzz.WRatio(self._folded, name) / 100) / 2
        return _MOST_ALIKE * max(whole, in_any_order, in_part)


class Vocabulary:
    """All words of a graph's names by length, to find those a misspelt word may mean."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for term in terms:
            self._by_length[len(term)].append(term)

    def near(self, word: str) -> list[str]:
        """The words within two slips of the pen (one in a short word), nearest first; a swap of letters is one slip."""
        from rapidfuzz import process  # noqa: PLC0415 - only misspelt words need it
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        slips = 0 if len(word) < 3 else 1 if len(word) < 5 else 2
        found: list[tuple[float, bool, str]] = []
        for length in range(len(word) - slips, len(word) + slips + 1):
            hits = process.extract(
                word, self._by_length.get(length, ()), scorer=OSA.distance, score_cutoff=slips, limit=None
            )
            found += [(distance, term[:1] != word[:1], term) for term, distance, _ in hits]
        return [term for _, _, term in sorted(found)[:_NEAR]]
