"""The ranker `llm`: BM25 proposes candidates and a language model chooses; if the model fails, BM25's order is used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cachetools import LRUCache

from kgnav_mcp.config import LlmSettings
from kgnav_mcp.model import Entity, RelationFacts
from kgnav_mcp.navigation.ranking import Ranking, bm25
from kgnav_mcp.rankers.llm.request import body, chosen_ids, document, picked

if TYPE_CHECKING:
    import httpx2

_CANDIDATES = 100
"""Relations that the model may choose from, the best of BM25: models read longer lists worse, and these cost more."""

_ID_LIMIT = 300
"""Characters of the longest id that is offered to the model."""

_CACHED_CHOICES = 256
"""Choices that are cached, so that a repeated question, or a cursor, gets the same order."""

_ANSWER_LIMIT = 1_000_000
"""Bytes of an answer that are read at most."""

_PAUSE_AFTER_FAILURE_S = 30.0
"""Seconds without calls to an endpoint that failed, so that not every ranking waits for it."""


class _NoChoice(Exception):
    """The model made no choice. The text gives the reason and completes a sentence that starts with the model."""


class _Failing(_NoChoice):
    """The endpoint does not work; the next call would fail, too."""


class LlmRanker:
    """Ranks by asking a language model. Safe for concurrent calls of one event loop.

    Args:
        settings: the endpoint, the model, its key, and its time limit in seconds.
        best: number of relations to ask for. If the model chooses fewer, the order of BM25 completes them.
        clock: seconds, to time the pause after a failure.
    """

    def __init__(self, settings: LlmSettings, best: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._best = best
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None
        self._choices: LRUCache[str, list[str]] = LRUCache(_CACHED_CHOICES)
        self._failed: tuple[float, str] | None = None

    async def __call__(
        self, question: str, anchor: Entity | None, relations: Sequence[RelationFacts], *, thought: str = ""
    ) -> Ranking:
        proposed = await bm25(question, anchor, relations)
        ranked = proposed.relations
        candidates = [facts for facts in ranked if len(facts.relation.id) <= _ID_LIMIT][:_CANDIDATES]
        if len(candidates) < 2:
            return proposed
        try:
            first = await self._choose(document(question, anchor, candidates, thought), candidates)
        except _NoChoice as error:
            return replace(proposed, note=f"ranked by BM25: the language model {error}")
        chosen = set(map(id, first))
        matching = chosen.union(map(id, ranked[: proposed.matching]))
        return Ranking((*first, *(facts for facts in ranked if id(facts) not in chosen)), len(matching))

    async def close(self) -> None:
        """Close the connections. The next call would open new ones."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _choose(self, shown_document: str, candidates: Sequence[RelationFacts]) -> list[RelationFacts]:
        cached_ids = self._choices.get(shown_document)
        if cached_ids is not None:
            return picked(cached_ids, candidates, self._best)
        ids = await self._request_ids(shown_document)
        first = picked(ids, candidates, self._best)
        if not first:
            raise _NoChoice("chose none of the relations")
        self._choices[shown_document] = ids
        return first

    async def _request_ids(self, shown_document: str) -> list[str]:
        """The ids in the model's answer.

        Raises:
            _NoChoice: the answer has no list of ids, or the endpoint does not work or has just failed.
        """
        if self._failed and self._clock() < self._failed[0]:
            raise _Failing(self._failed[1])
        try:
            answer = await self._post(body(self._settings.model, shown_document, self._best))
        except _Failing as error:
            self._failed = (self._clock() + _PAUSE_AFTER_FAILURE_S, str(error))
            raise
        self._failed = None
        ids = chosen_ids(answer)
        if ids is None:
            raise _NoChoice("gave no list of relations")
        return ids

    async def _post(self, request: dict[str, object]) -> bytes:
        """The endpoint's answer. No text of an answer or failure becomes part of a message: it may contain the key.

        Raises:
            _Failing: the endpoint cannot be reached, is too slow, or refuses the request.
        """
        import httpx2  # noqa: PLC0415 - the import takes 0.05 s

        if self._client is None:
            key = self._settings.api_key.get_secret_value()
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            self._client = httpx2.AsyncClient(headers=headers, timeout=None)
        url = f"{self._settings.base_url.rstrip('/')}/chat/completions"
        try:
            async with (
                asyncio.timeout(self._settings.timeout),
                self._client.stream("POST", url, json=request) as response,
            ):
                if not response.is_success:
                    raise _Failing(f"answered with HTTP status {response.status_code}")
                return await _read_limited(response)
        except TimeoutError as error:
            raise _Failing("did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _Failing("could not be reached") from error


async def _read_limited(response: httpx2.Response) -> bytes:
    read = bytearray()
    async for part in response.aiter_bytes():
        read += part
        if len(read) > _ANSWER_LIMIT:
            raise _Failing("answered with more than can be read")
    return bytes(read)
