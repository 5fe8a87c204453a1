"""The table of an answer with its completeness line, truncated between rows to fit the token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, takewhile
from typing import Protocol, cast

from kgnav_mcp.model import Completeness, Count, Entity, Stop
from kgnav_mcp.render.budget import SHORTEST_CUT, truncate_values
from kgnav_mcp.render.columns import Column, Columns, PrintedRows, Row, answer_json, row_json, row_texts
from kgnav_mcp.render.completeness import completeness_line
from kgnav_mcp.render.text import clean, table_body, table_cell
from kgnav_mcp.render.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Limits of answers, and the form in which they are sent."""

    budget: int = 8000
    """Most tokens of a whole answer."""
    literal_limit: int = 300
    """Most characters of one cell."""
    structured: bool = False
    """Whether answers are sent as JSON, and counted as such."""
    generated_prefixes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Generated prefixes (`ns1`) and their namespaces. An answer that uses such a prefix explains it."""

    def row_tokens(self, columns: Sequence[Column], row: Row) -> int:
        """The tokens of one row of a table."""
        if self.structured:
            return count_tokens(json.dumps(row_json(columns, row, self.literal_limit), ensure_ascii=False)) + 1
        return count_tokens("|".join(map(table_cell, row_texts(columns, row, self.literal_limit)))) + 1

    def prefix_legend(self, text: str, tokens: int) -> tuple[str, ...]:
        """One line that explains the generated prefixes used in a text, as many as fit; empty if none is used."""
        if not self.generated_prefixes:
            return ()
        used = set(re.findall(rf"(?<!\w)({'|'.join(map(re.escape, self.generated_prefixes))}):(?=\S)", text))
        meanings = [
            f"{prefix}: is {namespace}" for prefix, namespace in self.generated_prefixes.items() if prefix in used
        ]
        while meanings:
            line = f"Prefixes: {', '.join(meanings)}"
            if count_tokens(line) <= tokens:
                return (line,)
            meanings.pop()
        return ()


class Answer(Protocol):
    """The answer of a tool: markdown, and the same facts as structured content."""

    @property
    def text(self) -> str:
        """The answer as markdown, for a model."""
        ...

    @property
    def first_line(self) -> str:
        """The first line of the text, cheaper to make than the whole text."""
        ...

    @property
    def facts(self) -> dict[str, object]:
        """The answer as JSON, for a script."""
        ...

    @property
    def shown(self) -> Sequence[object]:
        """The domain values (entities, triples, ...) shown in its rows."""
        ...

    @property
    def about(self) -> Sequence[Entity]:
        """The entities that were asked about."""
        ...


@dataclass(frozen=True, slots=True)
class RenderedAnswer:
    """A finished answer in both forms."""

    text: str
    facts: dict[str, object]
    shown: Sequence[object] = ()
    about: Sequence[Entity] = ()

    @property
    def first_line(self) -> str:
        """The first line of the text."""
        return self.text.partition("\n")[0]


def row_answer(text: str, columns: Columns, row: Row, notes: Sequence[str] = ()) -> RenderedAnswer:
    """An answer of one row whose markdown is not a table."""
    return RenderedAnswer(text, answer_json(Completeness(1, Count(1)), [row_json(columns, row, len(text))], notes))


@dataclass(frozen=True, slots=True)
class Table:
    """A table before it is truncated to a budget."""

    noun: str
    """What the rows are, in the plural: "rows", "relations"."""
    columns: Sequence[Column]
    rows: Iterable[Row]
    total: Count
    """Number of rows of the whole list, of which this may be one page."""
    stop: Stop = Stop.COMPLETE
    """Why the list ends where it does."""
    offset: int = 0
    """Number of rows shown by earlier answers to the same call."""
    empty: str = ""
    """The explanation to print if there are no rows."""
    intro: Sequence[str] = ()
    """Lines before the table."""
    notes: Sequence[str] = ()
    """Lines after the table."""
    items: Sequence[object] = ()
    """The domain value behind each row; empty if rows show nothing of the graph."""
    about: Sequence[Entity] = ()
    """The entities that were asked about."""


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table truncated to a budget: the columns and rows shown, and how complete they are."""

    table: Table
    completeness: Completeness
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str]
    limit: int
    """Most characters of a cell."""
    printed: PrintedRows
    """The rows of the whole table in all columns."""
    cut: int | None = None
    """Set if a single row is too large: most characters of its texts and most items of its lists."""

    @property
    def first_line(self) -> str:
        """How complete the answer is and, if it is empty, what that means."""
        table = self.table
        line = completeness_line(self.completeness, table.noun, table.offset)
        return line if self.rows or not table.empty else f"{line}: {clean(table.empty)}"

    @property
    def text(self) -> str:
        """The first line, the introduction, the table, and the notes."""
        lines = [self.first_line, *map(clean, self.table.intro)]
        if self.rows:
            names = [name for column in self.columns for name in column.headings]
            if self.cut is None:
                rows = self.printed.first(len(self.rows), self.columns)
            else:
                rows = [_cut_texts(self.columns, row, self.limit, self.cut) for row in self.rows]
            lines += ["|".join(names), "|".join("--" for _ in names), table_body(rows)]
        lines += map(clean, self.notes)
        return "\n".join(lines)

    @property
    def shown(self) -> Sequence[object]:
        """The domain values behind the rows shown."""
        return self.table.items[: len(self.rows)]

    @property
    def about(self) -> Sequence[Entity]:
        """The entities that were asked about."""
        return self.table.about

    @property
    def facts(self) -> dict[str, object]:
        """The same facts as JSON: completeness, rows keyed by column, and all other lines as notes."""
        empty = (self.table.empty,) if not self.rows and self.table.empty else ()
        rows = [row_json(self.columns, row, self.limit) for row in self.rows]
        if self.cut is not None:
            rows = cast("list[dict[str, object]]", [truncate_values(row, self.cut, self.cut) for row in rows])
        notes = (*empty, *self.table.intro, *self.notes)
        return answer_json(self.completeness, rows, notes, before=self.table.offset)


def fit_to_budget(
    table: Table, options: RenderOptions, cursor_after: Callable[[int], str] | None = None
) -> FittedTable:
    """The table as an answer within the budget, truncated between rows.

    `cursor_after(n)` returns the cursor that continues after the first n rows. Without it the answer has no cursor,
    and its first line only says what is left out. At least one row is shown, with clipped cells if it alone exceeds
    the budget, so that paging always advances.
    """
    rows = list(table.rows)
    printed = PrintedRows(table.columns, rows, options.literal_limit)
    table = replace(table, rows=rows)
    fitted = _fitted(table, printed, options, cursor_after)
    legend = options.prefix_legend(fitted.text, options.budget // 4) if options.generated_prefixes else ()
    if not legend:
        return fitted
    return _fitted(replace(table, notes=(*table.notes, *legend)), printed, options, cursor_after)


def _fitted(
    table: Table, printed: PrintedRows, options: RenderOptions, cursor_after: Callable[[int], str] | None
) -> FittedTable:
    names = (name for column in table.columns for name in column.headings)
    frame = count_tokens("\n".join((*table.intro, *table.notes, *names))) + _FRAME_TOKENS[options.structured]
    left = options.budget - frame
    rows, notes, cut = list(table.rows), table.notes, None
    columns, shown = drop_empty_columns(table.columns, rows)
    fitting = _fitting_rows(options, printed, columns, shown, left)
    if fitting < len(rows):
        shown = rows[:fitting]
        if not shown:
            shown, notes = rows[:1], (*notes, _CUT_NOTE[options.structured])
            cut = _fitting_cut(table.columns, rows[0], options, left - count_tokens(notes[-1]))
        columns, shown = drop_empty_columns(table.columns, shown)
    stop = Stop.BUDGET if len(shown) < len(rows) else table.stop
    more = stop in (Stop.BUDGET, Stop.LIMIT) and bool(rows)
    cursor = cursor_after(len(shown)) if more and cursor_after else None
    completeness = Completeness(len(shown), table.total, stop, cursor)
    return FittedTable(table, completeness, columns, shown, notes, options.literal_limit, printed, cut)


def drop_empty_columns(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Sequence[Column], Sequence[Row]]:
    """The columns and rows without the optional columns that are empty in all rows."""
    shown = [not column.optional or any(row[n] not in _EMPTY for row in rows) for n, column in enumerate(columns)]
    if all(shown):
        return columns, rows
    return list(compress(columns, shown)), [list(compress(row, shown)) for row in rows]


_EMPTY = (None, "", ())


def _fitting_rows(
    options: RenderOptions, printed: PrintedRows, columns: Sequence[Column], rows: Sequence[Row], left: int
) -> int:
    """The number of rows that fit into `left` tokens."""
    if options.structured:
        return _fitting(left, (options.row_tokens(columns, row) for row in rows))
    fitting = 0
    for batch in printed.batches(columns):
        size = _body_tokens(batch)
        if size > left:
            return fitting + _fitting(left, (_body_tokens([texts]) for texts in batch))
        fitting, left = fitting + len(batch), left - size
    return fitting


def _body_tokens(rows: Sequence[Sequence[str]]) -> int:
    """The tokens of rows in a table, with the line break after each."""
    return count_tokens(table_body(rows)) + 1


def _fitting(left: int, sizes: Iterable[int]) -> int:
    """How many of the first sizes have a sum of at most `left`."""
    return sum(1 for _ in takewhile(lambda total: total <= left, accumulate(sizes)))


def _fitting_cut(columns: Sequence[Column], row: Row, options: RenderOptions, left: int) -> int:
    """The number of characters and items to cut a row's texts and lists to so that it fits, at least SHORTEST_CUT."""
    facts = row_json(columns, row, options.literal_limit)

    def tokens(cut: int) -> int:
        if options.structured:
            return count_tokens(json.dumps(truncate_values(facts, cut, cut), ensure_ascii=False))
        return count_tokens("|".join(map(table_cell, _cut_texts(columns, row, options.literal_limit, cut))))

    texts = row_texts(columns, row, options.literal_limit)
    cut = len(json.dumps(facts)) if options.structured else max(map(len, texts))
    while cut > SHORTEST_CUT and tokens(cut) > left:
        cut = max(cut // 2, SHORTEST_CUT)
    return cut


def _cut_texts(columns: Sequence[Column], row: Row, limit: int, cut: int) -> list[str]:
    """A row with its texts cut to `cut` characters. Numbers are never cut."""
    return [
        text if isinstance(cell, Count | int | float) or len(text) <= cut else f"{text[:cut]}..."
        for column, cell in zip(columns, row, strict=True)
        for text in column.cell_texts(cell, limit)
    ]


_CUT_NOTE = {
    False: "This row is larger than an answer may be: what ends in ... is not whole.",
    True: "This row is larger than an answer may be: texts that end in ... are not whole, nor are its longest lists.",
}
"""The note on a cut row, in markdown (False) and in structured content (True)."""
_FRAME_TOKENS = {False: 80, True: 160}
"""Tokens reserved for the completeness line with its cursor, in markdown (False) and structured content (True)."""
