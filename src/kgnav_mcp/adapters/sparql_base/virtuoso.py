"""Virtuoso's dialect: SQL errors, headers for row caps and partial answers, a full-text index, faster XML.

| SQL state or message | error |
|---|---|
| SQL state S1T00, S1TAT | StoreTimeout |
| estimated time above the endpoint's limit (42000) | StoreTimeout, with both times |
| 37000 (SP030: does not compile), 42001; SR353: too many rows to sort | Unsupported |
| 28000; permission denied | ConfigurationError: user, password or User-Agent |
| 40001, SR172 (deadlock) | Deadlocked, after a second attempt |
| any other SQL state | InvalidStore |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql_base import queries, results
from kgnav_mcp.adapters.sparql_base.dialect import Dialect, FullText
from kgnav_mcp.adapters.sparql_base.errors import NARROWER, Deadlocked, Refusal, forbidden, stopped_by_store
from kgnav_mcp.errors import InvalidStore, KgnavError, StoreTimeout, Unsupported

_ROW_CAP = "x-sparql-maxrows"
_STATE, _MESSAGE = "x-sql-state", "x-sql-message"
_PARTIAL = "S1TAT"
"""The SQL state of an answer cut by the time limit."""
_CHECK_SECONDS = 2.0
"""Seconds between two checks of a running query by Virtuoso 7: of its time limit, and of whether its caller left."""
_REPLY_SECONDS = 0.5
"""Seconds until the answer to a stopped query arrives."""


def _time_limit(seconds: float) -> Mapping[str, str]:
    """The time limit for a query in milliseconds, such that its partial answer arrives within the call's time.

    A call of less than five seconds leaves half of them to Virtuoso, and may be over before Virtuoso checks. Virtuoso
    continues with a count after its caller has left, until this time limit.
    """
    milliseconds = round(1000 * max(seconds - _CHECK_SECONDS - _REPLY_SECONDS, seconds / 2))
    return {"timeout": str(max(1, milliseconds))}  # 0 would be no limit


def _announced(headers: httpx2.Headers) -> bool:
    return headers.get("server", "").startswith("Virtuoso") or _ROW_CAP in headers or _STATE in headers


def _cut_by_time(status: int, headers: httpx2.Headers) -> bool:
    """Whether the time limit cut the answer. Versions later than 7.2.5 also say so by the status."""
    return status == HTTPStatus.PARTIAL_CONTENT or headers.get(_STATE) == _PARTIAL


def _error(refusal: Refusal) -> KgnavError | None:
    """The error for a SQL state, which is in the body, or in a header of an answer with a good status.

    A deadlock in such an answer, of which rows may be missing, has the state of success: only its message tells.
    """
    sql = _SQL_ERROR.match(refusal.text)
    state = refusal.headers.get(_STATE, _PARTIAL)
    if sql is None and state != _PARTIAL:
        sql = _SQL_ERROR.match(f"Virtuoso {state} Error {refusal.headers.get(_MESSAGE, '')}")
    if sql is None:
        return None
    facts = " ".join(filter(None, sql.groups()))
    return next(make_error(refusal, sql) for pattern, make_error in _SQL_STATES if pattern.search(facts))


def _too_costly(_: Refusal, sql: re.Match[str]) -> KgnavError:
    numbers = [int(number) for number in re.findall(r"\d+", sql["words"])[:2]]
    estimate, limit = numbers if len(numbers) == 2 else (None, None)
    duration = "too long" if estimate is None else f"{estimate:,} s, above its limit of {limit:,} s"
    return StoreTimeout(
        limit, f"the store rejected the query, because by its estimate it would take {duration}", next_step=NARROWER
    )


def _not_understood(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return Unsupported(
        f"{refusal.endpoint} rejects this query (SQL state {_codes(sql)})",
        next_step="Change the call, or check that the URL scheme matches the kind of endpoint.",
    )


def _too_large(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return Unsupported(f"the query is too large for {refusal.endpoint} (SQL state {_codes(sql)})", next_step=NARROWER)


def _deadlock(refusal: Refusal, _: re.Match[str]) -> KgnavError:
    return Deadlocked(
        f"{refusal.endpoint} is busy: this query and others waited for each other", next_step="Try again."
    )


def _other(refusal: Refusal, sql: re.Match[str]) -> KgnavError:
    return InvalidStore(f"{refusal.endpoint} fails on this query (SQL state {_codes(sql)})", next_step=NARROWER)


def _codes(sql: re.Match[str]) -> str:
    return ", ".join(filter(None, (sql["state"], sql["code"])))


_SQL_ERROR = re.compile(
    r"\s*Virtuoso (?P<state>[0-9A-Z]{5}) Error:?\s*(?:(?P<code>[A-Z]{2,5}\d{2,4})\b:?)?\s*(?P<words>[^\n]{0,300})"
)
"""The first line of an error; later lines echo the query."""

_SQL_STATES: tuple[tuple[re.Pattern[str], Callable[[Refusal, re.Match[str]], KgnavError]], ...] = (
    (re.compile(r"^(?:S1T00|S1TAT)|^\w+ SR171"), lambda refusal, _: stopped_by_store(refusal.timeout)),
    (re.compile(r"^42000 .*estimated execution time"), _too_costly),
    (re.compile(r"^40001|^\w+ SR172"), _deadlock),
    (re.compile(r"^\w+ SR353|[Tt]oo many arguments"), _too_large),
    (re.compile(r"^(?:37000|42001|42S|S0002)|^\w+ SP03"), _not_understood),
    (re.compile(r"^(?:28000|LI10)|[Pp]ermission|[Aa]ccess (?:is )?denied"), lambda refusal, _: forbidden(refusal)),
    (re.compile(""), _other),
)
"""Errors by SQL state and code, and by words where these are not specific enough. The first match counts."""

_LETTERS = 4


def _beginning(word: str) -> str | None:
    return f'"{word}*"' if word.isascii() and len(word) >= _LETTERS else None


FULL_TEXT: Final = FullText(
    matching=queries.MATCHING,
    probe=queries.INDEX_HAS,
    word=lambda word: f'"{word}"',
    prefix_query=_beginning,
    min_prefix_letters=_LETTERS,
    and_separator=" AND ",
    or_separator=" OR ",
)

_SYSTEM_GRAPH: Final = re.compile(
    r"http://www\.openlinksw\.com/|http://localuriqaserver/|http://localhost(?::\d+)?/(?:DAV/|sparql$)|b3s|urn:(?:rules\.|"
    r"activitystreams-owl:|core:services:|virtuoso:)|http://www\.w3\.org/(?:ns/ldp#|2002/07/owl#)$"
)
"""Graphs that an installation or an extension of Virtuoso creates. A graph of data may end in /DAV, without a slash."""

VIRTUOSO: Final = Dialect(
    name="virtuoso",
    title="Virtuoso",
    announced=_announced,
    stable_order=True,
    # Seen in version 7.2.5 once its memory for queries is short: two pages of a list had the same 10,000 rows.
    stable_distinct=False,
    merges_graphs=False,  # seen in version 7.2.5
    reads_all_graphs=True,
    is_system_graph=lambda graph: _SYSTEM_GRAPH.match(graph) is not None,
    # Version 7.2.5 takes the EXISTS for true, and NOT EXISTS as well: 639 rows for 77 on a graph of 150 nodes.
    nests_unions=False,
    # Version 7.2.5 loses a value where three are read: 1 of 21 rows of (:A)-[:T]->(:B) on a graph of 150 nodes.
    max_optionals=2,
    paths_need_constant=True,  # seen in version 7.2.5: a node that has no edge reached another one 146 times
    # Of a graph that it knew as empty it keeps statistics after a load, and reads 300,000 rows for 100 triples.
    in_written_order='DEFINE sql:select-option "order" ',
    lists_first=True,  # for the same reason
    counts_fast=True,  # a million nodes in 1.1 s, and compares their values in 26 s
    takes_large_integers=False,
    omits_ones=True,
    types_texts=True,
    repeats_texts=True,
    unusual_number=queries.NOT_NUMERIC_OR_ROUNDED,
    max_sorted=10_000,  # MaxSortedTopRows: beyond it a query is refused
    media_type=results.XML_TYPE,  # four to six times as fast as JSON
    row_cap=_ROW_CAP,
    cut_by_time=_cut_by_time,
    time_limit=_time_limit,
    max_matches=None,
    full_text=FULL_TEXT,
    max_iris=500,  # two lists read a page of 1,000 names 10 to 33 % faster than one list
    max_texts=100,  # with some 200 texts it finds nothing
    error=_error,
)
