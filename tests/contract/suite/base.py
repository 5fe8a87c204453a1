"""The base of all contract classes: an open adapter over the toy graph, and what it must see there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from itertools import chain, repeat
from typing import ClassVar, TypeVar

import pytest

from kgnav_mcp.model import Page, RelationFacts
from kgnav_mcp.port import AdapterOptions, Capability, GraphAdapter
from tests.contract.toy_views import Style, View, view

T = TypeVar("T")

ALL = 10_000
"""A limit that no list of the toy graph reaches."""
PATIENCE_S = 120


class ToyContract:
    """Base of all classes that see the toy graph, which a concrete class loads."""

    pytestmark = pytest.mark.asyncio(loop_scope="class")

    style: ClassVar[Style]
    """How the store writes the ids and values of the toy graph."""

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls) -> str:
        """The location of the toy graph."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls) -> View:
        """The expected content of this store."""
        return view(cls.style)


class AdapterContract(ToyContract):
    """Base of the contract classes. A concrete class names the entry points that it covers, and loads the toy graph.

    Tests check capabilities, never adapter names: a declared one must work, any other must raise Unsupported.
    """

    schemes: ClassVar[frozenset[str]]
    """The entry points of `kgnav.adapters` that this class covers."""

    row_by_row: ClassVar[int] = 3
    """With pages of one row, how many rows are read one by one. The rest is read in one page."""

    @pytest.fixture(scope="class")
    @classmethod
    def options(cls) -> AdapterOptions:
        """The options of the adapter, with time-outs long enough for a busy machine."""
        return AdapterOptions(timeout=PATIENCE_S)

    async def walked(self, read: Callable[[int, str | None], Awaitable[Page[T]]], size: int) -> list[T]:
        """All items of a list, read in pages of this size. `read` takes a limit and a position."""
        sizes = chain(repeat(1, self.row_by_row), repeat(ALL)) if size == 1 else repeat(size)
        return await every(lambda after: read(next(sizes), after))


def without_examples(facts: Iterable[RelationFacts]) -> list[RelationFacts]:
    """Relations without their examples, which a store without a stable order chooses anew for each request."""
    return [replace(fact, examples=()) for fact in facts]


def has(adapter: GraphAdapter, capability: Capability) -> bool:
    return capability in adapter.capabilities


async def every(read: Callable[[str | None], Awaitable[Page[T]]], pages: int = 2_000) -> list[T]:
    """All items of a paged list, read from position to position."""
    items: list[T] = []
    after: str | None = None
    for _ in range(pages):
        page = await read(after)
        assert len(page.items) == len(page.positions)
        items += page.items
        if page.stop == "complete":
            return items
        assert page.items, "a page that is not the last one has items"
        after = page.positions[-1]
    raise AssertionError("the list has no end")
