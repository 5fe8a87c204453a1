"""Parses answers: the completeness line, the cursor and the cells, from the text that a model sees."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(\d[\d,]*)"
_WHOLE = re.compile(rf"{_NUMBER} \w+(?:: .*)?")
_FIRST_PART = re.compile(rf"showing {_NUMBER} of (at least )?{_NUMBER} \w+(?:; next: cursor \"([^\"]+)\")?")
_LATER_PART = re.compile(
    rf"showing \w+ {_NUMBER} to {_NUMBER} of (at least )?{_NUMBER} \w+; (?:next: cursor \"([^\"]+)\"|that is the end)"
)


class UnreadableAnswerError(ValueError):
    """The text does not have the documented form of an answer."""


@dataclass(frozen=True, slots=True)
class Table:
    """A parsed answer. `total` is the number of rows of the whole list, `before` of those in earlier answers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    exact: bool = True
    before: int = 0
    cursor: str | None = None

    def column(self, name: str) -> list[str]:
        """The cells under one heading; empty if the answer has no such column."""
        if name not in self.columns:
            return []
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def parse(answer: str) -> Table:
    """Parse an answer.

    Raises:
        UnreadableAnswerError: its first line or its rows do not have the form of an answer.
    """
    lines = answer.split("\n")
    shown, total, exact, before, cursor = _completeness(lines[0])
    if not shown:
        return Table((), (), total, exact, before, cursor)
    rule = next((n for n, line in enumerate(lines) if n > 1 and set(line) <= {"-", "|"} and line), None)
    if rule is None:
        raise UnreadableAnswerError(f"no table in {answer[:200]!r}")
    columns = _cells(lines[rule - 1])
    rows = tuple(_cells(line) for line in lines[rule + 1 : rule + 1 + shown])
    if len(rows) != shown or any(len(row) != len(columns) for row in rows):
        raise UnreadableAnswerError(f"{shown} rows of {len(columns)} cells are announced in {answer[:200]!r}")
    return Table(columns, rows, total, exact, before, cursor)


def _completeness(line: str) -> tuple[int, int, bool, int, str | None]:
    """Rows shown, rows in all, whether that number is exact, rows shown before, and the cursor."""
    if match := _FIRST_PART.fullmatch(line):
        return _int(match[1]), _int(match[3]), not match[2], 0, match[4]
    if match := _LATER_PART.fullmatch(line):
        first, last = _int(match[1]), _int(match[2])
        return last - first + 1, _int(match[4]), not match[3], first - 1, match[5]
    if match := _WHOLE.fullmatch(line):
        return _int(match[1]), _int(match[1]), True, 0, None
    raise UnreadableAnswerError(f"no completeness line: {line!r}")


def _int(text: str) -> int:
    return int(text.replace(",", ""))


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a line. Answers have no control characters, so two of them can replace escaped characters."""
    hidden = line.replace("\\\\", "\0").replace("\\|", "\1")
    return tuple(cell.replace("\1", "|").replace("\0", "\\") for cell in hidden.split("|"))
