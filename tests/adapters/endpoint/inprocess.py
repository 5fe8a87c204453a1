"""An endpoint inside the test, which can be made to run out of time, to cut answers and to know no newer syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyoxigraph

from kgnav_mcp.adapters.endpoint.options import Endpoint
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.results import Answer, read_rows
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.port import AdapterOptions

HERE = "sparql+http://127.0.0.1/sparql#prefix.ex=http://ex.example/"


@dataclass
class InProcess:
    """Answers from Turtle. Queries that match one of `slow` run out of time, those with a text of `refused` fail.

    Of those that match one of `cut` so many rows are there in time, of those that match one of `capped` so many are
    given at all.
    """

    turtle: str
    slow: Sequence[str] = ()
    refused: Sequence[str] = ()
    row_cap: int | None = None
    cut: Mapping[str, int] = field(default_factory=dict[str, int])
    capped: Mapping[str, int] = field(default_factory=dict[str, int])
    queries: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._store = pyoxigraph.Store()
        self._store.load(self.turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)

    async def select(self, query: str) -> Answer:
        self.queries.append(query)
        if any(re.search(text, query) for text in self.slow):
            raise StoreTimeout(1.0)
        if any(text in query for text in self.refused):
            raise Unsupported("no such syntax")
        answer = self._store.query(query)
        assert isinstance(answer, pyoxigraph.QuerySolutions)
        body = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None
        rows = read_rows(body)
        for text, in_time in self.cut.items():
            if re.search(text, query):
                return Answer(rows[:in_time], None, partial=True)
        for text, most in self.capped.items():
            if re.search(text, query):
                return Answer(rows[:most], most)
        cut = self.row_cap is not None and len(rows) > self.row_cap
        return Answer(rows[: self.row_cap] if cut else rows, self.row_cap if cut else None)


async def store_of(client: InProcess) -> Store:
    """What readers share, of an endpoint inside the test."""
    options = AdapterOptions()
    return await Store.opened(client, Endpoint.read(HERE, options), options)
