"""How a shared host is asked: few queries at a time, pauses when it wants some, none while it is down.

One `RateLimiter` stands for one host in one event loop, whoever asks: what the host says to one caller holds for all.

    closed      queries go through; five failures in a row open the circuit
    open        every query fails at once, for ten seconds the first time, and twice as long each time after
    half-open   one query goes through: if it is answered the circuit closes, if not it is open again

No library holds a `Retry-After` for every caller and a circuit at once: those for retries know one call each, those for
circuits no waiting. What is needed of both is below.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, Protocol, TypeVar
from weakref import WeakKeyDictionary

from kgnav_mcp.adapters.sparql.results import Answer
from kgnav_mcp.errors import RateLimited, StoreError, StoreTimeout, StoreUnavailable, in_words

T = TypeVar("T")

MAX_CONCURRENT: Final = 3
"""Queries to one host at a time (Wikimedia's and QLever's own wish); the machine at hand takes more."""
MAX_CONCURRENT_LOCAL: Final = 8

_TRIES = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
"""Seconds before a query is sent again; each pause is about twice as long as the one before."""
_UNSAID_PAUSE = 5.0
"""Seconds of a rate limit that does not say how long it lasts."""
_LATER = 0.5
"""Seconds beyond a caller's time that a question may take: one that got its turn at once says itself what was slow."""
_FAILURES = 5
_OPEN_SECONDS, _LONGEST_OPEN = 10.0, 300.0


class RateLimiter:
    """Turns, pauses and the circuit of one host."""

    def __init__(
        self,
        host: str,
        *,
        limit: int = MAX_CONCURRENT,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._host = host
        self._now = now
        self._sleep = sleep
        self._chance = chance
        self._turns = asyncio.Semaphore(limit)
        self._pause_ends = 0.0
        self._failures = 0
        self._open_until: float | None = None
        self._open_for = _OPEN_SECONDS
        self._trying = False

    async def ask(self, question: Callable[[], Awaitable[T]], *, patience: float) -> T:
        """The answer to a question, which is asked again where the host was down or wanted a pause.

        `patience` is in seconds, and for everything: waiting for a turn, pauses, and asking again.

        Raises:
            RateLimited: the host wants a longer pause; nothing is sent to it before that is over.
            StoreUnavailable: it is down, or the circuit is open.
            StoreTimeout: no turn came, or the question itself raised it.
        """
        ends = self._now() + patience
        tries = 0
        while True:
            tries += 1
            try:
                async with self._turn(ends, patience), self._within(ends + _LATER, patience):
                    answer = await question()
            except RateLimited as error:
                failure: StoreError = error
                self._told_to_wait(error, tries)
                pause = self._pause_ends - self._now() + self._jitter(_FIRST_PAUSE)
            except StoreUnavailable as error:
                if isinstance(error, _CircuitOpenError):
                    raise
                failure = error
                self._failed()
                pause = self._jitter(min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE))
            else:
                self._answered()
                return answer
            if tries == _TRIES or self._open_until is not None or self._now() + pause > ends:
                raise failure
            await self._sleep(pause)

    @asynccontextmanager
    async def _turn(self, ends: float, patience: float) -> AsyncGenerator[None]:
        """One of the host's turns, when neither a pause nor the circuit forbids it."""
        await self._rest(ends)
        async with self._within(ends, patience):
            await self._turns.acquire()
        trial = False
        try:
            await self._rest(ends)  # The host may have asked for a pause while this call waited for its turn.
            trial = self._enter()
            yield
        finally:
            if trial:
                self._trying = False
            self._turns.release()

    @asynccontextmanager
    async def _within(self, ends: float, patience: float) -> AsyncGenerator[None]:
        """Give up what is done inside when the caller's time is over: a turn that came late is a short one."""
        try:
            async with asyncio.timeout(max(ends - self._now(), 0.0)):
                yield
        except TimeoutError as error:
            raise StoreTimeout(
                patience, next_step=f"Other queries took all turns of {self._host}: ask fewer at once."
            ) from error

    async def _rest(self, ends: float) -> None:
        """Wait until a pause is over.

        Raises:
            RateLimited: it is longer than the caller can wait.
        """
        while (pause := self._pause_ends - self._now()) > 0:
            if self._pause_ends > ends:
                raise RateLimited(f"{self._host} takes no more queries for now", pause)
            await self._sleep(pause)

    def _enter(self) -> bool:
        """Whether this query is the one that tries a host again.

        Raises:
            StoreUnavailable: the circuit is open, or another query is trying.
        """
        if self._open_until is None:
            return False
        left = self._open_until - self._now()
        if left > 0 or self._trying:
            raise _CircuitOpenError(
                f"{self._host} has failed {self._failures} times in a row and is left alone for now",
                next_step=f"Ask again in {in_words(left)}; see whether the endpoint is up.",
            )
        self._trying = True
        return True

    def _told_to_wait(self, error: RateLimited, tries: int) -> None:
        seconds = error.retry_after
        if seconds is None:
            seconds = self._jitter(_UNSAID_PAUSE * 2 ** (tries - 1))
        self._pause_ends = max(self._pause_ends, self._now() + seconds)

    def _failed(self) -> None:
        self._failures += 1
        if self._open_until is not None:
            self._open_for = min(self._open_for * 2, _LONGEST_OPEN)
        if self._failures >= _FAILURES:
            self._open_until = self._now() + self._open_for

    def _answered(self) -> None:
        self._failures = 0
        self._open_until = None
        self._open_for = _OPEN_SECONDS

    def _jitter(self, seconds: float) -> float:
        """About so many seconds, so that callers who failed together do not come back together."""
        return seconds * (0.5 + self._chance())


class _CircuitOpenError(StoreUnavailable):
    """Nothing was sent: the circuit is open."""


class Client(Protocol):
    """What an adapter asks of a SPARQL client."""

    async def select(self, query: str) -> Answer: ...

    async def ask(self, query: str) -> bool: ...

    async def close(self) -> None: ...


class RateLimitedClient:
    """A SPARQL client that keeps to the limits of its host."""

    def __init__(self, client: Client, limiter: RateLimiter, *, patience: float) -> None:
        self._client = client
        self._limiter = limiter
        self._patience = patience

    async def select(self, query: str) -> Answer:
        """The rows of a SELECT query."""
        return await self._limiter.ask(lambda: self._client.select(query), patience=self._patience)

    async def ask(self, query: str) -> bool:
        """The truth of an ASK query."""
        return await self._limiter.ask(lambda: self._client.ask(query), patience=self._patience)

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()


_known: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RateLimiter]] = WeakKeyDictionary()


def limiter_of(host: str, *, limit: int = MAX_CONCURRENT) -> RateLimiter:
    """The limiter of a host, the same for everyone in this event loop."""
    hosts = _known.setdefault(asyncio.get_running_loop(), {})
    return hosts.setdefault(host.lower(), RateLimiter(host, limit=limit))


def user_agent(product: str, contact: str, library: str) -> str:
    """A User-Agent as Wikimedia's policy wants it: `product (contact) library`; the contact only where there is one."""
    operator = "".join(character for character in contact if character.isprintable() and character not in "()")
    return f"{product} ({operator}) {library}" if operator else f"{product} {library}"
