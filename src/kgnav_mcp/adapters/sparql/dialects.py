"""The known dialects, and how one is detected from an answer."""

from __future__ import annotations

import re
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql.errors import Refusal
from kgnav_mcp.adapters.sparql.virtuoso import VIRTUOSO
from kgnav_mcp.errors import KgnavError

_FAILED: Final = re.compile(r'\A\s*\{(?=.*"status"\s*:\s*"ERROR").*"exception"\s*:', re.DOTALL)
_JAVA_TIMEOUT: Final = re.compile(r"TimeoutException|QueryTimeout")

OXIGRAPH: Final = Dialect(
    name="oxigraph",
    announced=lambda headers: headers.get("server", "").lower().startswith("oxigraph"),
    stable_order=True,
)
QLEVER: Final = Dialect(
    name="qlever",
    stable_order=True,
    # It sends the status of a rate limit for a query that it stopped.
    says_timed_out=lambda refusal: refusal.status == 429 and _FAILED.search(refusal.text) is not None,
)
BLAZEGRAPH: Final = Dialect(
    name="blazegraph",
    # It may append its stack trace to rows already sent, under a good status.
    says_timed_out=lambda refusal: _JAVA_TIMEOUT.search(refusal.text) is not None,
)
DIALECTS: Final = (VIRTUOSO, OXIGRAPH, QLEVER, BLAZEGRAPH, PLAIN)


def announced(headers: httpx2.Headers) -> Dialect | None:
    """The dialect that the headers of an answer identify; None if they identify none."""
    return next((dialect for dialect in DIALECTS if dialect.announced(headers)), None)


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
