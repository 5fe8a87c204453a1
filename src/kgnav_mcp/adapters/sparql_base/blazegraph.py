"""Blazegraph's dialect: a time limit, and cancelling by the id of a query.

Blazegraph 2.1 computes on when its caller has left, and has no time limit unless a query has one. Nothing in its
headers identifies it; but it takes triples with its query hints out of a query, and any other store looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kgnav_mcp.adapters.sparql_base.dialect import Cancellation, Dialect
from kgnav_mcp.adapters.sparql_base.queries import BLAZEGRAPH_PROBE, BLAZEGRAPH_QUERY_ID

_FIRST_PATTERN: Final = re.compile(r"\{(?!\s*SELECT\b)", re.IGNORECASE)
"""Where the first group graph pattern begins. A group that is a sub-query cannot have a triple beside it."""
_JAVA_TIMEOUT: Final = re.compile(r"TimeoutException|QueryTimeout|QueryInterruptedException")


def _time_limit(seconds: float) -> Mapping[str, str]:
    return {"maxQueryTimeMillis": str(max(1, round(1000 * seconds)))}


def _with_id(query: str, query_id: str) -> str:
    """Add the hint that gives a query its id. The parameter `queryId` is ignored by version 2.1.4."""
    return _FIRST_PATTERN.sub(lambda _: "{ " + BLAZEGRAPH_QUERY_ID.replace("$id", f'"{query_id}"'), query, count=1)


def _cancel(query_id: str) -> Mapping[str, str]:
    return {"cancelQuery": "", "queryId": query_id}


BLAZEGRAPH: Final = Dialect(
    name="blazegraph",
    title="Blazegraph",
    probe=BLAZEGRAPH_PROBE,
    time_limit=_time_limit,
    max_matches=None,
    # Version 2.1.4 takes the inner one for false: `FILTER(!EXISTS { ... FILTER EXISTS { ... } })` is always true.
    nests_exists=False,
    cancellation=Cancellation(with_id=_with_id, request=_cancel),
    # It may append its stack trace to rows already sent, under a good status.
    says_timed_out=lambda refusal: _JAVA_TIMEOUT.search(refusal.text) is not None,
)
