"""The stores of trails, by their contract."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kgnav_mcp.errors import ConfigurationError, TrailStoreUnavailable
from kgnav_mcp.trails import TrailLimits, TrailStore, open_trail_store
from kgnav_mcp.trails.memory import MemoryTrailStore
from kgnav_mcp.trails.sqlite import SqliteTrailStore
from tests.trails.suite import Clock, SharedTrailStoreContract, TrailStoreContract


class TestInMemory(TrailStoreContract):
    @asynccontextmanager
    async def opened(self, limits: TrailLimits, clock: Clock) -> AsyncGenerator[TrailStore]:
        yield MemoryTrailStore(limits, clock)

    async def test_ten_thousand_trails_stay_under_the_bound(self, clock: Clock) -> None:
        store = MemoryTrailStore(TrailLimits(total_size=20_000_000), clock)
        for number in range(10_000):
            await store.start(str(number), b"x" * 1_000)
            for _ in range(3):
                await store.add(str(number), b"y" * 2_000)
        assert store.size <= 20_000_000
        assert await store.read("9999")


class TestInSqlite(SharedTrailStoreContract):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "trails.db"

    @asynccontextmanager
    async def opened(self, limits: TrailLimits, clock: Clock) -> AsyncGenerator[TrailStore]:
        store = SqliteTrailStore(self.path, limits, clock)
        try:
            yield store
        finally:
            await store.close()

    async def test_only_its_owner_may_read_the_file(self, store: TrailStore) -> None:
        await store.start("a", b"start")
        assert self.path.stat().st_mode & 0o077 == 0

    async def test_forgotten_trails_leave_no_records(self, clock: Clock) -> None:
        async with self.opened(TrailLimits(trails=1), clock) as store:
            for key in ("a", "b", "c"):
                await store.start(key, key.encode())
        with sqlite3.connect(self.path) as connection:
            assert connection.execute("SELECT body FROM record").fetchall() == [(b"c",)]

    async def test_a_place_that_cannot_be_written_to_is_named(self, tmp_path: Path) -> None:
        store = SqliteTrailStore(tmp_path / "no" / "folder" / "trails.db", TrailLimits())
        with pytest.raises(TrailStoreUnavailable, match=r"trails\.db"):
            await store.start("a", b"start")
        await store.close()

    async def test_a_file_of_something_else_is_no_place_for_trails(self) -> None:
        self.path.write_bytes(b"something else, and more of it than fits the header of a database, by far" * 20)
        store = SqliteTrailStore(self.path, TrailLimits())
        with pytest.raises(TrailStoreUnavailable):
            await store.read("a")
        await store.close()
        assert self.path.read_bytes().startswith(b"something else")


def test_a_location_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="mysql"):
        open_trail_store("mysql://localhost/trails", TrailLimits())


class TestInRedis(SharedTrailStoreContract):
    @asynccontextmanager
    async def opened(self, limits: TrailLimits, clock: Clock) -> AsyncGenerator[TrailStore]:
        from kgnav_mcp.trails.redis import RedisTrailStore

        store = RedisTrailStore("redis://127.0.0.1:7399/0", limits, clock)
        try:
            yield store
        finally:
            await store.close()

    @pytest.fixture(autouse=True)
    def empty(self) -> None:
        import redis

        redis.Redis(port=7399).flushall()
