"""A proxy endpoint between an adapter and its store that spoils one answer of a call."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from pathlib import Path

import httpx2
import pyoxigraph as ox

from tests.adapters.sparql_base.stub import Exchange, Request

JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
_ROW = re.compile(rb"<result>.*?</result>", re.DOTALL)


class Fault(StrEnum):
    """How an answer is spoilt: it times out, it times out after half of its rows, or the row cap cuts half of them."""

    LATE = "late"
    CUT = "cut"
    CAPPED = "capped"


Source = Callable[[Request], Awaitable[tuple[bytes, str]]]
"""Answers a request: the body and its media type."""


class Relay:
    """Passes queries on and counts them. `spoil` chooses one of the next answers to be spoilt.

    With a `row_cap` no answer has more rows. Repeated queries are answered from memory, since nobody writes to the
    store.
    """

    def __init__(self, source: Source) -> None:
        self.queries = 0
        self.row_cap: int | None = None
        self._source = source
        self._answers: dict[tuple[str, str], tuple[bytes, str]] = {}
        self._spoilt: tuple[int, Fault] | None = None

    def spoil(self, place: int, fault: Fault) -> None:
        """Spoil the answer to the query at this place, counted from now on."""
        self._spoilt = self.queries + place, fault

    def mend(self) -> None:
        self._spoilt = self.row_cap = None

    async def __call__(self, exchange: Exchange) -> None:
        number, self.queries = self.queries, self.queries + 1
        fault = self._spoilt[1] if self._spoilt and self._spoilt[0] == number else None
        if fault is Fault.LATE:
            await exchange.answer("", status="504 Gateway Timeout", kind="text/plain")
            return
        body, kind = await self._answer(exchange.request)
        if fault is Fault.CUT:
            body, _ = _first(body, kind, lambda rows: rows // 2)
            await exchange.answer(body, "X-SQL-State: S1TAT", kind=kind)
        elif self.row_cap or fault is Fault.CAPPED:
            body, left = _first(body, kind, lambda rows: self.row_cap or max(rows // 2, 1))
            await exchange.answer(body, f"X-SPARQL-MaxRows: {left}", kind=kind)
        else:
            await exchange.answer(body, kind=kind)

    async def _answer(self, request: Request) -> tuple[bytes, str]:
        asked = request.body, request.headers["accept"]
        if asked not in self._answers:
            self._answers[asked] = await self._source(request)
        return self._answers[asked]


def _first(body: bytes, kind: str, most: Callable[[int], int]) -> tuple[bytes, int]:
    """A result truncated to the number of rows that `most` allows, and that number."""
    if kind.startswith(XML):
        found = list(_ROW.finditer(body))
        left = most(len(found))
        return (body[: found[left].start()] + body[found[-1].end() :] if found[left:] else body), left
    result = json.loads(body)
    rows = result.get("results", {}).get("bindings", [])
    left = most(len(rows))
    del rows[left:]
    return json.dumps(result).encode(), left


def in_process(files: Iterable[Path]) -> Source:
    """An in-process store with the content of files."""
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
    """A running store at a URL."""

    async def answer(request: Request) -> tuple[bytes, str]:
        headers = {name: request.headers[name] for name in ("accept", "content-type")}
        async with httpx2.AsyncClient(timeout=60, verify=False) as client:
            reply = await client.post(url, content=request.body, headers=headers)
        assert reply.status_code == 200, reply.text[:300]
        return reply.content, reply.headers["content-type"]

    return answer
