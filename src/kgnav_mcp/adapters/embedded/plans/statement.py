"""A query while it is written: its parameters, aliases and tables, and what variables are in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.errors import Unsupported

_LONGEST = 60_000
"""Characters of a query: SQLite takes 64 KiB."""

_PARAMETER = re.compile(r"\?([0-9]+)")


def refused(what: str) -> Unsupported:
    """The error for a part of a plan that has no words in SQL."""
    return Unsupported(f"a graph file does not run {what} as one query", next_step="It is evaluated instead.")


class Kind(StrEnum):
    """What an expression of SQL stands for."""

    NODE = "node"
    EDGE = "edge"
    HIDDEN = "hidden"
    """A path that nothing of the query asks for."""
    THINGS = "things"
    """A path, or a list of nodes or edges, as `things` has them."""
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    """1, 0 or null."""
    VALUE = "value"
    """Any single value or a list, as `functions` encodes them."""
    DATED = "dated"
    """A single value in which a date is told from a text that is written as one: beside the other side alone."""


SINGLE = frozenset((Kind.NUMBER, Kind.TEXT, Kind.TRUTH, Kind.VALUE))
"""What one expression stands for that Python's functions take."""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of SQL: of a node its number, of an edge the four columns of its key."""

    kind: Kind
    sql: tuple[str, ...]
    qualifiers: str = ""
    """Of an edge: where the JSON of its qualifiers is read."""
    dated: bool = False
    """Whether it may be a date, or a text that is written as one: a date compares with these by its precision."""
    single: bool = False
    """Whether a VALUE is certainly no list."""
    sure: bool = False
    """Whether it is certainly not null."""

    @property
    def one(self) -> str:
        """The expression, or the first of several, which is null where all are."""
        return self.sql[0]


NULL = Term(Kind.VALUE, ("NULL",))
Scope = Mapping[str, Term]
"""What variables are."""


@dataclass(slots=True)
class Statement:
    """One query as it grows."""

    parameters: list[Parameter] = field(default_factory=list[Parameter])
    tables: list[str] = field(default_factory=list[str])
    read_once: set[str] = field(default_factory=set[str])
    """The tables that may have one reader only."""
    _aliases: int = 0

    def parameter(self, value: Parameter) -> str:
        """The name of a value."""
        for place, known in enumerate(self.parameters):
            if type(known) is type(value) and known == value:
                return f"?{place + 1}"
        self.parameters.append(value)
        return f"?{len(self.parameters)}"

    def numbers(self, values: Iterable[object]) -> str:
        """The name of a list of values, as JSON."""
        return self.parameter(json.dumps(list(values)))

    def alias(self, letter: str) -> str:
        """A name that nothing else has."""
        self._aliases += 1
        return f"{letter}{self._aliases}"

    def table(self, query: str, *, read_once: bool = False) -> str:
        """Add a common table expression; its name.

        One that is read once may become part of its reader's query. Of others each row is made, once, whatever part of
        them is shown: what a value of a row refuses, it refuses on every page.
        """
        name = self.alias("t")
        if read_once:
            self.read_once.add(name)
        self.tables.append(f"{name} AS {'NOT ' if read_once else ''}MATERIALIZED ({query})")
        return name

    def text(self, query: str) -> tuple[str, list[Parameter]]:
        """The whole query, and the values of its parameters.

        Raises:
            Unsupported: it is too long.
        """
        text = f"WITH {', '.join(self.tables)} {query}" if self.tables else query
        if len(text) > _LONGEST:
            raise refused("a plan of so many alternatives")
        used = max((int(number) for number in _PARAMETER.findall(text)), default=0)
        return text, self.parameters[:used]


def columns(scope: Scope) -> tuple[list[str], dict[str, Term]]:
    """What a table selects to keep variables, and what they are behind it, by the name of its columns alone."""
    selected: list[str] = []
    kept: dict[str, Term] = {}
    for name, term in scope.items():
        names = [f"c{len(selected) + place}" for place in range(len(term.sql))]
        selected += (f"{sql} AS {column}" for sql, column in zip(term.sql, names, strict=True))
        kept[name] = replace(term, sql=tuple(names), qualifiers="")
    return selected, kept


def within(scope: Scope, table: str) -> dict[str, Term]:
    """Variables as columns of a table under this alias."""
    return {
        name: replace(term, sql=tuple(f"{table}.{sql}" for sql in term.sql), qualifiers="")
        for name, term in scope.items()
    }
