"""The dialects that are known, and what an answer tells of the one it is written in."""

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
    name="oxigraph", announced=lambda headers: headers.get("server", "").lower().startswith("oxigraph")
)
QLEVER: Final = Dialect(
    name="qlever",
    # A query that it ended has the status of a rate limit.
    ended=lambda refusal: refusal.status == 429 and _FAILED.search(refusal.text) is not None,
)
BLAZEGRAPH: Final = Dialect(
    name="blazegraph",
    # Its stack trace may stand behind rows that it had sent, under a good status.
    ended=lambda refusal: _JAVA_TIMEOUT.search(refusal.text) is not None,
)
DIALECTS: Final = (VIRTUOSO, OXIGRAPH, QLEVER, BLAZEGRAPH, PLAIN)


def announced(headers: httpx2.Headers) -> Dialect | None:
    """The dialect that the headers of an answer tell; None where they tell none."""
    return next((dialect for dialect in DIALECTS if dialect.announced(headers)), None)


def error(refusal: Refusal) -> KgnavError | None:
    """The error that some dialect reads in an answer."""
    return next((found for dialect in DIALECTS if (found := dialect.error(refusal)) is not None), None)


def refused(refusal: Refusal) -> KgnavError:
    """The error that an answer without results stands for."""
    return error(refusal) or errors.refused(refusal, ended=_ended(refusal))


def not_results(refusal: Refusal) -> KgnavError:
    """The error for an answer with a good status and no result in it."""
    return errors.not_results(refusal, ended=_ended(refusal))


def _ended(refusal: Refusal) -> bool:
    return any(dialect.ended(refusal) for dialect in DIALECTS)
