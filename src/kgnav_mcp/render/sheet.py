"""One table of an answer with its completeness line, cut at a row so that the whole fits the budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Protocol

from kgnav_mcp.model import Certainty, Completeness, Count, Stop
from kgnav_mcp.render.text import body, cell, clean
from kgnav_mcp.render.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Style:
    """How answers are cut: `budget` in tokens for a whole answer, `literal_limit` in characters for one cell.

    `structured` answers are counted as the JSON that they are sent as.
    """

    budget: int = 8000
    literal_limit: int = 300
    structured: bool = False
    coined: Mapping[str, str] = field(default_factory=dict[str, str])
    """Prefixes that no reader can know, with their namespaces: an answer in which one occurs says what it means."""

    def size(self, columns: Sequence[str], row: Sequence[str]) -> int:
        """The tokens of one row of a table."""
        if self.structured:
            return count_tokens(json.dumps(dict(zip(columns, map(clean, row), strict=True)), ensure_ascii=False)) + 1
        return count_tokens("|".join(map(cell, row))) + 1

    def legend(self, text: str, tokens: int) -> tuple[str, ...]:
        """The line that says what the coined prefixes in a text mean, as many as fit; none where it has none."""
        if not self.coined:
            return ()
        used = set(re.findall(rf"(?<!\w)({'|'.join(map(re.escape, self.coined))}):(?=\S)", text))
        meanings = [f"{prefix}: is {namespace}" for prefix, namespace in self.coined.items() if prefix in used]
        while meanings:
            line = f"Prefixes: {', '.join(meanings)}"
            if count_tokens(line) <= tokens:
                return (line,)
            meanings.pop()
        return ()


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
    """A sheet that was cut to its budget: the rows that are shown and what the answer says of itself.

    Columns that are named optional and empty in every row shown are left out. `body` is the rows as markdown.
    """

    sheet: Sheet
    completeness: Completeness
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    body: str
    notes: Sequence[str]

    @property
    def text(self) -> str:
        """The completeness line, what introduces the table, the table, and the notes."""
        sheet = self.sheet
        first = completeness_line(self.completeness, sheet.noun, sheet.seen)
        lines = [first if self.rows or not sheet.empty else f"{first}: {clean(sheet.empty)}", *map(clean, sheet.intro)]
        if self.rows:
            lines += ["|".join(self.columns), "|".join("--" for _ in self.columns), self.body]
        lines += map(clean, self.notes)
        return "\n".join(lines)

    @property
    def facts(self) -> dict[str, object]:
        """The same facts: completeness, rows keyed by column, and everything else that is said."""
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
            "rows": [dict(zip(self.columns, map(clean, row), strict=True)) for row in self.rows],
            "notes": [clean(note) for note in (*said, *self.notes)],
        }


def fit(sheet: Sheet, style: Style, cursor_behind: Callable[[int], str] | None = None) -> Table:
    """The sheet as an answer within the budget. `cursor_behind(n)` writes the cursor that goes on behind row n - 1.

    Without it the list cannot be gone on with; its completeness line still says what it leaves out.

    At least one row is shown whatever the budget, so that a list always gets on: a row that alone is larger is cut.
    """
    if not style.coined:
        return _fitted(sheet, style, cursor_behind)
    sheet = replace(sheet, rows=list(sheet.rows))
    table = _fitted(sheet, style, cursor_behind)
    legend = style.legend(table.text, style.budget // 4)
    return _fitted(replace(sheet, notes=(*sheet.notes, *legend)), style, cursor_behind) if legend else table


def _fitted(sheet: Sheet, style: Style, cursor_behind: Callable[[int], str] | None) -> Table:
    left = (
        style.budget - count_tokens("\n".join((*sheet.intro, *sheet.notes, *sheet.columns))) - _FRAME[style.structured]
    )
    rows, notes = list(sheet.rows), sheet.notes
    columns, shown = _without_empty(sheet, rows)
    text = body(shown)
    if rows and (_sizes(style, columns, shown) if style.structured else count_tokens(text)) > left:
        kept = _leading(rows, left, lambda row: style.size(sheet.columns, row))
        if not kept:
            notes = (*notes, _CUT)
            kept = [_cut(rows[0], left - count_tokens(_CUT), lambda row: style.size(sheet.columns, row))]
        columns, shown = _without_empty(sheet, kept)
        text = body(shown)
    stop = Stop.BUDGET if len(shown) < len(rows) else sheet.stop
    more = stop in (Stop.BUDGET, Stop.LIMIT) and bool(rows)
    cursor = cursor_behind(len(shown)) if more and cursor_behind else None
    return Table(sheet, Completeness(len(shown), sheet.total, stop, cursor), columns, shown, text, notes)


def _without_empty(sheet: Sheet, rows: Sequence[Sequence[str]]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns and the rows without the optional columns that are empty in each of these rows."""
    optional = sheet.optional
    kept = [name not in optional or any(row[n] for row in rows) for n, name in enumerate(sheet.columns)]
    if all(kept):
        return sheet.columns, rows
    return list(compress(sheet.columns, kept)), [list(compress(row, kept)) for row in rows]


def _sizes(style: Style, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    return sum(style.size(columns, row) for row in rows)


def _leading(rows: Sequence[Sequence[str]], left: int, size: Callable[[Sequence[str]], int]) -> list[Sequence[str]]:
    """The first rows that fit; the last of them may leave no room."""
    for n, row in enumerate(rows):
        left -= size(row)
        if left < 0:
            return list(rows[:n])
    return list(rows)


def _cut(row: Sequence[str], left: int, size: Callable[[Sequence[str]], int]) -> Sequence[str]:
    """A row whose longest cells are cut until it fits, as far as that is possible."""
    limit = max(map(len, row))
    cut = row
    while limit and size(cut) > left:
        limit //= 2
        cut = [text if len(text) <= limit else f"{text[:limit]}..." for text in row]
    return cut


_CUT = "This row is larger than an answer may be: what ends in ... is not whole."
_FRAME = {False: 80, True: 160}
"""Tokens kept for the completeness line with its cursor, as markdown and as structured content."""


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
