"""What each contract of a spoilt store stands on: a small graph behind queries that a test can cut by their pattern."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest

from kgnav_mcp.adapters.generic_sparql import catalogue
from kgnav_mcp.adapters.paging import counts
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Page, Stop
from kgnav_mcp.port import GraphAdapter
from tests.adapters.sparql_base.clock import Clock, timed
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract.faults.people import Notation, Person

WITH_NAMES = r"VALUES \?o .*LIMIT 1000$"
"""The names that equal a text."""
SCAN = "LCASE"
"""The names that equal a text but for letter case."""
OF_TYPES = r"SELECT DISTINCT \?s WHERE \{ VALUES \?s"
"""Which of some entities have a type."""
NODE_COUNT = r"COUNT.*DISTINCT \?s"
"""The size of a list of nodes."""


class SpoiltStore:
    """Base of the contracts. A concrete class says how its adapter writes, and which queries it sends."""

    notation: ClassVar[Notation]
    person = "Person"

    type_counts: ClassVar[str]
    """How many entities have each type."""
    value_count: ClassVar[str]
    """The size of a list of values."""
    does_without: ClassVar[bool] = True
    """Whether examples and details that take too long are left out. Otherwise the whole call is a time-out."""
    empty_pages: ClassVar[bool] = True
    """Whether a list of which nothing was read in time is an empty page. Otherwise it is a time-out."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Clock:
        """The clock by which counts and a part of a catalogue are kept."""
        clock = Clock()
        for module in (counts, catalogue):
            monkeypatch.setattr(module, "TTLCache", timed(clock))
        return clock

    @asynccontextmanager
    async def opened(
        self, people: Sequence[Person], more: str = "", **faults: Any
    ) -> AsyncGenerator[tuple[GraphAdapter, InProcess]]:
        """An open graph of people and `more`, and the store behind it, which has faults."""
        store = InProcess(self.notation.written(people) + more, **faults)
        async with opened_over(store, self.notation.location) as graph:
            yield graph, store

    def ids(self, numbers: Sequence[int]) -> list[str]:
        return [self.notation.node(number) for number in numbers]

    async def nothing_in_time(self, asked: Awaitable[Page[Any]]) -> None:
        """Check that a list of which nothing was read in time is not said to be empty."""
        if self.empty_pages:
            page = await asked
            assert (page.items, page.total, page.stop) == ((), Count.at_least(0), Stop.TIME_OUT)
        else:
            with pytest.raises(StoreTimeout, match="stopped the query"):
                await asked
