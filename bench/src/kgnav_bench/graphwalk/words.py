"""Random meaningless strings. Each is checked against English word lists."""

from __future__ import annotations

import random
from collections.abc import Set as AbstractSet
from functools import cache
from string import ascii_lowercase

LENGTHS = (4, 8)
"""Minimum and maximum number of letters of a string (GraphWalk, 4.5)."""


@cache
def english_words() -> AbstractSet[str]:
    """The words of two dictionaries, in lower case."""
    import english_words as lists  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] - `--help` needs none

    return frozenset(lists.get_english_words_set(["web2", "gcide"], lower=True))


class NonWords:
    """Generates distinct random strings of lower-case letters which are not English words."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._used: set[str] = set()

    def __call__(self) -> str:
        """The next string."""
        while True:
            text = "".join(self._chance.choices(ascii_lowercase, k=self._chance.randint(*LENGTHS)))
            if text not in self._used and text not in english_words():
                self._used.add(text)
                return text
