"""The table of an answer with its completeness line, truncated between rows to fit the token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, cast

from kgnav_mcp.clipping import truncate_values
from kgnav_mcp.model import Completeness, Count, Entity, Stop
from kgnav_mcp.render.columns import Column, Columns, PrintedRows, Row, answer_json, row_json, row_texts
from kgnav_mcp.render.completeness import completeness_line
from kgnav_mcp.render.text import clean, table_cell
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
    """The rows as lines, with those that are not shown behind them."""
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
