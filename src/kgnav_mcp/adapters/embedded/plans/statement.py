"""A query under construction: its parameters, aliases, tables and terms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.errors import Unsupported

_MAX_LENGTH = 60_000
"""Characters of a query, at most. SQLite accepts 64 KiB."""

_PARAMETER = re.compile(r"\?([0-9]+)")


def unsupported(what: str) -> Unsupported:
    """Returns the error for a part of a plan that SQL cannot express."""
    return Unsupported(f"a graph file does not run {what} as one query", next_step="It is evaluated instead.")


class TermKind(StrEnum):
    """What an SQL expression represents."""

    NODE = "node"
    EDGE = "edge"
    HIDDEN = "hidden"
    """A path that the query does not use."""
    PATH_OR_LIST = "things"
    """A path, or a list of nodes or edges, in the JSON of `things`."""
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    """1, 0 or null."""
    VALUE = "value"
    """Any single value or a list of values, as `encoding` encodes them."""
    DATED = "dated"
    """A single value whose encoding keeps dates distinct from texts. Only used within comparisons."""


SINGLE = frozenset((TermKind.NUMBER, TermKind.TEXT, TermKind.TRUTH, TermKind.VALUE))
"""Kinds that take one SQL expression and can be passed to Python functions."""


@dataclass(frozen=True, slots=True)
class Term:
    """A value in SQL: one expression, or for an edge the four columns of its key. A node is given by its number."""

    kind: TermKind
    sql: tuple[str, ...]
    qualifiers: str = ""
    """For an edge: the SQL of its qualifiers' JSON, if it is at hand."""
    may_be_date: bool = False
    """Whether it may be a date or a text that looks like one. Dates compare with both by their precision."""
    never_list: bool = False
    """Whether a VALUE is certainly not a list."""
    of_property: bool = False
    """Whether a list, or a member of it, may be the values of a property, which have a rule of their own."""
    never_null: bool = False
    """Whether it is certainly not null."""

    @property
    def one(self) -> str:
        """The expression, or the first of an edge's four. It is null if the edge is."""
        return self.sql[0]


NULL = Term(TermKind.VALUE, ("NULL",))
Scope = Mapping[str, Term]
"""The terms of variables."""


@dataclass(slots=True)
class Statement:
    """A query under construction."""

    parameters: list[Parameter] = field(default_factory=list[Parameter])
    tables: list[str] = field(default_factory=list[str])
    read_once: set[str] = field(default_factory=set[str])
    """Tables that may be read by only one other table."""
    _aliases: int = 0

    def parameter(self, value: Parameter) -> str:
        """Adds a parameter, unless it has the same value as an earlier one, and returns its placeholder."""
        for place, known in enumerate(self.parameters):
            if type(known) is type(value) and known == value:
                return f"?{place + 1}"
        self.parameters.append(value)
        return f"?{len(self.parameters)}"

    def numbers(self, values: Iterable[object]) -> str:
        """Adds a parameter with a JSON list of values and returns its placeholder."""
        return self.parameter(json.dumps(list(values)))

    def among(self, value: str, values: Sequence[Parameter]) -> str:
        """Returns the SQL test that a value is one of these."""
        if len(values) == 1:
            return pieces.EQUAL.format(value=value, other=self.parameter(values[0]))
        return pieces.AMONG.format(value=value, values=self.numbers(values))

    def alias(self, letter: str) -> str:
        """Returns a new alias."""
        self._aliases += 1
        return f"{letter}{self._aliases}"

    def table(self, query: str, *, read_once: bool = False) -> str:
        """Adds a common table expression and returns its name.

        With `read_once`, SQLite may merge it into the query that reads it. Otherwise all its rows are computed exactly
        once, whichever page is shown, so that a value that ends the query does so on every page.
        """
        name = self.alias("t")
        if read_once:
            self.read_once.add(name)
        self.tables.append(f"{name} AS {'NOT ' if read_once else ''}MATERIALIZED ({query})")
        return name

    def text(self, query: str) -> tuple[str, list[Parameter]]:
        """Returns the complete query and the values of its parameters.

        Raises:
            Unsupported: the query is too long.
        """
        text = f"WITH {', '.join(self.tables)} {query}" if self.tables else query
        if len(text) > _MAX_LENGTH:
            raise unsupported("a plan of so many alternatives")
        used = max((int(number) for number in _PARAMETER.findall(text)), default=0)
        return text, self.parameters[:used]


def columns(scope: Scope) -> tuple[list[str], dict[str, Term]]:
    """Returns the SELECT list that passes variables on, and their terms as columns of the result."""
    selected: list[str] = []
    result: dict[str, Term] = {}
    for name, term in scope.items():
        names = [f"c{len(selected) + place}" for place in range(len(term.sql))]
        selected += (f"{sql} AS {column}" for sql, column in zip(term.sql, names, strict=True))
        result[name] = replace(term, sql=tuple(names), qualifiers="")
    return selected, result


def within(scope: Scope, table: str) -> dict[str, Term]:
    """Returns the terms of variables as columns of this table."""
    return {
        name: replace(term, sql=tuple(f"{table}.{sql}" for sql in term.sql), qualifiers="")
        for name, term in scope.items()
    }
