"""The table of an answer with its completeness line, truncated between rows to fit the token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Protocol, cast

from kgnav_mcp.clipping import truncate_values
from kgnav_mcp.model import Certainty, Completeness, Count, Entity, Stop
from kgnav_mcp.render.columns import (
    Column,
    Columns,
    PrintedRows,
    Row,
    answer_json,
    drop_empty_columns,
    row_json,
    row_texts,
)
from kgnav_mcp.render.text import SHORTEST_CUT, clean, count_tokens, is_within_budget, table_cell

_NOT_SORTED = "no further pages, because the store could not sort the list. Narrow it by relation, match or node_type"


def completeness_line(completeness: Completeness, noun: str, offset: int = 0) -> str:
    """The first line of an answer: how much of the whole list it shows, and the cursor of the next page."""
    shown, total = completeness.shown, completeness.total
    if completeness.stop is Stop.ROW_CAP:
        return f"partial: the endpoint stopped after {offset + shown:,} {noun}"
    if completeness.stop is Stop.TIME_OUT:
        return f"partial: the store ran out of time after {offset + shown:,} {noun}; what is missing is unknown"
    total_text = _total_text(total, offset + shown, noun)
    if completeness.stop is Stop.COMPLETE and not offset:
        return total_text
    shown_text = (
        f"showing {noun} {offset + 1:,} to {offset + shown:,} of {total_text}"
        if offset
        else f"showing {shown:,} of {total_text}"
    )
    if completeness.stop is Stop.COMPLETE:
        return f"{shown_text}; that is the end"
    if completeness.cursor:
        return f'{shown_text}; next: cursor "{completeness.cursor}"'
    return f"{shown_text}; {_NOT_SORTED}" if completeness.stop is Stop.UNORDERED else shown_text


def _total_text(total: Count, minimum: int, noun: str) -> str:
    if total.certainty is Certainty.AT_LEAST:
        total = Count.at_least(max(total.value, minimum))
    return f"{total.words} {singular(noun) if total == Count(1) else noun}"


def singular(noun: str) -> str:
    """The singular of a plural noun used in answers: row, relation, entity."""
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Limits of answers, and their form."""

    budget: int = 8000
    """Maximum tokens of a whole answer."""
    literal_limit: int = 300
    """Maximum characters of one cell."""
    structured: bool = False
    """Whether answers are sent as JSON; the token budget then counts that form."""
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
        used = set(_any_prefix(tuple(self.generated_prefixes)).findall(text))
        meanings = [
            f"{prefix}: is {namespace}" for prefix, namespace in self.generated_prefixes.items() if prefix in used
        ]
        while meanings:
            line = f"Prefixes: {', '.join(meanings)}"
            if count_tokens(line) <= tokens:
                return (line,)
            meanings.pop()
        return ()


@lru_cache(8)
def _any_prefix(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    """Matches ids that begin with one of the prefixes."""
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, prefixes))}):(?=\S)")


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
        """The entities in the call's arguments."""
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
    """Noun for the rows in the plural: "rows", "relations"."""
    columns: Sequence[Column]
    rows: Iterable[Row]
    total: Count
    """Number of rows of the whole list, of which this may be one page."""
    stop: Stop = Stop.COMPLETE
    """Why the list ends where it does."""
    offset: int = 0
    """Number of rows shown by earlier answers to the same call."""
    empty: str = ""
    """The explanation to print if there are no rows in the whole list."""
    intro: Sequence[str] = ()
    """Lines before the table."""
    notes: Sequence[str] = ()
    """Lines after the table."""
    items: Sequence[object] = ()
    """The domain value behind each row; empty if rows show nothing of the graph."""
    about: Sequence[Entity] = ()
    """The entities in the call's arguments."""


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table truncated to a budget: the columns and rows shown, and how complete they are."""

    table: Table
    completeness: Completeness
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str]
    limit: int
    """Maximum characters of a cell."""
    printed: PrintedRows
    """The rows as lines, with those that are not shown behind them."""
    cut: int | None = None
    """Maximum characters of texts and items of lists, if a single row is too large; else None."""

    @property
    def first_line(self) -> str:
        """How complete the answer is, and the explanation if it is empty."""
        line = completeness_line(self.completeness, self.table.noun, self.table.offset)
        return f"{line}: {clean(self._empty)}" if self._empty else line

    @property
    def _empty(self) -> str:
        """The explanation of an empty list; empty if there are rows, or if there may be some that were not read."""
        return "" if self.rows or self.table.stop is not Stop.COMPLETE else self.table.empty

    @property
    def text(self) -> str:
        """The first line, the introduction, the table, and the notes."""
        lines = [self.first_line, *map(clean, self.table.intro)]
        if self.rows:
            lines += heading(self.columns)
            if self.cut is None:
                lines += self.printed.first(len(self.rows))
            else:
                lines += [
                    "|".join(map(table_cell, cut_texts(self.columns, row, self.limit, self.cut))) for row in self.rows
                ]
        lines += map(clean, self.notes)
        return "\n".join(lines)

    @property
    def shown(self) -> Sequence[object]:
        """The domain values behind the rows shown."""
        return self.table.items[: len(self.rows)]

    @property
    def about(self) -> Sequence[Entity]:
        """The entities in the call's arguments."""
        return self.table.about

    @property
    def facts(self) -> dict[str, object]:
        """The same facts as JSON: completeness, rows keyed by column, and all other lines as notes."""
        empty = (self._empty,) if self._empty else ()
        rows = [row_json(self.columns, row, self.limit) for row in self.rows]
        if self.cut is not None:
            rows = cast("list[dict[str, object]]", [truncate_values(row, self.cut, self.cut) for row in rows])
        notes = (*empty, *self.table.intro, *self.notes)
        return answer_json(self.completeness, rows, notes, before=self.table.offset)


def heading(columns: Sequence[Column]) -> tuple[str, str]:
    """The first two lines of a table."""
    names = [table_cell(name) for column in columns for name in column.headings]
    return "|".join(names), "|".join("--" for _ in names)


def cut_texts(columns: Sequence[Column], row: Row, limit: int, cut: int) -> list[str]:
    """A row with its texts cut to `cut` characters. Numbers are never cut."""
    return [
        text if isinstance(cell, Count | int | float) or len(text) <= cut else f"{text[:cut]}..."
        for column, cell in zip(columns, row, strict=True)
        for text in column.cell_texts(cell, limit)
    ]


def fit_to_budget(
    table: Table, options: RenderOptions, cursor_after: Callable[[int], str] | None = None
) -> FittedTable:
    """The table as an answer within the budget, truncated between rows.

    `cursor_after(n)` returns the cursor that continues after the first n rows. Without it the answer has no cursor,
    and its first line says only how many rows are omitted. At least one row is shown, its cells clipped if it does
    not fit alone, so that paging always advances.
    """
    rows = list(table.rows)
    table = replace(table, rows=rows)
    printed = PrintedRows(*drop_empty_columns(table.columns, rows), options.literal_limit)
    shown_table = _within_budget(table, printed, options, cursor_after)
    text = shown_table.text if options.generated_prefixes else ""
    legend = options.prefix_legend(text, options.budget // 4)
    if not legend:
        return shown_table
    if not options.structured and is_within_budget("\n".join((text, *legend)), options.budget):
        return replace(shown_table, notes=(*shown_table.notes, *legend))
    return _within_budget(replace(table, notes=(*table.notes, *legend)), printed, options, cursor_after)


def _within_budget(
    table: Table, printed: PrintedRows, options: RenderOptions, cursor_after: Callable[[int], str] | None
) -> FittedTable:
    """The table truncated so that it fits together with its completeness, whose cursor depends on the rows shown."""
    reserved = _COMPLETENESS_TOKENS[options.structured]
    while True:
        shown_table = _truncated(table, printed, options, cursor_after, reserved)
        if shown_table.completeness.cursor is None:
            return shown_table
        needed = _completeness_tokens(shown_table, options)
        if needed <= reserved:
            return shown_table
        reserved = needed


def _completeness_tokens(shown_table: FittedTable, options: RenderOptions) -> int:
    """The tokens of the first line, which structured content includes, too."""
    first_line = count_tokens(shown_table.first_line) + 1
    if options.structured:
        return first_line + count_tokens(
            json.dumps(answer_json(shown_table.completeness, [], before=shown_table.table.offset))
        )
    return first_line


def _truncated(
    table: Table,
    printed: PrintedRows,
    options: RenderOptions,
    cursor_after: Callable[[int], str] | None,
    reserved: int,
) -> FittedTable:
    """The table truncated to the budget, of which `reserved` tokens are kept for its completeness."""
    rows, notes, cut = list(table.rows), table.notes, None
    if options.structured:
        frame = json.dumps([*table.intro, *notes], ensure_ascii=False)
    else:
        frame = "\n".join((*table.intro, *heading(table.columns), *notes))
    left = options.budget - reserved - count_tokens(frame) - 1
    fitting = _fitting_rows(options, printed, left)
    if fitting < len(rows):
        columns, shown = drop_empty_columns(table.columns, rows[: fitting or 1])
        if not fitting:
            notes = (*notes, _CUT_NOTE[options.structured])
            cut = _fitting_cut(columns, shown[0], options, left - count_tokens(notes[-1]))
        if len(columns) < len(printed.columns):
            printed = PrintedRows(columns, shown, options.literal_limit)
    else:
        columns, shown = printed.columns, printed.rows
    stop = Stop.BUDGET if len(shown) < len(rows) and table.stop is not Stop.UNORDERED else table.stop
    more = stop in (Stop.BUDGET, Stop.LIMIT) and bool(rows)
    cursor = cursor_after(len(shown)) if more and cursor_after else None
    completeness = Completeness(len(shown), table.total, stop, cursor)
    return FittedTable(table, completeness, columns, shown, notes, options.literal_limit, printed, cut)


def _fitting_rows(options: RenderOptions, printed: PrintedRows, left: int) -> int:
    """The number of rows that fit into `left` tokens."""
    if options.structured:
        return _fitting(left, (options.row_tokens(printed.columns, row) for row in printed.rows))
    fitting = 0
    for lines in printed.batches():
        size = count_tokens("\n".join(lines)) + 1
        if size > left:
            return fitting + _fitting(left, (count_tokens(line) + 1 for line in lines))
        fitting, left = fitting + len(lines), left - size
    return fitting


def _fitting(left: int, sizes: Iterable[int]) -> int:
    """The number of leading sizes whose sum is at most `left`."""
    return sum(1 for _ in takewhile(lambda total: total <= left, accumulate(sizes)))


def _fitting_cut(columns: Sequence[Column], row: Row, options: RenderOptions, left: int) -> int:
    """The number of characters and items to cut a row's texts and lists to so that it fits, at least SHORTEST_CUT."""
    facts = row_json(columns, row, options.literal_limit)

    def tokens(cut: int) -> int:
        if options.structured:
            return count_tokens(json.dumps(truncate_values(facts, cut, cut), ensure_ascii=False))
        return count_tokens("|".join(map(table_cell, cut_texts(columns, row, options.literal_limit, cut))))

    texts = row_texts(columns, row, options.literal_limit)
    cut = len(json.dumps(facts)) if options.structured else max(map(len, texts))
    while cut > SHORTEST_CUT and tokens(cut) > left:
        cut = max(cut // 2, SHORTEST_CUT)
    return cut


_CUT_NOTE = {
    False: "This row exceeds the token budget: texts that end in ... are truncated.",
    True: "This row exceeds the token budget: texts that end in ..., and its longest lists, are truncated.",
}
"""The note on a cut row, in markdown (False) and in structured content (True)."""
_COMPLETENESS_TOKENS = {False: 60, True: 140}
"""Tokens reserved at first for completeness and cursor, in markdown (False) and structured content (True)."""
