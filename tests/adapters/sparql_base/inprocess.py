"""A store inside the test, which can be made to run out of time, to cut answers and to know no newer syntax."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pyoxigraph
from rdflib import Literal

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.dialects import OXIGRAPH
from kgnav_mcp.adapters.sparql_base.results import Answer, Term, read_rows
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.port import AdapterOptions, GraphAdapter

Row = Mapping[str, Term]
Told = tuple[str, Sequence[Row]]
"""The pattern of some queries, and the rows that answer them."""
ALL_ROWS = 1_000_000
"""So many rows are there in time: all of an answer that is cut nevertheless."""


@dataclass
class InProcess:
    """Answers from Turtle, or the first pattern of `answers` that a query has by its rows.

    Queries that match one of `slow` run out of time, those with a text of `refused` fail. Of those that match one of
    `cut` so many rows are there in time, of those that match one of `capped` so many are given at all.
    """

    turtle: str
    slow: Sequence[str] = ()
    refused: Sequence[str] = ()
    row_cap: int | None = None
    cut: Mapping[str, int] = field(default_factory=dict[str, int])
    capped: Mapping[str, int] = field(default_factory=dict[str, int])
    answers: Sequence[Told] = ()
    empty_groups: bool = False
    """Whether a grouped query that matches nothing is answered by one row without a key, as Corese does."""
    queries: list[str] = field(default_factory=list[str])
    dialect: Dialect = OXIGRAPH

    def __post_init__(self) -> None:
        self._store = pyoxigraph.Store()
        self._store.load(self.turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)

    async def detect(self) -> Dialect:
        return self.dialect

    async def select(self, query: str, **_: object) -> Answer:
        self.queries.append(query)
        if any(re.search(text, query) for text in self.slow):
            raise StoreTimeout(1.0)
        if any(text in query for text in self.refused):
            raise Unsupported("no such syntax")
        rows = self._rows(query)
        if self.empty_groups and not rows and "GROUP BY" in query:
            rows = ({"n": Literal(0)},)
        for text, in_time in self.cut.items():
            if re.search(text, query):
                return Answer(rows[:in_time], None, partial=True)
        for text, most in self.capped.items():
            if re.search(text, query):
                return Answer(rows[:most], most)
        cut = self.row_cap is not None and len(rows) > self.row_cap
        return Answer(rows[: self.row_cap] if cut else rows, self.row_cap if cut else None)

    def _rows(self, query: str) -> tuple[Row, ...]:
        for text, rows in self.answers:
            if re.search(text, query):
                return tuple(rows)
        # Virtuoso's full-text predicate is in no triple: whoever probes for an index finds none.
        answer = self._store.query(query, prefixes={"bif": "bif:"})
        assert isinstance(answer, pyoxigraph.QuerySolutions)
        body = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None
        return read_rows(body)

    def mend(self) -> None:
        """From now on, answer in time and in full."""
        self.slow, self.cut, self.capped = (), {}, {}

    async def close(self) -> None:
        """There is no connection."""


@asynccontextmanager
async def opened_over(client: InProcess, location: str, **extra: object) -> AsyncGenerator[GraphAdapter]:
    """The adapter of a location, open, with a store inside the test in place of its connection."""

    async def connect() -> InProcess:
        return client

    graph = open_adapter(location, AdapterOptions(extra=extra))
    vars(graph)["_connect"] = connect
    async with graph:
        yield graph
