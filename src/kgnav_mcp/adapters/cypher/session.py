"""Builds queries from templates, filled with the expressions of a dialect and with names, and runs them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache
from typing import Any, Protocol

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.dialect import VECTOR_SIZE, Dialect
from kgnav_mcp.errors import StoreError, Unsupported
from kgnav_mcp.model import Direction
from kgnav_mcp.port.lists import batches

_PLACE = re.compile(r"\{(\w+)(?:\((?:([\w\[\]]+)|\{(\w+)\})\))?\}")


def quoted(name: str) -> str:
    """A label, relationship type or property key, quoted in backticks as Cypher needs it."""
    return "`" + name.replace("`", "``") + "`"


def labelled(name: str | None) -> str:
    """A label or type as written after a variable (`` :`Film` ``); empty for None."""
    return "" if name is None else f":{quoted(name)}"


def edge(direction: Direction, types: Iterable[str] | None = None, variable: str = "r") -> str:
    """The edge part of a pattern, of some types or any, in a direction seen from the node written before it."""
    inner = variable + (":" + "|".join(map(quoted, types)) if types is not None else "")
    return f"-[{inner}]->" if direction is Direction.OUTGOING else f"<-[{inner}]-"


class Builder:
    """Fills templates with the expressions of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        texts = {each.name: getattr(dialect, each.name) for each in fields(dialect)}
        self._known: dict[str, str] = {name: text for name, text in texts.items() if isinstance(text, str)}
        for name, template in queries.PARTS.items():
            with suppress(Unsupported):  # raised where a query needs the part
                self._known[name] = self._fill(template)
        self.fill = lru_cache(1_000)(self._fill)

    def _fill(self, template: str, **parts: str) -> str:
        """The template with its placeholders filled. A part that takes an argument has `{x}` where it goes.

        Raises:
            Unsupported: the dialect does not have a construct that the template needs.
        """
        known = {**self._known, **parts}

        def part(place: re.Match[str]) -> str:
            name, argument, argument_part = place.groups()
            if name not in known and (name in queries.PARTS or hasattr(self.dialect, name)):
                raise self._missing(name)
            argument = known[argument_part] if argument_part is not None else argument
            return known[name] if argument is None else known[name].replace("{x}", argument)

        return _PLACE.sub(part, template)

    def node_id(self, variable: str) -> str:
        """The expression for the store's own id of a node."""
        return self.dialect.node_id.replace("{x}", variable)

    def degree(self, direction: Direction, types: Sequence[str] | None = None) -> str:
        """The expression for the number of edges of some types, or of all, at `n`."""
        kinds = [None] if types is None else [[name] for name in types]
        return " + ".join(self.construct("degree", edge=edge(direction, kind, "")) for kind in kinds) or "0"

    def degrees(self, direction: Direction, types: Sequence[str]) -> str:
        """The list of the numbers of edges of each type at `n`, in the order of the types."""
        return f"[{', '.join(self.degree(direction, [name]) for name in types)}]"

    def subquery(self, variables: str, template: str, **parts: str) -> str:
        """A subquery that is run for each row and may use these variables of it."""
        return self.construct("subquery", variables=variables, query=self.fill(template, **parts))

    def collected(self, template: str, **parts: str) -> str:
        """An expression for the only column of a query, as a list."""
        return self.construct("collected", query=self.fill(template, **parts))

    def construct(self, name: str, **parts: str) -> str:
        """A construct of the dialect, by the name of its field, with its placeholders filled.

        Raises:
            Unsupported: the dialect does not have it.
        """
        template: str | None = getattr(self.dialect, name)
        if template is None:
            raise self._missing(name)
        return self.fill(template, **parts)

    def _missing(self, name: str) -> Unsupported:
        return Unsupported(f"{self.dialect.store} has no construct for {name.replace('_', ' ')}")


Row = list[Any]

_SLICE_SIZE = 100
"""Nodes or edges in one row of a result, so that reading a row takes at most 10 ms."""
_EXPRESSIONS_PER_QUERY = 100
"""Expressions evaluated by one query."""
MAX_IDS_PER_QUERY = 2_000
"""Maximum number of ids sent with one query: sending them blocks the event loop for some milliseconds."""


class Store(Protocol):
    """A connection to a store: runs queries that only read, and translates the driver's errors."""

    async def rows(self, query: str, parameters: Mapping[str, object]) -> list[Row]:
        """All rows as lists of values.

        Raises:
            StoreError: the query failed. Errors of the driver are translated.
        """
        ...


class Session:
    """Fills templates and runs them. Keyword arguments are the parameters of the query, without the `$`.

    The parameters `$vector` and `$slice` are always given.
    """

    def __init__(self, store: Store, dialect: Dialect) -> None:
        self._store = store
        self.dialect = dialect
        self.builder = Builder(dialect)

    async def rows(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: the query fails.
        """
        return await self._store.rows(
            self.builder.fill(template, **(parts or {})), {"vector": VECTOR_SIZE, "slice": _SLICE_SIZE, **parameters}
        )

    async def row(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> Row:
        """The only row of a query."""
        (row,) = await self.rows(template, parts, **parameters)
        return row

    async def items(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> list[Any]:
        """The items of a query whose rows are lists of items (slices of one long list)."""
        return [item for (items,) in await self.rows(template, parts, **parameters) for item in items]

    async def expressions(self, texts: Sequence[str], **parameters: object) -> list[Any]:
        """The values of independent expressions, evaluated in batches."""
        return [
            value
            for batch in batches(texts, _EXPRESSIONS_PER_QUERY)
            for value in await self.items(queries.EXPRESSIONS, {"expressions": ", ".join(batch)}, **parameters)
        ]


def closed() -> StoreError:
    """The error for a graph that is not open."""
    return StoreError("this graph is closed")
