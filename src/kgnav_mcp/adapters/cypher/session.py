"""Runs the queries of an open graph in the words of its dialect."""

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
"""Nodes or edges in one row of an answer: reading a row takes no longer than 10 ms."""
_EXPRESSIONS_PER_QUERY = 100
"""Expressions that one query asks for."""
IDS_OF_QUERY = 2_000
"""Ids that one query takes: to send them takes some milliseconds, for which the event loop waits."""


class Store(Protocol):
    """A connection to a store: runs queries that only read, and translates the driver's errors."""

    async def rows(self, query: str, parameters: Mapping[str, object]) -> list[Row]:
        """All rows as lists of values.

        Raises:
            StoreError: the query failed, in the words of this product.
        """
        ...


class Session:
    """Fills templates and asks a store. Parameters are those of the template; the usual bounds are always given."""

    def __init__(self, store: Store, dialect: Dialect) -> None:
        self._store = store
        self.dialect = dialect
        self.builder = Builder(dialect)

    async def rows(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: as the store says.
        """
        return await self._store.rows(
            self.builder.fill(template, **(parts or {})), {"vector": VECTOR_SIZE, "slice": _SLICE_SIZE, **parameters}
        )

    async def row(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> Row:
        """The only row of a query."""
        (row,) = await self.rows(template, parts, **parameters)
        return row

    async def items(self, template: str, parts: Mapping[str, str] | None = None, **parameters: object) -> list[Any]:
        """The items of a query that answers in slices, or in one list."""
        return [item for (items,) in await self.rows(template, parts, **parameters) for item in items]

    async def expressions(self, texts: Sequence[str], **parameters: object) -> list[Any]:
        """The values of expressions that stand for themselves, some of them in each query."""
        return [
            value
            for some in batches(texts, _EXPRESSIONS_PER_QUERY)
            for value in await self.items(queries.EXPRESSIONS, {"expressions": ", ".join(some)}, **parameters)
        ]


def closed() -> StoreError:
    """The error for a graph that is not open."""
    return StoreError("this graph is closed")


def batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in pieces of so many."""
    return [items[start : start + size] for start in range(0, len(items), size)]
