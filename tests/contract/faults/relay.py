"""An endpoint between an adapter and its store that spoils one answer of a call."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from pathlib import Path

import httpx2
import pyoxigraph as ox

from tests.adapters.sparql.stub import Exchange, Request

JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
_ROW = re.compile(rb"<result>.*?</result>", re.DOTALL)


class Fault(StrEnum):
    """How an answer is spoilt: it does not come in time, or half of its rows do."""

    LATE = "late"
    CUT = "cut"


Source = Callable[[Request], Awaitable[tuple[bytes, str]]]
"""Answers a request: the body and its media type."""


class Relay:
    """Passes queries on and counts them; `spoil` says which of the following ones goes wrong."""

    def __init__(self, source: Source) -> None:
        self.queries = 0
        self._source = source
        self._spoilt: tuple[int, Fault] | None = None

    def spoil(self, place: int, fault: Fault) -> None:
        """Of the queries from now on, spoil the answer to the one in this place."""
        self._spoilt = self.queries + place, fault

    def mend(self) -> None:
        self._spoilt = None

    async def __call__(self, exchange: Exchange) -> None:
        number, self.queries = self.queries, self.queries + 1
        fault = self._spoilt[1] if self._spoilt and self._spoilt[0] == number else None
        if fault is Fault.LATE:
            await exchange.answer("", status="504 Gateway Timeout", kind="text/plain")
            return
        body, kind = await self._source(exchange.request)
        if fault is Fault.CUT:
            await exchange.answer(_half(body, kind), "X-SQL-State: S1TAT", kind=kind)
        else:
            await exchange.answer(body, kind=kind)


def _half(body: bytes, kind: str) -> bytes:
    """A result with the first half of its rows; of a single one nothing is left."""
    if kind.startswith(XML):
        rows = list(_ROW.finditer(body))
        return body[: rows[len(rows) // 2].start()] + body[rows[-1].end() :] if rows else body
    result = json.loads(body)
    if "results" in result:
        rows = result["results"]["bindings"]
        del rows[len(rows) // 2 :]
    return json.dumps(result).encode()


def in_process(files: Iterable[Path]) -> Source:
    """A store within the test, with files in it."""
    store = ox.Store()
    for file in files:
        store.bulk_load(path=str(file))

    async def answer(request: Request) -> tuple[bytes, str]:
        (query,) = request.form["query"]
        kind = XML if request.headers["accept"].startswith(XML) else JSON
        result = store.query(query)
        assert not isinstance(result, ox.QueryTriples)
        form = ox.QueryResultsFormat.XML if kind == XML else ox.QueryResultsFormat.JSON
        body = result.serialize(format=form)
        assert body is not None
        return body, kind

    return answer


def live(url: str) -> Source:
    """A store that runs."""

    async def answer(request: Request) -> tuple[bytes, str]:
        headers = {name: request.headers[name] for name in ("accept", "content-type")}
        async with httpx2.AsyncClient(timeout=60, verify=False) as client:
            reply = await client.post(url, content=request.body, headers=headers)
        assert reply.status_code == 200, reply.text[:300]
        return reply.content, reply.headers["content-type"]

    return answer
