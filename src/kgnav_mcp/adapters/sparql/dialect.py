"""What a store's SPARQL does otherwise than the standard says, as data. A new store is a value of `Dialect`.

What a store writes is understood whatever it was taken for: errors by their text, row caps and cut answers by their
headers. What it is asked for (formats, time limits, its full-text index) follows from the dialect that is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql.errors import Refusal
from kgnav_mcp.adapters.sparql.results import JSON_TYPE
from kgnav_mcp.errors import KgnavError


def _cut_by_time(status: int, headers: httpx2.Headers) -> bool:
    del headers
    return status == HTTPStatus.PARTIAL_CONTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FullText:
    """An index of the words of texts, and how it is asked. A question is made of words, `every` of them or `some`."""

    matching: str
    """The query for texts `?o` of the relations $kinds that the question $words finds."""
    has: str
    """The query for one name that it finds."""
    word: Callable[[str], str]
    """A word, taken as nothing but a word."""
    beginning: Callable[[str], str | None]
    """The words that begin like one; None for what it cannot ask so."""
    letters: int
    """The fewest letters of such a beginning."""
    every: str
    some: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kind of store. The defaults are the standard's."""

    name: str
    announced: Callable[[httpx2.Headers], bool] = field(default=lambda _: False)
    """Whether the headers of an answer tell that it is such a store."""
    media_type: str = JSON_TYPE
    """The format that it writes fastest."""
    row_cap: str = ""
    """The header that gives its row cap."""
    cut_by_time: Callable[[int, httpx2.Headers], bool] = _cut_by_time
    """Whether an answer with this status and these headers lacks what was not found in time."""
    time_limit: Callable[[float], Mapping[str, str]] = field(default=lambda _: {})
    """The parameters by which it ends a query itself, so that its answer comes within so many seconds."""
    full_text: FullText | None = None
    """The index of words that it may have."""
    listed: int = 200
    """IRIs of one list in a query: what is said of them together stays below the usual limit of 10,000 rows."""
    texts: int = 500
    """Texts of one list in a query."""
    branches: int = 40
    """Branches of one union: the cost of more of them grows faster than their number."""
    counted: int = 200
    """Entities of one query that counts by grouping. Virtuoso, which any store may be, takes gigabytes for 1,000."""
    error: Callable[[Refusal], KgnavError | None] = field(default=lambda _: None)
    """The error that an answer stands for; None where the standard's reading holds."""
    ended: Callable[[Refusal], bool] = field(default=lambda _: False)
    """Whether an answer without results says that the query's time was over."""


_TIME_WAS_OVER: Final = re.compile(r"[Qq]uery (?:timed out|timeout)|due to (?:a )?time-?out")

PLAIN: Final = Dialect(name="plain", ended=lambda refusal: _TIME_WAS_OVER.search(refusal.text) is not None)
"""What is taken for granted of any store."""
