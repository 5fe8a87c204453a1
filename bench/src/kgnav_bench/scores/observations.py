"""What the tools showed to a model in one attempt: whether answers were included, and which calls failed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kgnav_bench.records import Answer, AnswerKind, Attempt, ToolCall
from kgnav_bench.scores.values import Key, entity_id, key

_ECHOES: Final = frozenset({"think", "add_step", "start_trail", "show_trail", "check_answer", "check_plan"})
"""Tools that return what the model wrote itself."""
_CELLS: Final = re.compile(r"(?<!\\)\||\n")
_PARTS: Final = re.compile(r'[\[\]{}(),;:"]')
_DELIMITERS: Final = r"\s*[|\[\]{}(),;:\"'\n]\s*"
_FIRST_WORDS: Final = re.compile(r"[^\n:.'\"\d]{1,40}")


class Observations:
    """The results of an attempt's successful calls, without those of tools that return what the model wrote.

    An answer counts as shown if it is a cell of a table, an item of a list, or a whole piece of text between brackets,
    quotes, commas or colons. A word within a longer text does not count, nor does a number of rows.
    """

    def __init__(self, attempt: Attempt) -> None:
        results = [call.result for call in calls(attempt) if not call.is_error and call.tool not in _ECHOES]
        text = "\n".join(results)
        self._folded = _folded(text)
        cells = {cell.replace("\\|", "|") for cell in _CELLS.split(text)}
        pieces = {piece.strip() for cell in cells for piece in (cell, *_PARTS.split(cell))} - {""}
        self._keys: frozenset[Key] = frozenset(form(piece) for piece in pieces for form in (key, entity_id))

    def show(self, text: str) -> bool:
        """Whether a name, value or id was shown."""
        return key(text) in self._keys or entity_id(text) in self._keys or self._has_delimited(text)

    def show_answer(self, answer: Answer) -> bool:
        """Whether a true answer was shown, by any of its names or its id."""
        return any(self.show(text) for text in (*answer.names, *((answer.id,) if answer.id else ())))

    def _has_delimited(self, text: str) -> bool:
        """Whether a name that has delimiters itself, such as `Monsters, Inc.`, stands between two others."""
        name = _folded(text).strip()
        if not _PARTS.search(name) or name not in self._folded:
            return False
        return re.search(f"(?:^|{_DELIMITERS}){re.escape(name)}(?:$|{_DELIMITERS})", self._folded) is not None


def calls(attempt: Attempt) -> Iterator[ToolCall]:
    """All calls of an attempt, in their order."""
    return (call for turn in attempt.turns for call in turn.calls)


def shown_share(attempt: Attempt, answers: Sequence[Answer], kind: AnswerKind) -> float | None:
    """The share of the true answers that a call showed; None if they are not entities or values, or missing."""
    if not answers or kind is not AnswerKind.ENTITIES:
        return None
    observations = Observations(attempt)
    return sum(map(observations.show_answer, answers)) / len(answers)


def failures(attempt: Attempt) -> dict[str, int]:
    """Number of failed calls by the first words of their errors, without names and numbers, such as `Not found`."""
    first_words = (_FIRST_WORDS.match(call.result.lstrip()) for call in calls(attempt) if call.is_error)
    return dict(Counter(words[0].strip() if words else "other" for words in first_words))


def corrected(attempt: Attempt) -> bool | None:
    """Whether a call succeeded after the first one that failed; None if none failed (GraphWalker, 3.5)."""
    failed = [call.is_error for call in calls(attempt)]
    return False in failed[failed.index(True) :] if True in failed else None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
