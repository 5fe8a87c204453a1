"""How a host is asked: turns, pauses, asking again, the circuit. No test waits: the clock is a number."""

from __future__ import annotations

import asyncio

import pytest

from kgnav_mcp.adapters.sparql_base.rate_limit import RateLimiter, limiter_of, user_agent
from kgnav_mcp.errors import RateLimited, StoreTimeout, StoreUnavailable


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class Host:
    """A host that answers as it is told: an error is raised, anything else is the answer."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def ask(self) -> object:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(clock: Clock) -> RateLimiter:
    return RateLimiter("host.example", now=clock.now, sleep=clock.sleep, chance=lambda: 0.5)


def limited(seconds: float | None) -> RateLimited:
    return RateLimited("no more queries now", seconds)


async def test_a_request_is_repeated_after_a_pause_that_fits(limiter: RateLimiter, clock: Clock):
    host = Host(limited(7), "rows")
    assert await limiter.ask(host.ask, patience=30) == "rows"
    assert (host.asked, clock.time) == (2, pytest.approx(1_007, abs=1))


async def test_a_pause_that_is_too_long_is_told_at_once_with_the_seconds(limiter: RateLimiter, clock: Clock):
    host = Host(limited(120), "rows")
    with pytest.raises(RateLimited) as caught:
        await limiter.ask(host.ask, patience=30)
    assert (caught.value.retry_after, host.asked, clock.slept) == (120, 1, [])


async def test_nobody_asks_a_host_that_wants_a_pause_and_everybody_is_told_how_long_it_still_is(
    limiter: RateLimiter, clock: Clock
):
    with pytest.raises(RateLimited):
        await limiter.ask(Host(limited(120)).ask, patience=30)
    clock.time += 50
    other = Host("rows")
    with pytest.raises(RateLimited) as caught:
        await limiter.ask(other.ask, patience=30)
    assert (caught.value.retry_after, other.asked) == (70, 0)
    assert "Try again in 70 s" in caught.value.next_step
    clock.time += 60
    assert await limiter.ask(other.ask, patience=30) == "rows"


async def test_a_pause_holds_for_calls_that_were_waiting_for_their_turn(clock: Clock):
    limiter = RateLimiter("host.example", limit=1, now=clock.now, sleep=clock.sleep, chance=lambda: 0.5)
    told = asyncio.Event()
    times: list[float] = []

    async def first() -> str:
        await told.wait()
        raise limited(20)

    async def second() -> str:
        times.append(clock.time)
        return "rows"

    waiting = asyncio.create_task(limiter.ask(first, patience=10))
    await asyncio.sleep(0)
    behind = asyncio.create_task(limiter.ask(second, patience=60))
    await asyncio.sleep(0)
    told.set()
    with pytest.raises(RateLimited):
        await waiting
    assert await behind == "rows"
    assert times[0] >= 1_020


async def test_a_rate_limit_without_a_time_is_waited_out_longer_each_time(limiter: RateLimiter, clock: Clock):
    host = Host(limited(None), limited(None), "rows")
    assert await limiter.ask(host.ask, patience=60) == "rows"
    assert clock.slept[0] < clock.slept[-1]


async def test_no_more_questions_than_allowed_are_under_way():
    limiter = RateLimiter("host.example", limit=3)
    now, most = 0, 0

    async def question() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1

    await asyncio.gather(*(limiter.ask(question, patience=30) for _ in range(20)))
    assert most == 3


async def test_a_call_that_gets_no_turn_in_time_says_what_took_them():
    limiter = RateLimiter("host.example", limit=1)
    held = asyncio.create_task(limiter.ask(asyncio.Event().wait, patience=30))
    await asyncio.sleep(0)
    with pytest.raises(StoreTimeout) as caught:
        await limiter.ask(Host("rows").ask, patience=0.02)
    assert "Other queries to host.example" in caught.value.next_step
    held.cancel()
    await asyncio.gather(held, return_exceptions=True)
    assert await limiter.ask(Host("rows").ask, patience=1) == "rows"


async def test_a_turn_that_comes_late_is_a_short_one():
    limiter = RateLimiter("host.example", limit=1)
    outcomes = await asyncio.gather(
        *(limiter.ask(asyncio.Event().wait, patience=0.05) for _ in range(8)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreTimeout] * 8, "a host that hangs would keep them for ever"


async def test_a_host_that_is_down_for_a_moment_is_tried_again_after_growing_pauses(limiter: RateLimiter, clock: Clock):
    host = Host(StoreUnavailable("down"), StoreUnavailable("down"), "rows")
    assert await limiter.ask(host.ask, patience=30) == "rows"
    assert clock.slept == [0.5, 1.0]


async def test_a_time_out_is_not_tried_again(limiter: RateLimiter):
    host = Host(StoreTimeout(30), "rows")
    with pytest.raises(StoreTimeout):
        await limiter.ask(host.ask, patience=30)
    assert host.asked == 1


async def test_a_host_that_keeps_failing_is_left_alone_then_tried_by_one_call_and_taken_back(
    limiter: RateLimiter, clock: Clock
):
    down = Host(StoreUnavailable("down"))
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="down"):
            await limiter.ask(down.ask, patience=30)
    assert down.asked == 5
    with pytest.raises(StoreUnavailable, match="not queried for a while") as caught:
        await limiter.ask(down.ask, patience=30)
    assert down.asked == 5
    assert "Try again in 10 s" in caught.value.next_step

    clock.time += 11
    asked = asyncio.Event()

    async def slow() -> str:
        await asked.wait()
        return "rows"

    trial = asyncio.create_task(limiter.ask(slow, patience=30))
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="not queried for a while"):
        await limiter.ask(down.ask, patience=30)
    asked.set()
    assert await trial == "rows"
    assert await limiter.ask(Host("more").ask, patience=30) == "more"


async def test_a_trial_that_fails_leaves_the_host_alone_for_twice_as_long(limiter: RateLimiter, clock: Clock):
    down = Host(StoreUnavailable("down"))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await limiter.ask(down.ask, patience=30)
    clock.time += 11
    with pytest.raises(StoreUnavailable, match="down"):
        await limiter.ask(down.ask, patience=30)
    assert down.asked == 6
    with pytest.raises(StoreUnavailable) as caught:
        await limiter.ask(down.ask, patience=30)
    assert "Try again in 20 s" in caught.value.next_step


async def test_a_trial_that_is_cancelled_lets_another_call_try(limiter: RateLimiter, clock: Clock):
    down = Host(StoreUnavailable("down"))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await limiter.ask(down.ask, patience=30)
    clock.time += 11
    trial = asyncio.create_task(limiter.ask(asyncio.Event().wait, patience=30))
    await asyncio.sleep(0)
    trial.cancel()
    await asyncio.gather(trial, return_exceptions=True)
    assert await limiter.ask(Host("rows").ask, patience=30) == "rows"


async def test_all_clients_of_one_host_share_its_limits():
    assert limiter_of("Host.example") is limiter_of("host.example")
    assert limiter_of("host.example") is not limiter_of("other.example")


def test_the_user_agent_names_product_operator_and_library():
    assert user_agent("kgnav/1", "ann@lab.example", "lib/2") == "kgnav/1 (ann@lab.example) lib/2"
    assert user_agent("kgnav/1", "", "lib/2") == "kgnav/1 lib/2"
    assert user_agent("kgnav/1", "ann@lab.example)\r\nX: y", "lib/2") == "kgnav/1 (ann@lab.exampleX: y) lib/2"
