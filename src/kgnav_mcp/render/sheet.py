"""One table of an answer with its completeness line, cut at a row so that the whole fits the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgnav_mcp.model import Certainty, Completeness, Count, Stop
from kgnav_mcp.render.text import body, clean
from kgnav_mcp.render.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Style:
    """How answers are cut: `budget` in tokens for a whole answer, `literal_limit` in characters for one literal."""

    budget: int = 8000
    literal_limit: int = 300


class Answer(Protocol):
    """What a tool says: as markdown, and the same facts as structured content."""

    @property
    def text(self) -> str:
        """The answer as a model reads it."""
        ...

    @property
    def facts(self) -> dict[str, object]:
        """The answer as a script reads it."""
        ...


@dataclass(frozen=True, slots=True)
class Said:
    """An answer whose two forms are made already."""

    text: str
    facts: dict[str, object]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before it is cut. Cells are plain text; columns that are empty in every row may be named optional.

    `noun` names a row in the plural. `empty` is the sentence that says what an empty table means. `total` and `stop`
    are the whole list's; `seen` rows have been shown by earlier answers to the same call.
    """

    noun: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]
    total: Count
    stop: Stop = Stop.COMPLETE
    seen: int = 0
    empty: str = ""
    intro: Sequence[str] = ()
    notes: Sequence[str] = ()
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet that was cut to its budget: the rows that are shown and what the answer says of itself."""

    sheet: Sheet
    rows: Sequence[Sequence[str]]
    completeness: Completeness
    joined: str | None = None
    """The rows with bars between their cells, a line each, where they were joined to be counted."""

    @property
    def text(self) -> str:
        """The completeness line, what introduces the table, the table, and the notes."""
        sheet = self.sheet
        first = completeness_line(self.completeness, sheet.noun, sheet.seen)
        lines = [first if self.rows or not sheet.empty else f"{first}: {clean(sheet.empty)}", *map(clean, sheet.intro)]
        if self.rows:
            columns, rows = self._columns()
            joined = self.joined if rows is self.rows else None
            lines += ["|".join(columns), "|".join("--" for _ in columns), body(rows, joined)]
        lines += map(clean, sheet.notes)
        return "\n".join(lines)

    @property
    def facts(self) -> dict[str, object]:
        """The same facts: completeness, rows keyed by column, and everything else that is said."""
        columns, rows = self._columns()
        said = (*((self.sheet.empty,) if not self.rows and self.sheet.empty else ()), *self.sheet.intro)
        completeness, total = self.completeness, self.completeness.total
        return {
            "completeness": {
                "shown": completeness.shown,
                "before": self.sheet.seen,
                "total": None if total.certainty is Certainty.UNKNOWN else total.value,
                "certainty": str(total.certainty),
                "stop": str(completeness.stop),
                "cursor": completeness.cursor,
            },
            "rows": [dict(zip(columns, map(clean, row), strict=True)) for row in rows],
            "notes": [clean(note) for note in (*said, *self.sheet.notes)],
        }

    def _columns(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The columns and rows without the optional columns that are empty in every row."""
        columns, optional = self.sheet.columns, self.sheet.optional
        empty = {n for n, name in enumerate(columns) if name in optional and not any(row[n] for row in self.rows)}
        if not empty:
            return columns, self.rows
        keep = [n for n in range(len(columns)) if n not in empty]
        return [columns[n] for n in keep], [[row[n] for n in keep] for row in self.rows]


def fit(sheet: Sheet, style: Style, cursor_behind: Callable[[int], str] | None = None) -> Table:
    """The sheet as an answer within the budget. `cursor_behind(n)` writes the cursor that goes on behind row n - 1.

    Without it the list cannot be gone on with; its completeness line still says what it leaves out.

    At least one row is shown whatever the budget, so that a list always gets on.
    """
    rows, joined = _within(sheet, style.budget)
    stop = Stop.BUDGET if joined is None else sheet.stop
    more = stop in (Stop.BUDGET, Stop.LIMIT) and bool(rows)
    cursor = cursor_behind(len(rows)) if more and cursor_behind else None
    return Table(sheet, rows, Completeness(len(rows), sheet.total, stop, cursor), joined)


def _within(sheet: Sheet, budget: int) -> tuple[list[Sequence[str]], str | None]:
    """The leading rows that fit, and the text of them if they are all."""
    left = budget - count_tokens("\n".join((*sheet.intro, *sheet.notes, *sheet.columns))) - _FIRST_LINE
    rows: list[Sequence[str]] = list(sheet.rows)
    joined = "\n".join(map("|".join, rows))
    if count_tokens(joined) <= left:
        return rows, joined  # counted at once, as nearly every answer fits
    for n, row in enumerate(rows):
        left -= count_tokens("|".join(row)) + 1
        if left < 0 and n:
            return rows[:n], None
    return rows, joined


_FIRST_LINE = 80
"""Tokens kept for the completeness line with its cursor."""


def completeness_line(completeness: Completeness, noun: str, seen: int = 0) -> str:
    """The first line of an answer: how much of the whole list it shows, and how it goes on."""
    shown, total = completeness.shown, completeness.total
    if completeness.stop is Stop.ROW_CAP:
        return f"partial: the endpoint stopped after {seen + shown:,} {noun}"
    if completeness.stop is Stop.TIME_OUT:
        return f"partial: the store ran out of time after {seen + shown:,} {noun}; what is missing is unknown"
    whole = _whole(total, seen + shown, noun)
    if completeness.stop is Stop.COMPLETE and not seen:
        return whole
    part = f"showing {noun} {seen + 1:,} to {seen + shown:,} of {whole}" if seen else f"showing {shown:,} of {whole}"
    if completeness.stop is Stop.COMPLETE:
        return f"{part}; that is the end"
    return f'{part}; next: cursor "{completeness.cursor}"' if completeness.cursor else part


def _whole(total: Count, known: int, noun: str) -> str:
    noun = singular(noun) if total == Count(1) else noun
    match total.certainty:
        case Certainty.EXACT:
            return f"{total.value:,} {noun}"
        case Certainty.AT_LEAST:
            return f"at least {max(total.value, known):,} {noun}"
        case Certainty.UNKNOWN:
            return f"an unknown number of {noun}"


def singular(noun: str) -> str:
    """A plural noun of this product's answers in the singular: rows, relations, entities."""
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def count_text(count: Count) -> str:
    """A count inside a cell: `4,030`, `4,030+` where it is a lower bound, `?` where it is unknown."""
    match count.certainty:
        case Certainty.EXACT:
            return f"{count.value:,}"
        case Certainty.AT_LEAST:
            return f"{count.value:,}+"
        case Certainty.UNKNOWN:
            return "?"
