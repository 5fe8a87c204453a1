"""Runs the queries of an open graph, filled with the words of its dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import Builder
from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.adapters.cypher.values import VECTOR_SIZE
from kgnav_mcp.errors import StoreError

Row = list[Any]
T = TypeVar("T")

_SLICE_SIZE = 100
"""Nodes or edges in one row of a result, so that reading a row takes at most 10 ms."""
_EXPRESSIONS_PER_QUERY = 100
"""Expressions evaluated by one query."""
MAX_IDS_PER_QUERY = 2_000
"""The most ids sent with one query: sending them blocks the event loop for some milliseconds."""


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


def batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in batches of `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]
