"""What was read a short while ago, kept within a bound."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

FOREVER = float("inf")


class Recent(Generic[K, V]):
    """The values used last, at most so many, none older than so many seconds."""

    def __init__(self, most: int, seconds: float = FOREVER) -> None:
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value of a key, None where it is not kept any more."""
        kept = self._kept.get(key)
        if kept is None or monotonic() - kept[0] > self._seconds:
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def put(self, key: K, value: V) -> None:
        """Keep a value, and let go of the one that was used least recently."""
        self._kept[key] = (monotonic(), value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)
