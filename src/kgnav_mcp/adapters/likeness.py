"""How alike a hint and a name are: the same for every store. No store here, only text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable
from typing import TypeVar

from kgnav_mcp.adapters.plurals import same_but_number

K = TypeVar("K", bound=Hashable)

NAME, ALIAS, DESCRIPTION, ID = 0, 1, 2, 3
"""What a text is to an entity. ID: the last part of its id, a name of last resort."""

MOST_WORDS = 16
"""Distinct words of a hint that are looked for; a hint is a name, not a text."""

WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")

AS_SPELT = "Looked for names with all of these words, exactly as they are spelt."
"""The note of a page of candidates where the store forgives no misspelt word."""

_SAME_LETTERS = 0.99
_SAME_BUT_ACCENTS = 0.98
_SAME_WORDS = 0.97
_SAME_BUT_NUMBER = 0.96
_MOST_ALIKE = 0.95
_WEIGHTS = {NAME: 1.0, ALIAS: 0.98, ID: 0.9}
_DESCRIPTION = 0.25
_DIGITS = 3
"""Digits of a score: less makes no difference to who reads it, and so none to the order."""


def folded(text: str) -> str:
    """The text without letter case and accents, as a full-text index sees words."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def words(hint: str) -> list[str]:
    """The distinct words of a hint, folded, in their order."""
    return list(dict.fromkeys(WORD.findall(folded(hint))))[:MOST_WORDS]


def spellings(name: str) -> list[str]:
    """A name as it is given and in the usual letter cases."""
    ways = (name, name.lower(), name.capitalize(), name[:1].upper() + name[1:], name.title(), name.upper())
    return list(dict.fromkeys((*ways, name.casefold())))


class Likeness:
    """Scores names against one hint: 1 is the very name, 0 has nothing in common."""

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._caseless = hint.casefold()
        self._folded = folded(hint)
        self._words = WORD.findall(self._folded)

    def score(self, text: str, kind: int) -> float:
        """How well a text of some kind answers the hint. Descriptions stay below every name that is alike at all."""
        if kind == DESCRIPTION:
            asked = set(self._words)
            score = _DESCRIPTION * len(asked.intersection(WORD.findall(folded(text)))) / max(len(asked), 1)
        else:
            score = self._name(text) * _WEIGHTS[kind]
        return round(score, _DIGITS)

    def _name(self, text: str) -> float:
        if text == self._hint:
            return 1.0
        if text.casefold() == self._caseless:
            return _SAME_LETTERS
        name = folded(text)
        if name == self._folded:
            return _SAME_BUT_ACCENTS
        own = WORD.findall(name)
        if own and own == self._words:
            return _SAME_WORDS
        if own and same_but_number(self._words, own):
            return _SAME_BUT_NUMBER
        from rapidfuzz import fuzz  # noqa: PLC0415 - the very name needs no such package
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        whole = OSA.normalized_similarity(self._folded, name)
        in_any_order = 0.98 * fuzz.token_sort_ratio(self._folded, name) / 100
        in_part = (whole + fuzz.WRatio(self._folded, name) / 100) / 2
        return _MOST_ALIKE * max(whole, in_any_order, in_part)


Rank = tuple[bool, int]
"""Whether a name is spelt otherwise than it was asked for, then the place of its language among the wanted ones."""


def bearers(name: str, texts: Iterable[tuple[K, int, int, str]]) -> dict[K, tuple[Rank, str]]:
    """Who bears a name, letter case aside, each with the best way it does: its rank, and how the name is spelt there.

    A text comes with its owner, its kind and the place of its language. Where some bear the name as a name, those who
    only have it as an alias do not count; where nobody has it as either, ids do. Who spells it as it was asked for is
    told apart from the others before that.
    """
    caseless = name.casefold()
    same = [
        (owner, kind, (text != name, language), text)
        for owner, kind, language, text in texts
        if kind != DESCRIPTION and text.casefold() == caseless
    ]
    same = [one for one in same if one[1] != ID] or same
    found: dict[K, tuple[Rank, str]] = {}
    for otherwise in (False, True):
        alike = [one for one in same if one[2][0] is otherwise]
        best = min((kind for _, kind, _, _ in alike), default=NAME)
        for owner, kind, rank, text in alike:
            if kind == best:
                found[owner] = min((rank, text), found.get(owner, (rank, text)))
    return found
