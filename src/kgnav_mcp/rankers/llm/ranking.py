"""The ranker `llm`: BM25 proposes, a language model chooses, and BM25 has the last word when the model has none."""

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
"""Relations the model may choose from, the best of BM25: a longer list is read worse and costs more."""

_ID_LIMIT = 300
"""Characters of the longest id that is offered to the model."""

_REMEMBERED = 256
"""Choices kept, so that a repeated question, or a cursor, meets the same order."""

_ANSWER_LIMIT = 1_000_000
"""Bytes of an answer that are read."""

_REST = 30.0
"""Seconds an endpoint that failed is left alone, so that not every call waits for it in vain."""


class _NoChoice(Exception):
    """The model made no choice; the text says why, as the end of a sentence about it."""


class _Failing(_NoChoice):
    """It made none because its endpoint does not work, which the next call would only find again."""


class LlmRanker:
    """Ranks by asking a language model; safe for concurrent calls of one event loop.

    Args:
        settings: the endpoint, the model, its key, and the seconds it may take.
        best: relations it is asked for; the others follow in the order of BM25.
        clock: seconds, for the rest that a failing endpoint is given.
    """

    def __init__(self, settings: LlmSettings, best: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._best = best
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None
        self._choices: LRUCache[str, list[str]] = LRUCache(_REMEMBERED)
        self._failed: tuple[float, str] | None = None

    async def __call__(self, question: str, anchor: Entity | None, relations: Sequence[RelationFacts]) -> Ranking:
        proposed = await bm25(question, anchor, relations)
        ranked = proposed.relations
        candidates = [facts for facts in ranked if len(facts.relation.id) <= _ID_LIMIT][:_CANDIDATES]
        if len(candidates) < 2:
            return proposed
        try:
            first = await self._chosen(question, anchor, candidates)
        except _NoChoice as error:
            return replace(proposed, note=f"ranked by BM25: the language model {error}")
        taken = set(map(id, first))
        matching = taken.union(map(id, ranked[: proposed.matching]))
        return Ranking((*first, *(facts for facts in ranked if id(facts) not in taken)), len(matching))

    async def close(self) -> None:
        """Give back the connections. The next call would open new ones."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _chosen(
        self, question: str, anchor: Entity | None, candidates: Sequence[RelationFacts]
    ) -> list[RelationFacts]:
        shown = document(question, anchor, candidates)
        known = self._choices.get(shown)
        if known is not None:
            return picked(known, candidates, self._best)
        ids = await self._asked(shown)
        first = picked(ids, candidates, self._best)
        if not first:
            raise _NoChoice("chose none of the relations")
        self._choices[shown] = ids
        return first

    async def _asked(self, shown: str) -> list[str]:
        """The ids the model answers with.

        Raises:
            _NoChoice: it gave no list of ids, or its endpoint does not work or has just failed.
        """
        if self._failed and self._clock() < self._failed[0]:
            raise _Failing(self._failed[1])
        try:
            answer = await self._posted(body(self._settings.model, shown, self._best))
        except _Failing as error:
            self._failed = (self._clock() + _REST, str(error))
            raise
        self._failed = None
        ids = chosen_ids(answer)
        if ids is None:
            raise _NoChoice("gave no list of relations")
        return ids

    async def _posted(self, request: dict[str, object]) -> bytes:
        """The endpoint's answer. Nothing of it, nor of a failure, gets into a message: it may repeat the key.

        Raises:
            _Failing: it cannot be reached, is too slow, or refuses.
        """
        import httpx2  # noqa: PLC0415 - half of a tenth of a second at start

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
                return await _bounded(response)
        except TimeoutError as error:
            raise _Failing("did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _Failing("could not be reached") from error


async def _bounded(response: httpx2.Response) -> bytes:
    read = bytearray()
    async for part in response.aiter_bytes():
        read += part
        if len(read) > _ANSWER_LIMIT:
            raise _Failing("answered with more than can be read")
    return bytes(read)
