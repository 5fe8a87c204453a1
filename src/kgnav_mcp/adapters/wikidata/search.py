"""Clients of the searches that a Wikibase has besides SPARQL: its search API, and a vector search by meaning."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import httpx2

from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.errors import Refusal
from kgnav_mcp.adapters.sparql_base.rate_limit import limiter_of
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.errors import InvalidStore, StoreUnavailable
from kgnav_mcp.model import Stop
from kgnav_mcp.store_timeout import note_answer

_CONNECT_SECONDS = 3.0
_MAX_CANDIDATES = 50
"""The most candidates that one call of an API returns."""
_MAX_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """An entity that was found: its bare id, the text that matched, and whether that text is its label."""

    id: str
    text: str
    by_label: bool


class JsonApi:
    """A client for one address that answers GET requests with JSON. It observes the rate limit of its host."""

    def __init__(
        self, address: str, *, agent: str, timeout: float, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._endpoint = Address.parse(address)
        self._timeout = timeout
        self._http = httpx2.AsyncClient(
            headers={"User-Agent": agent, "Accept": "application/json"},
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
            follow_redirects=False,
            trust_env=not self._endpoint.is_local,
            transport=transport,
        )

    async def get(self, parameters: Mapping[str, str]) -> object:
        """The JSON answer to a request with these parameters.

        Raises:
            StoreError: the same errors as those of the SPARQL client.
        """
        answer = await limiter_of(self._endpoint.host).ask(lambda: self._get(parameters), patience=self._timeout)
        note_answer()
        return answer

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def _get(self, parameters: Mapping[str, str]) -> object:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.get(self._endpoint.url, params=dict(parameters))
        except (TimeoutError, httpx2.ReadTimeout) as error:
            raise errors.timed_out(self._timeout) from error
        except httpx2.RequestError as error:
            raise errors.disconnected(error, self._endpoint, _CONNECT_SECONDS) from error
        body = response.content[:_MAX_BYTES]
        if response.status_code != HTTPStatus.OK:
            text = body.decode("utf-8", "replace")
            raise errors.refused(
                Refusal(self._endpoint.name, response.status_code, response.headers, text, self._timeout)
            )
        try:
            return json.loads(body)
        except ValueError as error:
            raise InvalidStore(
                f"{self._endpoint.name} answers with something that is not JSON",
                next_step="Correct the option search, or set it to an empty text to search labels in SPARQL.",
            ) from error


class WikibaseSearch:
    """The API `wbsearchentities`: finds labels and aliases that begin with a hint, in a language and its fallbacks."""

    def __init__(self, api: JsonApi) -> None:
        self._api = api

    async def find(self, hint: str, language: str, limit: int) -> tuple[list[Match], Stop]:
        """The entities that a hint may mean, best first. The stop is LIMIT if the list is full: there may be more.

        Raises:
            StoreUnavailable: the API cannot search at the moment.
        """
        most = min(limit, _MAX_CANDIDATES)
        answer = await self._api.get(
            {
                "action": "wbsearchentities",
                "search": hint,
                "language": language,
                "uselang": language,
                "type": "item",
                "limit": str(most),
                "format": "json",
                "formatversion": "2",
            }
        )
        entries = cast("Mapping[str, object]", answer).get("search") if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            raise StoreUnavailable("the search of this Wikibase does not answer", next_step="Try again in a minute.")
        found = cast("list[object]", entries)
        matches = [match for entry in found if (match := _match(entry)) is not None]
        return matches, Stop.LIMIT if len(found) >= most else Stop.COMPLETE

    async def close(self) -> None:
        """Close every connection."""
        await self._api.close()


class VectorSearch:
    """A vector search: finds entities by meaning, even if they are described in other words or another language."""

    def __init__(self, api: JsonApi) -> None:
        self._api = api

    async def find(self, hint: str, limit: int) -> list[str]:
        """The bare ids of the entities nearest in meaning, best first."""
        answer = await self._api.get({"query": hint, "lang": "all", "K": str(min(limit, _MAX_CANDIDATES))})
        entries = cast("Sequence[object]", answer) if isinstance(answer, list) else ()
        found = [cast("Mapping[str, object]", entry) for entry in entries if isinstance(entry, dict)]
        return [local for entry in found if isinstance(local := entry.get("QID"), str)]

    async def close(self) -> None:
        """Close every connection."""
        await self._api.close()


def _match(entry: object) -> Match | None:
    """One entry of the API's answer; None if it does not have the expected form."""
    if not isinstance(entry, dict):
        return None
    facts = cast("Mapping[str, Any]", entry)
    match = facts.get("match")
    matched: Mapping[str, Any] = cast("Mapping[str, Any]", match) if isinstance(match, dict) else {}
    local = facts.get("id")
    text = matched.get("text") or facts.get("label") or local
    if not isinstance(local, str) or not isinstance(text, str):
        return None
    return Match(local, text, matched.get("type", "label") == "label")
