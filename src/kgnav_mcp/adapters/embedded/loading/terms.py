"""Numbers for node keys, in bounded memory.

The dictionary holds the keys it has seen until they take `budget` bytes; then it forgets all of them and starts
again, so that a key seen before and after gets two numbers. Every (number, key) is staged, and `unify` in the writer
makes the numbers of one key equal by one sort over the staged keys. While everything fits, which is the usual case,
nothing is looked up or sorted at all; past that, the cost is one external sort and not one look-up for each term.
"""

from __future__ import annotations

from sys import getsizeof

TERM_BUDGET = 1_500_000_000
"""Bytes that keys in memory may take; with the rest of a load this stays below 2 GB."""

ENTRY_BYTES = 150
"""What one key costs beside its own string: the slot in the dictionary at its least full, the number, the tuple."""


class TermDictionary:
    """Node keys to numbers. Hot loops read `ids` directly and call `add` for a key that is not in it."""

    def __init__(self, budget: int = TERM_BUDGET) -> None:
        self.ids: dict[str, int] = {}
        self.fresh: list[tuple[int, str]] = []
        """Numbers given since the caller last staged them; the caller empties it."""
        self.last = 0
        self.overflowed = False
        self._budget = budget
        self._used = 0

    def add(self, key: str) -> int:
        """The next number, for a key that is not in `ids`."""
        self._used += getsizeof(key) + ENTRY_BYTES
        if self._used > self._budget and self.ids:
            self.ids.clear()
            self.overflowed = True
            self._used = 0
        self.last += 1
        self.ids[key] = self.last
        self.fresh.append((self.last, key))
        return self.last

    def id(self, key: str) -> int:
        """The number of a key, given now if it has none."""
        found = self.ids.get(key)
        return self.add(key) if found is None else found
