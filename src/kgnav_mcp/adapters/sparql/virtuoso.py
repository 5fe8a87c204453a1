"""Virtuoso's dialect: SQL errors, row caps and partial answers told in headers, a full-text index, faster XML.

| it says | it becomes |
|---|---|
| SQL state S1T00, S1TAT | StoreTimeout |
| estimated time above the endpoint's limit (42000) | StoreTimeout, with both times |
| 37000 (SP030: does not compile), 42001; SR353: too many rows to sort | Unsupported |
| 28000; permission denied | ConfigurationError: user, password or User-Agent |
| 40001 (deadlock) | StoreUnavailable |
| any other state | InvalidStore |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql import queries, xml
from kgnav_mcp.adapters.sparql.dialect import Dialect, FullText
from kgnav_mcp.adapters.sparql.errors import NARROWER, Refusal, forbidden, stopped
from kgnav_mcp.errors import InvalidStore, KgnavError, StoreTimeout, StoreUnavailable, Unsupported

_ROW_CAP = "x-sparql-maxrows"
_STATE = "x-sql-state"
_PARTIAL = "S1TAT"
"""The SQL state of an answer that the time limit cut."""
_TICK = 2.0
"""Seconds between two looks that Virtuoso 7 has at a query: at its time, and at whether its caller is there."""
_REPLY = 0.5
"""Seconds in which the answer to a query that was stopped comes."""


def _time_limit(seconds: float) -> Mapping[str, str]:
    """The time for a query in milliseconds, so that what it has by then comes within the call's.

    A call of less than five seconds leaves half of them to Virtuoso, and may be over before Virtuoso sees it. Virtuoso
    goes on with a count whose caller has left, until this time is over.
    """
    milliseconds = round(1000 * max(seconds - _TICK - _REPLY, seconds / 2))
    return {"timeout": str(max(1, milliseconds))}  # 0 would be no limit


def _announced(headers: httpx2.Headers) -> bool:
    return headers.get("server", "").startswith("Virtuoso") or _ROW_CAP in headers or _STATE in headers


def _cut_by_time(status: int, headers: httpx2.Headers) -> bool:
    """Versions later than 7.2.5 say it by the status as well."""
    return status == HTTPStatus.PARTIAL_CONTENT or headers.get(_STATE) == _PARTIAL


def _error(refusal: Refusal) -> KgnavError | None:
    """The error of a SQL state: in the body, or in a header where the status says that all is well."""
    sql = _SQL_ERROR.match(refusal.text)
    state = refusal.headers.get(_STATE, _PARTIAL)
    if sql is None and state != _PARTIAL:
        sql = _SQL_ERROR.match(f"Virtuoso {state} Error")
    if sql is None:
        return None
    facts = " ".join(filter(None, sql.groups()))
    return next(make(refusal, sql) for pattern, make in _SQL_STATES if pattern.search(facts))


def _too_costly(_: Refusal, sql: re.Match[str]) -> KgnavError:
    numbers = [int(number) for number in re.findall(r"\d+", sql["words"])[:2]]
    estimate, limit = numbers if len(numbers) == 2 else (None, None)
    told = "too long" if estimate is None else f"{estimate:,} s, above its limit of {limit:,} s"
    return StoreTimeout(
        limit, f"the store refused the query: by its own estimate it would take {told}", next_step=NARROWER
    )


def _not_understood(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return Unsupported(
        f"{refusal.endpoint} does not take this query (SQL state {_codes(sql)})",
        next_step="Ask in another way; see whether the adapter fits the endpoint.",
    )


def _too_large(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return Unsupported(f"the query is too large for {refusal.endpoint} (SQL state {_codes(sql)})", next_step=NARROWER)


def _deadlock(refusal: Refusal, _: re.Match[str]) -> KgnavError:
    return StoreUnavailable(f"{refusal.endpoint} is busy with writing", next_step="Ask again.")


def _other(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return InvalidStore(f"{refusal.endpoint} fails on this query (SQL state {_codes(sql)})", next_step=NARROWER)


def _codes(sql: re.Match[str]) -> str:
    return ", ".join(filter(None, (sql["state"], sql["code"])))


_SQL_ERROR = re.compile(
    r"\s*Virtuoso (?P<state>[0-9A-Z]{5}) Error:?\s*(?:(?P<code>[A-Z]{2,5}\d{2,4})\b:?)?\s*(?P<words>[^\n]{0,300})"
)
"""The first line of an error; a query is echoed on later ones."""

_SQL_STATES: tuple[tuple[re.Pattern[str], Callable[[Refusal, re.Match[str]], KgnavError]], ...] = (
    (re.compile(r"^(?:S1T00|S1TAT)|^\w+ SR171"), lambda refusal, _: stopped(refusal.timeout)),
    (re.compile(r"^42000 .*estimated execution time"), _too_costly),
    (re.compile(r"^40001"), _deadlock),
    (re.compile(r"^\w+ SR353|[Tt]oo many arguments"), _too_large),
    (re.compile(r"^(?:37000|42001|42S|S0002)|^\w+ SP03"), _not_understood),
    (re.compile(r"^(?:28000|LI10)|[Pp]ermission|[Aa]ccess (?:is )?denied"), lambda refusal, _: forbidden(refusal)),
    (re.compile(""), _other),
)
"""Errors by SQL state, code and, where these say too little, words; the first that fits."""

_LETTERS = 4


def _beginning(word: str) -> str | None:
    return f'"{word}*"' if word.isascii() and len(word) >= _LETTERS else None


FULL_TEXT: Final = FullText(
    matching=queries.MATCHING,
    has=queries.INDEX_HAS,
    word=lambda word: f'"{word}"',
    beginning=_beginning,
    letters=_LETTERS,
    every=" AND ",
    some=" OR ",
)

VIRTUOSO: Final = Dialect(
    name="virtuoso",
    announced=_announced,
    media_type=xml.TYPE,  # four to six times as fast as JSON
    row_cap=_ROW_CAP,
    cut_by_time=_cut_by_time,
    time_limit=_time_limit,
    full_text=FULL_TEXT,
    listed=500,  # two lists read a page of 1,000 names a tenth to a third faster than one does
    texts=100,  # of some 200 it finds none
    error=_error,
)
