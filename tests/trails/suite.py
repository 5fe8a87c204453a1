"""What every store of trails must do. Derive a class, and give it `opened` stores that share what they keep."""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

import pytest

from kgnav_mcp.errors import TrailFull
from kgnav_mcp.trails import TrailLimits, TrailStore, open_trail_store
from kgnav_mcp.trails.trail_keeper import RECORD_OVERHEAD

DAY = 86_400.0


class Clock:
    """Seconds as a test wants them."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class TrailStoreContract(ABC):
    """A store of trails."""

    @abstractmethod
    def opened(self, limits: TrailLimits, clock: Clock) -> AbstractAsyncContextManager[TrailStore]:
        """A store with these limits, at the place of this test; a second one finds what the first one kept."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    async def store(self, clock: Clock) -> AsyncGenerator[TrailStore]:
        async with self.opened(TrailLimits(), clock) as store:
            yield store

    async def test_a_trail_is_read_as_its_records_were_added(self, store: TrailStore) -> None:
        await store.start("a", b"start")
        assert await store.add("a", b"one")
        assert await store.add("a", b"\0two\xff")
        assert await store.read("a") == (b"start", b"one", b"\0two\xff")
        assert await store.first("a") == b"start"

    async def test_trails_are_kept_apart(self, store: TrailStore) -> None:
        await store.start("a", b"start of a")
        await store.start("b", b"start of b")
        await store.add("b", b"step of b")
        assert await store.read("a") == (b"start of a",)

    async def test_a_key_without_a_trail_has_no_records_and_takes_none(self, store: TrailStore) -> None:
        assert await store.read("nothing") == ()
        assert await store.first("nothing") is None
        assert not await store.add("nothing", b"step")
        assert await store.read("nothing") == ()

    async def test_parallel_steps_lose_nothing(self, store: TrailStore) -> None:
        await store.start("a", b"start")
        steps = [str(number).encode() for number in range(200)]
        assert all(await asyncio.gather(*(store.add("a", step) for step in steps)))
        first, *others = await store.read("a")
        assert (first, sorted(others)) == (b"start", sorted(steps))

    async def test_a_trail_is_forgotten_a_lifetime_after_its_last_use(self, store: TrailStore, clock: Clock) -> None:
        await store.start("a", b"start")
        clock.now += DAY - 1
        assert await store.add("a", b"step")
        clock.now += DAY - 1
        assert await store.read("a") == (b"start", b"step")
        clock.now += DAY
        assert not await store.add("a", b"late")
        assert await store.read("a") == ()

    async def test_a_trail_takes_no_step_over_its_size_and_keeps_what_it_has(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(trail_size=10 + 3 * RECORD_OVERHEAD), clock) as store:
            await store.start("a", b"12345")
            assert await store.add("a", b"12345")
            with pytest.raises(TrailFull, match="full"):
                await store.add("a", b"1")
            assert await store.read("a") == (b"12345", b"12345")
            with pytest.raises(TrailFull):
                await store.start("b", b"1" * 1_000)
            assert await store.read("b") == ()

    async def test_a_record_that_is_large_where_it_is_read_counts_for_that(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(trail_size=3_000, total_size=5_000), clock) as store:
            await store.start("a", b"start")
            assert await store.add("a", b"step", written=20_000)
            with pytest.raises(TrailFull):
                await store.add("a", b"step", written=20_000)
            assert await store.read("a") == (b"start", b"step")
            clock.now += 1
            await store.start("b", b"start", written=20_000)
            assert await store.read("a") == ()

    async def test_of_too_many_trails_those_unused_for_longest_are_forgotten(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(trails=3), clock) as store:
            for key in ("a", "b", "c"):
                clock.now += 1
                await store.start(key, key.encode())
            clock.now += 1
            await store.read("a")
            clock.now += 1
            await store.start("d", b"d")
            assert [await store.read(key) for key in ("a", "b", "c", "d")] == [(b"a",), (), (b"c",), (b"d",)]

    async def test_all_trails_together_stay_under_their_bound(self, clock: Clock) -> None:
        size = 1_000 + RECORD_OVERHEAD
        async with self.opened(TrailLimits(total_size=10 * size), clock) as store:
            for number in range(30):
                clock.now += 1
                await store.start(str(number), b"x" * 1_000)
            assert [bool(await store.read(str(number))) for number in range(30)] == [False] * 20 + [True] * 10
            clock.now += 1
            await store.add("29", b"x" * 1_000)
            assert not await store.read("20")
            assert await store.read("21")

    async def test_room_that_forgotten_trails_took_is_free_again(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(trails=2), clock) as store:
            for number in range(3):
                await store.start(f"old {number}", b"x")
                clock.now += DAY
            await store.start("a", b"a")
            await store.start("b", b"b")
            assert await store.read("a") == (b"a",)


class SharedTrailStoreContract(TrailStoreContract):
    """A store that several processes use, and that outlives them."""

    location: str
    """What the setting names it by."""

    async def test_a_trail_outlives_the_store_that_took_it(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(), clock) as store:
            await store.start("a", b"start")
        async with self.opened(TrailLimits(), clock) as store:
            assert await store.read("a") == (b"start",)

    async def test_two_stores_add_to_one_trail_and_lose_nothing(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(), clock) as one, self.opened(TrailLimits(), clock) as other:
            await one.start("a", b"start")
            steps = [str(number).encode() for number in range(100)]
            await asyncio.gather(*((one, other)[n % 2].add("a", step) for n, step in enumerate(steps)))
            read = await other.read("a")
            assert sorted(read[1:]) == sorted(steps)
            assert await one.read("a") == read

    async def test_two_processes_add_to_one_trail_and_lose_nothing(self) -> None:
        store = open_trail_store(self.location, TrailLimits())
        await store.start("a", b"start")
        async with asyncio.timeout(60):
            codes = await asyncio.gather(*(_added_by_a_process(self.location, name) for name in ("one", "other")))
        first, *steps = await store.read("a")
        await store.close()
        assert codes == [0, 0]
        assert first == b"start"
        for name in ("one", "other"):  # each process's own in its order, whatever came between
            assert [step for step in steps if step.startswith(name.encode())] == [
                f"{name} {number}".encode() for number in range(_STEPS)
            ]


_STEPS = 50
_ADDER = f"""
import asyncio, sys
from kgnav_mcp.trails import TrailLimits, open_trail_store

async def add(location, name):
    store = open_trail_store(location, TrailLimits())
    for number in range({_STEPS}):
        assert await store.add("a", f"{{name}} {{number}}".encode())
    await store.close()

asyncio.run(add(*sys.argv[1:]))
"""


async def _added_by_a_process(location: str, name: str) -> int:
    return await (await asyncio.create_subprocess_exec(sys.executable, "-c", _ADDER, location, name)).wait()
