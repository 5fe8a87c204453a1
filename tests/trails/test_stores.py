"""The stores of trails, by their contract."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.errors import ConfigurationError, TrailStoreUnavailable
from kgnav_mcp.trails import TrailLimits, TrailStore, open_trail_store
from kgnav_mcp.trails.redis import RedisTrailStore
from kgnav_mcp.trails.sqlite import SqliteTrailStore
from kgnav_mcp.trails.trail_keeper import RECORD_OVERHEAD, MemoryTrailStore
from tests.services import Redis, running
from tests.trails.suite import DAY, Clock, SharedTrailStoreContract, TrailStoreContract


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
        self.location = str(self.path)

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
        with closing(sqlite3.connect(self.path)) as connection:
            assert connection.execute("SELECT body FROM record").fetchall() == [(b"c",)]

    async def test_a_place_that_cannot_be_written_to_is_named(self, tmp_path: Path) -> None:
        store = SqliteTrailStore(tmp_path / "no" / "folder" / "trails.db", TrailLimits())
        with pytest.raises(TrailStoreUnavailable, match=r"trails\.db"):
            await store.start("a", b"start")
        await store.close()

    async def test_a_file_that_another_process_locks_in_between_leaves_no_connection_open(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[sqlite3.Connection] = []
        connect = sqlite3.connect

        def only_one(path: Path, **options: Any) -> sqlite3.Connection:
            if opened:
                raise sqlite3.OperationalError("database is locked")
            opened.append(connect(path, **options))
            return opened[0]

        monkeypatch.setattr(sqlite3, "connect", only_one)
        store = SqliteTrailStore(self.path, TrailLimits())
        with pytest.raises(TrailStoreUnavailable):
            await store.start("a", b"start")
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            opened[0].execute("SELECT 1")
        await store.close()

    async def test_a_file_of_something_else_is_no_place_for_trails(self) -> None:
        self.path.write_bytes(b"something else, and more of it than fits the header of a database, by far" * 20)
        store = SqliteTrailStore(self.path, TrailLimits())
        with pytest.raises(TrailStoreUnavailable):
            await store.read("a")
        await store.close()
        assert self.path.read_bytes().startswith(b"something else")


class TestInRedis(SharedTrailStoreContract):
    @pytest.fixture(autouse=True)
    def place(self, redis_url: str) -> None:
        self.location = redis_url
        self.redis("FLUSHALL")

    def redis(self, *command: str) -> list[str]:
        """What Redis's own client prints."""
        told = subprocess.run(["redis-cli", "-u", self.location, *command], capture_output=True, text=True, check=True)
        return told.stdout.split()

    @asynccontextmanager
    async def opened(self, limits: TrailLimits, clock: Clock) -> AsyncGenerator[TrailStore]:
        store = RedisTrailStore(self.location, limits, clock)
        try:
            yield store
        finally:
            await store.close()

    async def test_redis_forgets_what_nobody_asks_for_any_more(self, store: TrailStore) -> None:
        await store.start("a", b"start")
        assert all(0 < int(self.redis("TTL", key)[0]) <= DAY + 60 for key in self.redis("KEYS", "*"))

    async def test_a_redis_that_does_not_answer_is_named(self) -> None:
        store = open_trail_store("redis://127.0.0.1:1/0", TrailLimits())
        with pytest.raises(TrailStoreUnavailable, match="Redis"):
            await store.start("a", b"start")
        await store.close()


def test_a_location_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="mysql"):
        open_trail_store("mysql://localhost/trails", TrailLimits())


JUNK = {
    "a value of two gigabytes": b"$2000000000\r\n",
    "an array of two billion values": b"*2000000000\r\n" + b"$0\r\n\r\n" * 10_000,
    "arrays in arrays": b"*1\r\n" * 5_000,
    "an array of arrays": b"*1\r\n*1\r\n$1\r\nx\r\n",
    "a length below zero": b"$-7\r\n",
    "a length that is none": b"$many\r\n",
    "another protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "an endless line": b"x" * 200_000,
    "a number": b":7\r\n",
}


@asynccontextmanager
async def sending(junk: bytes) -> AsyncGenerator[tuple[str, list[int]]]:
    """The address of what answers every command with junk, endlessly; and how many bytes it could send."""
    sent = [0]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while commands := await reader.read(65_536):
                # From Python 3.12 on, the client's commands come together if they are written together.
                data = junk * max(1, len(re.findall(rb"(?:^|\r\n)\*\d+\r\n", commands)))
                while True:
                    writer.write(data)
                    await writer.drain()
                    sent[0] += len(data)
                    if not junk.startswith((b"$2", b"*2")):
                        break
                    data = (b"x" if junk[:1] == b"$" else b"$0\r\n\r\n") * 100_000
        except ConnectionError:  # the client has read enough
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", sent


@pytest.mark.parametrize("name", JUNK)
async def test_junk_instead_of_an_answer_is_read_within_a_bound_and_is_one_error(name: str) -> None:
    limits = TrailLimits(trail_size=100_000)
    async with sending(JUNK[name]) as (address, sent):
        store = open_trail_store(address, limits)
        with pytest.raises(TrailStoreUnavailable, match="is not Redis, or its answer is too large") as caught:
            await store.read("a")
        await store.close()
    assert "Check that --trail-store names the host and port of a Redis" in caught.value.next_step
    assert sent[0] < 10_000_000  # what the sockets hold, beside what was read


async def test_the_largest_trail_is_read_from_redis_whole(redis_url: str) -> None:
    store = open_trail_store(redis_url, TrailLimits(trail_size=100_000))
    records = (b"start", *(b"x" for _ in range(500)), b"y" * (100_000 - 502 * RECORD_OVERHEAD - 505))
    await store.start("largest", records[0])
    for record in records[1:]:
        assert await store.add("largest", record)
    assert await store.read("largest") == records
    await store.close()


@pytest.mark.usefixtures("redis_url")
async def test_a_redis_with_a_password_says_that_one_is_wanted_and_how_it_is_written(tmp_path: Path) -> None:
    with running(Redis(tmp_path / "own")) as service:
        command = ("redis-cli", "-u", service.url, "CONFIG", "SET", "requirepass", "s/cret")
        assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
        for user, what in (
            ("", "requires a password"),
            (":wrong@", "rejects the user or password"),
            ("nobody:wrong@", "rejects the user or password"),
        ):
            for number in (0, 1):
                store = open_trail_store(f"{service.url.replace('//', f'//{user}')[:-1]}{number}", TrailLimits())
                with pytest.raises(TrailStoreUnavailable, match=what) as caught:
                    await store.start("a", b"start")
                assert "redis://:PASSWORD@HOST:PORT/NUMBER" in caught.value.next_step
                assert "wrong" not in f"{caught.value.message} {caught.value.next_step}"
                await store.close()
        store = open_trail_store(service.url.replace("//", "//:s%2Fcret@"), TrailLimits())
        await store.start("a", b"start")
        assert await store.read("a") == (b"start",)
        await store.close()
