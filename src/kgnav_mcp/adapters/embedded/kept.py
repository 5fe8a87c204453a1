"""The last answers of a kind: a graph file never changes while it is open, so that they hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """At most `size` answers; the one that was not asked for the longest makes room for the next."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[K, V] = OrderedDict()

    def get(self, question: K) -> V | None:
        """The answer to a question, if it is kept."""
        answer = self._answers.get(question)
        if answer is not None:
            self._answers.move_to_end(question)
        return answer

    def put(self, question: K, answer: V) -> None:
        """Keep an answer."""
        self._answers[question] = answer
        self._answers.move_to_end(question)
        if len(self._answers) > self._size:
            self._answers.popitem(last=False)
