"""Truncates the table of an answer between rows to fit the token budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from kgnav_mcp.clipping import truncate_values
from kgnav_mcp.model import Completeness, Stop
from kgnav_mcp.render.budget import SHORTEST_CUT, fits
from kgnav_mcp.render.columns import Column, PrintedRows, Row, answer_json, drop_empty_columns, row_json, row_texts
from kgnav_mcp.render.table import FittedTable, RenderOptions, Table, cut_texts, heading
from kgnav_mcp.render.text import table_cell
from kgnav_mcp.render.tokens import count_tokens


def fit_to_budget(
    table: Table, options: RenderOptions, cursor_after: Callable[[int], str] | None = None
) -> FittedTable:
    """The table as an answer within the budget, truncated between rows.

    `cursor_after(n)` returns the cursor that continues after the first n rows. Without it the answer has no cursor,
    and its first line only says what is left out. At least one row is shown, with clipped cells if it alone exceeds
    the budget, so that paging always advances.
    """
    rows = list(table.rows)
    table = replace(table, rows=rows)
    printed = PrintedRows(*drop_empty_columns(table.columns, rows), options.literal_limit)
    fitted = _fitted(table, printed, options, cursor_after)
    text = fitted.text if options.generated_prefixes else ""
    legend = options.prefix_legend(text, options.budget // 4)
    if not legend:
        return fitted
    if not options.structured and fits("\n".join((text, *legend)), options.budget):
        return replace(fitted, notes=(*fitted.notes, *legend))
    return _fitted(replace(table, notes=(*table.notes, *legend)), printed, options, cursor_after)


def _fitted(
    table: Table, printed: PrintedRows, options: RenderOptions, cursor_after: Callable[[int], str] | None
) -> FittedTable:
    """The table truncated so that it fits together with its completeness, whose cursor depends on the rows shown."""
    reserved = _COMPLETENESS_TOKENS[options.structured]
    while True:
        fitted = _truncated(table, printed, options, cursor_after, reserved)
        if fitted.completeness.cursor is None:
            return fitted
        needed = _completeness_tokens(fitted, options)
        if needed <= reserved:
            return fitted
        reserved = needed


def _completeness_tokens(fitted: FittedTable, options: RenderOptions) -> int:
    """The tokens of the completeness. It is the first line, which structured content comes with, too."""
    first_line = count_tokens(fitted.first_line) + 1
    if options.structured:
        return first_line + count_tokens(json.dumps(answer_json(fitted.completeness, [], before=fitted.table.offset)))
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
    """How many of the first sizes have a sum of at most `left`."""
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
    False: "This row is larger than an answer may be: what ends in ... is not whole.",
    True: "This row is larger than an answer may be: texts that end in ... are not whole, nor are its longest lists.",
}
"""The note on a cut row, in markdown (False) and in structured content (True)."""
_COMPLETENESS_TOKENS = {False: 60, True: 140}
"""Tokens reserved at first for completeness and cursor, in markdown (False) and structured content (True)."""
