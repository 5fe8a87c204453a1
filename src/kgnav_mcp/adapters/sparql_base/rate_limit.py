"""Rate limit for a shared host: few queries at a time, pauses when it asks for them, no queries while it is down.

There is one `RateLimiter` for each host and event loop: a pause that the host asks of one caller holds for all.

    closed      queries are sent; five failures in a row open the circuit
    open        every query fails at once, for ten seconds the first time, and twice as long each further time
    half-open   one query is sent: if it is answered the circuit closes, otherwise it opens again

No library shares a `Retry-After` between callers and has a circuit breaker as well: libraries for retries know only
one call, and those for circuit breakers do not wait. This module has the little that is needed of both.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Final, Protocol, TypeVar
from weakref import WeakKeyDictionary

from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.adapters.sparql_base.turns import Turns
from kgnav_mcp.errors import RateLimited, StoreError, StoreTimeout, StoreUnavailable, pause_text

T = TypeVar("T")

MAX_CONCURRENT: Final = 3
"""Queries to one host at a time, as Wikimedia and QLever ask for; this machine takes more."""
MAX_CONCURRENT_LOCAL: Final = 8

_MAX_TRIES = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
"""Seconds before a retry; each pause is about twice as long as the one before."""
_DEFAULT_PAUSE = 5.0
"""Seconds of pause for a rate limit without a Retry-After."""
_GRACE = 0.5
"""Seconds that a query may exceed the caller's time-out, so that its own, more precise time-out error is raised."""
_FAILURES_TO_OPEN = 5
_OPEN_SECONDS, _LONGEST_OPEN = 10.0, 300.0


class RateLimiter:
    """Concurrency limit, pauses and circuit breaker of one host."""

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
        self._slots = Turns(limit)
        self._pause_ends = 0.0
        self._failures = 0
        self._open_until: float | None = None
        self._open_for = _OPEN_SECONDS
        self._trial_running = False

    async def ask(self, query: Callable[[], Awaitable[T]], *, patience: float) -> T:
        """Run a query; run it again if the host was down or asked for a pause.

        `patience` is the time for everything in seconds: waiting for a free slot, pauses and retries.

        Raises:
            RateLimited: the host asked for a longer pause; nothing is sent to it before that is over.
            StoreUnavailable: the host is down, or the circuit is open.
            StoreTimeout: no slot became free in time, or the query itself raised it.
        """
        deadline = self._now() + patience
        tries = 0
        while True:
            tries += 1
            try:
                async with self._slot(deadline, patience), self._until(deadline + _GRACE, patience):
                    answer = await query()
            except RateLimited as error:
                failure: StoreError = error
                self._record_pause(error, tries)
                pause = self._pause_ends - self._now() + self._jitter(_FIRST_PAUSE)
            except StoreUnavailable as error:
                if isinstance(error, _CircuitOpenError):
                    raise
                failure = error
                self._record_failure()
                pause = self._jitter(min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE))
            else:
                self._record_success()
                return answer
            if tries == _MAX_TRIES or self._open_until is not None or self._now() + pause > deadline:
                raise failure
            await self._sleep(pause)

    @asynccontextmanager
    async def _slot(self, deadline: float, patience: float) -> AsyncGenerator[None]:
        """Hold one of the host's slots, once neither a pause nor the circuit forbids it."""
        await self._wait_for_pause(deadline)
        async with AsyncExitStack() as held:
            async with self._until(deadline, patience):
                await held.enter_async_context(self._slots.turn())
            # The host may have asked for a pause while this call waited for its slot.
            await self._wait_for_pause(deadline)
            is_trial = self._pass_circuit()
            try:
                yield
            finally:
                if is_trial:
                    self._trial_running = False

    @asynccontextmanager
    async def _until(self, deadline: float, patience: float) -> AsyncGenerator[None]:
        """Cancel the body when the caller's time is over, and raise StoreTimeout."""
        try:
            async with asyncio.timeout(max(deadline - self._now(), 0.0)):
                yield
        except TimeoutError as error:
            raise StoreTimeout(
                patience, next_step=f"Other queries to {self._host} took all the time: use fewer concurrent calls."
            ) from error

    async def _wait_for_pause(self, deadline: float) -> None:
        """Wait until a pause is over.

        Raises:
            RateLimited: the pause is longer than the caller can wait.
        """
        while (pause := self._pause_ends - self._now()) > 0:
            if self._pause_ends > deadline:
                raise RateLimited(f"{self._host} accepts no more queries now", pause)
            await self._sleep(pause)

    def _pass_circuit(self) -> bool:
        """Pass the circuit breaker. Returns whether this query is the trial of a half-open circuit.

        Raises:
            StoreUnavailable: the circuit is open, or another query is the trial.
        """
        if self._open_until is None:
            return False
        seconds = self._open_until - self._now()
        if seconds > 0 or self._trial_running:
            raise _CircuitOpenError(
                f"{self._host} has failed {self._failures} times in a row, so it is not queried for a while",
                next_step=f"Try again in {pause_text(seconds)}; check that the endpoint is up.",
            )
        self._trial_running = True
        return True

    def _record_pause(self, error: RateLimited, tries: int) -> None:
        seconds = error.retry_after
        if seconds is None:
            seconds = self._jitter(_DEFAULT_PAUSE * 2 ** (tries - 1))
        self._pause_ends = max(self._pause_ends, self._now() + seconds)

    def _record_failure(self) -> None:
        self._failures += 1
        if self._open_until is not None:
            self._open_for = min(self._open_for * 2, _LONGEST_OPEN)
        if self._failures >= _FAILURES_TO_OPEN:
            self._open_until = self._now() + self._open_for

    def _record_success(self) -> None:
        self._failures = 0
        self._open_until = None
        self._open_for = _OPEN_SECONDS

    def _jitter(self, seconds: float) -> float:
        """Vary a pause at random, so that callers that failed together do not retry together."""
        return seconds * (0.5 + self._chance())


class _CircuitOpenError(StoreUnavailable):
    """The circuit is open: nothing was sent."""


class Client(Protocol):
    """A SPARQL client, as adapters use it."""

    @property
    def dialect(self) -> Dialect: ...

    async def detect(self) -> Dialect: ...

    async def select(self, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer: ...

    async def ask(self, query: str) -> bool: ...

    async def close(self) -> None: ...


class RateLimitedClient:
    """A SPARQL client that keeps to the rate limit of its host."""

    def __init__(self, client: Client, limiter: RateLimiter, *, patience: float) -> None:
        self._client = client
        self._limiter = limiter
        self._patience = patience

    @property
    def dialect(self) -> Dialect:
        """The store's dialect, as far as it is known."""
        return self._client.dialect

    async def detect(self) -> Dialect:
        """Detect the store's dialect."""
        return await self._limiter.ask(self._client.detect, patience=self._patience)

    async def select(self, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer:
        """Run a SELECT query, within so many seconds."""
        return await self._limiter.ask(
            lambda: self._client.select(query, seconds=seconds, waits=waits), patience=seconds or self._patience
        )

    async def ask(self, query: str) -> bool:
        """Run an ASK query."""
        return await self._limiter.ask(lambda: self._client.ask(query), patience=self._patience)

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()


_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RateLimiter]] = WeakKeyDictionary()


def limiter_of(host: str, *, limit: int = MAX_CONCURRENT) -> RateLimiter:
    """The limiter of a host, shared by all callers in this event loop."""
    hosts = _limiters.setdefault(asyncio.get_running_loop(), {})
    return hosts.setdefault(host.lower(), RateLimiter(host, limit=limit))


def user_agent(product: str, contact: str, library: str) -> str:
    """A User-Agent as Wikimedia's policy requires: `product (contact) library`; without a contact `product library`."""
    operator = "".join(character for character in contact if character.isprintable() and character not in "()")
    return f"{product} ({operator}) {library}" if operator else f"{product} {library}"
