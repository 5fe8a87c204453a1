"""A question: one tool call, how its rows are read, and what the raw files say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .raw_graph import Day, Scalar, Value

MAX_ROWS = 1_000
"""Of more rows than this, the number is asked: whole lists have questions of their own."""

Row = tuple[object, ...]
Rows = Counter[Row]


class Refusal(Enum):
    """Whether an explicit error is an answer to a question."""

    COUNTED = "counted"
    """It is not wrong, but counted, and few may be."""
    ALLOWED = "allowed"
    """The rule leaves it to the store."""
    REQUIRED = "required"
    """The rule wants it: rows would be wrong."""


@dataclass(frozen=True)
class PrintedId:
    """Stands in arguments for the id that this store prints for a node, or for a text with it."""

    key: str
    text: str = "%s"

    def filled(self, printed: str) -> str:
        """The text with the printed id."""
        return self.text % printed


@dataclass(frozen=True)
class Expected:
    """The right answer."""

    rows: Rows
    refusal: Refusal = Refusal.COUNTED
    other: Rows | None = None
    """Rows that are right too if a note says what was compared."""
    total: int | None = None
    """The number of rows that there are, where a call does not give all of them."""
    noted: bool = False
    """Whether the answer must have a note beside its rows."""

    @property
    def empty(self) -> bool:
        """Whether nothing is found, or a count of zero."""
        if self.total is not None:
            return not self.total
        return self.refusal is not Refusal.REQUIRED and not any(any(value != 0 for value in row) for row in self.rows)


@dataclass(frozen=True)
class Question:
    """One call of a tool, followed to the end of its list by cursors."""

    kind: str
    tool: str
    arguments: Mapping[str, Any]
    expected: Expected
    reader: str = "plan"
    """How rows are read: see `answers.READERS`."""
    ordered_lists: bool = True
    """Whether the order within lists counts."""


def plan(
    kind: str, cypher: str, rows: Iterable[Sequence[Value | None]], *, rdf: bool, refusal: Refusal = Refusal.COUNTED
) -> Question:
    """A plan in Cypher and the rows that it must give."""
    found = Counter(tuple(canonical(value, ordered=not rdf) for value in row) for row in rows)
    return Question(kind, "run_plan", {"plan": cypher}, Expected(found, refusal), ordered_lists=not rdf)


def canonical(value: Value | None, *, ordered: bool = True) -> object:
    """A value in a form in which equal values are equal on every store: 2 and 2.0 are, 1 and true are not."""
    if isinstance(value, tuple):
        parts = [canonical(part) for part in value]
        return ("list", *(parts if ordered else sorted(parts, key=repr)))
    return None if value is None else _canonical_scalar(value)


def _canonical_scalar(value: Scalar) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Day):
        return str(value).removesuffix(":00Z") if "T" in value else str(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.12g}")
    return value
