"""The known dialects, and how one is detected from an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql_base import errors, queries
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Cancellation, Dialect
from kgnav_mcp.adapters.sparql_base.errors import Refusal
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import KgnavError

_FIRST_PATTERN: Final = re.compile(r"\{(?!\s*SELECT\b)", re.IGNORECASE)
"""Where the first group graph pattern begins. A group that is a sub-query cannot have a triple beside it."""
_CANCELLED: Final = "SPARQL operation has been cancelled"
_JAVA_TIMEOUT: Final = re.compile(r"TimeoutException|QueryTimeout|QueryInterruptedException")


def _time_limit(seconds: float) -> Mapping[str, str]:
    return {"maxQueryTimeMillis": str(max(1, round(1000 * seconds)))}


def _with_id(query: str, query_id: str) -> str:
    """Add the hint that gives a query its id. The parameter `queryId` is ignored by version 2.1.4."""
    return _FIRST_PATTERN.sub(
        lambda _: "{ " + queries.BLAZEGRAPH_QUERY_ID.replace("$id", f'"{query_id}"'), query, count=1
    )


def _cancel(query_id: str) -> Mapping[str, str]:
    return {"cancelQuery": "", "queryId": query_id}


BLAZEGRAPH: Final = Dialect(
    name="blazegraph",
    title="Blazegraph",
    probe=queries.BLAZEGRAPH_PROBE,
    time_limit=_time_limit,
    max_matches=None,
    # Version 2.1.4 takes the inner one for false: `FILTER(!EXISTS { ... FILTER EXISTS { ... } })` is always true.
    nests_exists=False,
    cancellation=Cancellation(with_id=_with_id, request=_cancel),
    # It may append its stack trace to rows already sent, under a good status.
    says_timed_out=lambda refusal: _JAVA_TIMEOUT.search(refusal.text) is not None,
)


_FAILED: Final = re.compile(r'\A\s*\{(?=.*"status"\s*:\s*"ERROR").*"exception"\s*:', re.DOTALL)


def _whole_seconds(seconds: float) -> Mapping[str, str]:
    """The time limit in whole seconds: Fuseki ignores any other number."""
    return {"timeout": str(max(1, ceil(seconds)))}


OXIGRAPH: Final = Dialect(
    name="oxigraph",
    title="Oxigraph",
    announced=lambda headers: headers.get("server", "").lower().startswith("oxigraph"),
    stable_order=True,
    merges_graphs=False,  # seen in version 0.5
    repeats_literals=True,
    repeats_texts=True,
    # Version 0.5 joins all nodes of a label for each match of the pattern outside: 40 times slower with 1,000 nodes.
    joins_from_outside=False,
    reaches_cycles=True,
    counts_fast=True,  # a million nodes in 0.8 s, and compares their values in 10 s
    unusual_number=queries.NOT_NUMERIC,
    # With --timeout-s it breaks off the answer to a query that it stopped, under a good status.
    says_timed_out=lambda refusal: _CANCELLED in refusal.text,
)
QLEVER: Final = Dialect(
    name="qlever",
    title="QLever",
    stable_order=True,
    # It sends the status of a rate limit for a query that it stopped.
    says_timed_out=lambda refusal: refusal.status == 429 and _FAILED.search(refusal.text) is not None,
)
FUSEKI: Final = Dialect(
    name="fuseki",
    title="Fuseki",
    announced=lambda headers: "fuseki-request-id" in headers,
    stable_order=True,
    time_limit=_whole_seconds,
    max_matches=None,
)


def _is_rdf4j(headers: httpx2.Headers) -> bool:
    return "filename=query-result" in headers.get("content-disposition", "")


RDF4J: Final = Dialect(
    name="rdf4j",
    title="RDF4J",
    announced=_is_rdf4j,
    stable_order=True,
    merges_graphs=False,  # seen in version 4.1.3
    reads_all_graphs=True,
    # Version 4.1.3 compares only one end with a variable that is bound.
    joins_loops=False,
    # It stops a query whose rows it can send one by one, but no count and no group (both seen in version 4.1.3).
    time_limit=_whole_seconds,
    # With a heap of one gigabyte it is not sure to end with two million groups.
    max_matches=500_000,
    # A query that it stopped has an empty answer under a good status.
    says_timed_out=lambda refusal: _is_rdf4j(refusal.headers) and not refusal.text,
)
DIALECTS: Final = (VIRTUOSO, OXIGRAPH, QLEVER, BLAZEGRAPH, FUSEKI, RDF4J, PLAIN)
PROBE: Final = BLAZEGRAPH.probe
"""The first query to an unknown store. It costs nothing, and its answer identifies each of the known stores."""


def announced(headers: httpx2.Headers) -> Dialect | None:
    """The dialect that the headers of an answer identify; None if they identify none."""
    return next((dialect for dialect in DIALECTS if dialect.announced(headers)), None)


def detected(headers: httpx2.Headers, *, has_rows: bool) -> Dialect:
    """The dialect that the answer to PROBE identifies; PLAIN if it identifies none."""
    return announced(headers) or (BLAZEGRAPH if has_rows else PLAIN)


def error(refusal: Refusal) -> KgnavError | None:
    """The error that an answer means in any dialect; None if it means none."""
    return next((found for dialect in DIALECTS if (found := dialect.error(refusal)) is not None), None)


def refused(refusal: Refusal) -> KgnavError:
    """The error for a response with a bad status."""
    return error(refusal) or errors.refused(refusal, ended=_ended(refusal))


def not_results(refusal: Refusal) -> KgnavError:
    """The error for a response with a good status but no SPARQL result in it."""
    return errors.not_results(refusal, ended=_ended(refusal))


def _ended(refusal: Refusal) -> bool:
    return any(dialect.says_timed_out(refusal) for dialect in DIALECTS)
