"""Jobs in threads: never in the event loop's way, ended on time, and never by somebody else's end."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sqlite3
import sys
import threading
import weakref
from collections.abc import AsyncGenerator
from contextlib import suppress
from math import inf
from pathlib import Path
from time import sleep

import pytest

from kgnav_mcp.adapters.embedded import pool as pool_module
from kgnav_mcp.adapters.embedded import pool as thread_pool
from kgnav_mcp.adapters.embedded import session
from kgnav_mcp.adapters.embedded.graphfile import USUAL_LENGTH
from kgnav_mcp.adapters.embedded.pool import Pool
from kgnav_mcp.adapters.embedded.session import Row, Session, Ticket
from kgnav_mcp.errors import (
    InvalidStore,
    PlanOverBudget,
    RateLimited,
    StepLimitReached,
    StoreTimeout,
    StoreUnavailable,
    Unsupported,
)
from kgnav_mcp.render.problems import error_text
from kgnav_mcp.store_limits import StoreLimits, limited_to

ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def endless(session: Session) -> object:
    return session.one(ENDLESS)


def count_relations(session: Session) -> object:
    row = session.one("SELECT count(*) FROM relation")
    return row and row[0]


@pytest.fixture
async def pool(toy_file: Path) -> AsyncGenerator[Pool]:
    pool = Pool(str(toy_file), size=1, timeout=10)
    yield pool
    await pool.close()


async def test_a_slow_query_does_not_stop_the_event_loop(toy_file: Path):
    pool = Pool(str(toy_file), timeout=0.5)
    slow = asyncio.create_task(pool.run(endless))
    turns = 0
    while not slow.done():
        turns += 1
        await asyncio.sleep(0.005)
    assert turns > 2, "a loop that waits for the query has one turn before it and one behind it"
    with pytest.raises(StoreTimeout):
        await slow
    await pool.close()


async def test_a_job_past_its_time_is_ended_and_says_how_long_it_had(toy_file: Path, monkeypatch: pytest.MonkeyPatch):
    pool = Pool(str(toy_file), size=1, timeout=0.2)
    with pytest.raises(StoreTimeout, match=r"0\.2 s") as caught:
        await pool.run(endless)
    assert caught.value.next_step
    monkeypatch.setattr(pool, "_timeout", 30)
    assert await pool.run(count_relations), "the thread is free for the next job"
    await pool.close()


async def test_a_job_beyond_its_steps_is_ended_whatever_time_it_took(pool: Pool):
    with limited_to(StoreLimits(steps=100_000)):
        with pytest.raises(StepLimitReached, match="after 100,000 steps"):
            await pool.run(endless)
        assert await pool.run(count_relations), "each job has the steps of its own"
    assert await pool.run(count_relations), "the thread is free for the next job"


async def test_jobs_of_plans_do_not_keep_others_waiting(pool: Pool):
    release = threading.Event()
    with limited_to(StoreLimits(of_plan=True)):
        plans = [asyncio.ensure_future(pool.run(lambda _: release.wait(10))) for _ in range(5)]
    await asyncio.sleep(0)
    assert await pool.run(count_relations)
    release.set()
    assert await asyncio.gather(*plans) == [True] * 5


async def test_time_spent_in_the_queue_counts(toy_file: Path):
    pool = Pool(str(toy_file), size=1, timeout=0.3)
    jobs = await asyncio.gather(*(pool.run(endless) for _ in range(5)), return_exceptions=True)
    assert all(isinstance(job, StoreTimeout) for job in jobs)
    await pool.close()


async def test_cancelling_ends_the_query(pool: Pool):
    task = asyncio.create_task(pool.run(endless))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pool.run(count_relations), "the only thread is free again, and not at the pool's time-out alone"


async def test_a_late_stop_never_ends_the_query_of_somebody_else(pool: Pool):
    async def cancelled_after(seconds: float) -> None:
        task = asyncio.create_task(pool.run(endless))
        await asyncio.sleep(seconds)
        task.cancel()

    expected = await pool.run(count_relations)
    for number in range(100):
        await cancelled_after(0.0005 * (number % 4))
        assert await pool.run(count_relations) == expected


async def test_an_error_of_a_job_reaches_the_caller_as_it_is(pool: Pool):
    def wrong(session: Session) -> object:
        return session.one("SELECT ?, ?", 1)

    with pytest.raises(sqlite3.ProgrammingError):
        await pool.run(wrong)


async def test_closing_ends_running_jobs_and_refuses_new_ones(toy_file: Path):
    pool = Pool(str(toy_file), timeout=30)
    running = asyncio.create_task(pool.run(endless))
    await asyncio.sleep(0.05)
    await pool.close()
    with pytest.raises(StoreUnavailable):  # a job that ran on would end with a time-out
        await running
    with pytest.raises(StoreUnavailable):
        await pool.run(count_relations)
    await pool.close()


async def test_a_connection_cannot_write(pool: Pool):
    def write(session: Session) -> object:
        return session.one("DELETE FROM node")

    with pytest.raises(InvalidStore) as caught:
        await pool.run(write)
    assert "readonly" in str(caught.value.__cause__)


async def test_a_thread_that_does_not_come_back_is_replaced(toy_file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(thread_pool, "_LOST_SECONDS", 0.05)
    comes_back = threading.Event()

    def lost(_: Session) -> object:
        return comes_back.wait(30)

    pool = Pool(str(toy_file), size=1, timeout=0.1)
    for _ in range(3):
        with pytest.raises(StoreTimeout):
            await pool.run(lost)
        await asyncio.sleep(0.1)
    monkeypatch.setattr(pool, "_timeout", 30)  # on a busy machine a new thread takes longer than 0.1 s
    assert await pool.run(count_relations)
    await pool.close()
    comes_back.set()
    threads = [thread for thread in threading.enumerate() if thread.name == "kgnav-file"]
    for thread in threads:
        await asyncio.to_thread(thread.join, 5)
    assert not [thread for thread in threads if thread.is_alive()], "each ends when it does come back"


async def test_a_long_plan_lowers_the_priority_of_its_thread_which_takes_no_further_job(
    toy_file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session, "_LONG_S", 0.0)
    lowered: list[threading.Thread] = []
    monkeypatch.setattr(session, "lower_priority", lambda: lowered.append(threading.current_thread()))
    pool = Pool(str(toy_file), timeout=30)

    def counted(session: Session) -> tuple[Row | None, threading.Thread]:
        return session.one(ENDLESS.replace("FROM c)", "FROM c LIMIT 100000)")), threading.current_thread()

    _, ordinary = await pool.run(counted)
    assert lowered == [], "a call that is no plan"
    with limited_to(StoreLimits(of_plan=True)):
        jobs = [asyncio.ensure_future(pool.run(counted)) for _ in range(5)]
        answers = await asyncio.gather(*jobs)
    assert [row for row, _ in answers] == [(100_000,)] * 5
    assert len(lowered) == 5
    assert {*lowered} == {thread for _, thread in answers}
    assert await pool.run(counted) == ((100_000,), ordinary)
    await pool.close()


@pytest.mark.parametrize("error", [KeyError(7), ValueError("no JSON"), OverflowError(), IndexError()])
async def test_a_row_that_is_not_as_it_was_written_means_a_damaged_file(pool: Pool, error: Exception):
    def read(_: Session) -> object:
        raise error

    with pytest.raises(InvalidStore, match="is damaged") as caught:
        await pool.run(read)
    assert "kgnav load" in caught.value.next_step
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT max({', '.join('1' * 2_000)})",
        f"SELECT {' + '.join('1' * 2_000)}",
        f"SELECT {', '.join('1' * 3_000)}",
        f"VALUES {' UNION ALL SELECT '.join(['(1)', *'1' * 600])}",
        " JOIN ".join(["SELECT 1 FROM relation", *["relation"] * 70]),
    ],
    ids=["arguments", "depth", "columns", "compound", "tables"],
)
async def test_a_query_that_is_too_large_for_sqlite_is_not_reported_as_damage_of_the_file(pool: Pool, query: str):
    with pytest.raises(Unsupported, match="too large for SQLite") as caught:
        await pool.run(lambda session: session.all(query))
    assert "fewer" in caught.value.next_step


@pytest.mark.parametrize("error", [TypeError("no such parameter"), AttributeError("page")])
async def test_a_mistake_of_a_reader_is_not_told_as_damage_of_the_file(pool: Pool, error: Exception):
    def read(_: Session) -> object:
        raise error

    with pytest.raises(type(error)):
        await pool.run(read)


ROWS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT ?1) SELECT x, hex(zeroblob(?2)) FROM c"
"""So many rows with texts of twice so many letters."""


@pytest.mark.parametrize(("rows", "letters"), [(3, 2 * USUAL_LENGTH), (5000, 20), (1, 0), (1024, 2), (0, 2)])
async def test_rows_of_any_number_and_length_are_read_whole(pool: Pool, rows: int, letters: int):
    found = await pool.run(lambda session: session.all(ROWS, rows, letters // 2))
    assert [(number, len(text)) for number, text in found] == [(n + 1, letters) for n in range(max(rows, 1))][:rows]
    first = await pool.run(lambda session: session.one(ROWS, rows, letters // 2))
    assert first == (found[0] if found else None)


class CountedReads(sqlite3.Cursor):
    """Counts how often rows were asked for."""

    times = 0

    def fetchmany(self, size: int | None = 1) -> list[Row]:
        CountedReads.times += 1
        return super().fetchmany(size)


def test_a_long_list_of_ids_does_not_have_its_rows_read_one_by_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(CountedReads, "times", 0)

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
            return self.cursor(CountedReads).execute(sql, parameters)  # pyright: ignore[reportArgumentType] - any that SQLite takes

    one = session.Session(sqlite3.connect(":memory:", factory=Connection))
    one.begin(Ticket(inf))
    ids = json.dumps([f"{n:030}" for n in range(10_000)])
    assert len(ids) > USUAL_LENGTH
    assert len(one.all("SELECT value FROM json_each(?)", ids)) == 10_000
    assert CountedReads.times < 10_000 / 50
    one.close()


@pytest.mark.parametrize(("rows", "letters"), [(100_000_000, 20), (1000, 2 * USUAL_LENGTH)])
async def test_rows_that_would_fill_the_memory_are_refused(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, rows: int, letters: int
):
    monkeypatch.setattr(pool_module, "MAX_ROW_BYTES", 4 * USUAL_LENGTH)
    with pytest.raises(InvalidStore, match="more memory") as caught:
        await pool.run(lambda session: session.all(ROWS, rows, letters // 2))
    assert "Narrow the call" in caught.value.next_step
    assert await pool.run(count_relations), "the next job begins with nothing read"


async def test_a_plan_may_read_fewer_bytes_than_other_calls(pool: Pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool_module, "MAX_ROW_BYTES_OF_PLAN", 4 * USUAL_LENGTH)

    def rows(session: Session) -> int:
        return len(session.all(ROWS, 5_000, 200))

    assert await pool.run(rows) == 5_000
    with limited_to(StoreLimits(of_plan=True)), pytest.raises(PlanOverBudget, match="more memory") as caught:
        await pool.run(rows)
    assert "unusable" not in error_text(caught.value), "the file is fine"


async def test_sqlite_has_less_memory_than_a_plan_may_take(pool: Pool):
    (limit,) = await pool.run(lambda session: session.one("PRAGMA hard_heap_limit")) or (0,)
    assert 0 < limit <= 96 * 1024**2


FILLED = "SELECT test_wait(length(bytes)) FROM (SELECT randomblob(30000000) AS bytes LIMIT 1)"
"""Holds two thirds of SQLite's memory when it calls the function: it needs a value's size twice."""
LARGE = "SELECT length(bytes) FROM (SELECT randomblob(30000000) AS bytes LIMIT 1)"
"""Needs more than the rest, less than all."""


SORTED = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
SELECT count(*) FROM (SELECT i || hex(zeroblob(2500)) AS text FROM n ORDER BY text LIMIT 20000)"""
"""Sorts 100 MB, more than SQLite's memory."""


async def test_rows_that_do_not_fit_in_memory_are_sorted_in_temporary_files(pool: Pool):
    assert await pool.run(lambda session: session.one(SORTED)) == (20_000,)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells the size of temporary files")
async def test_a_job_whose_temporary_files_grow_too_large_is_ended(pool: Pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session, "MAX_TEMPORARY_BYTES", 2**20)
    monkeypatch.setattr(session, "_LONG_S", 0.01)
    with pytest.raises(InvalidStore, match="more memory"):
        await pool.run(lambda session: session.one(SORTED))
    assert await pool.run(count_relations), "the next job begins with nothing sorted"


async def test_a_job_without_room_for_temporary_files_says_so(pool: Pool):
    assert await pool.run(count_relations)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    try:
        with pytest.raises(StoreUnavailable, match="no room") as caught:
            await pool.run(lambda session: session.one(SORTED))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "SQLITE_TMPDIR" in caught.value.next_step
    assert await pool.run(lambda session: session.one(SORTED)) == (20_000,)


class Plan:
    """A job of a plan that takes most memory of SQLite until it is told to end."""

    def __init__(self) -> None:
        self.may_end, self.filled = threading.Event(), threading.Event()

    def __call__(self, session: Session) -> None:
        session.define({"test_wait": (1, self._wait)}, {})
        session.all(FILLED)
        raise Unsupported("this part", next_step="Leave it out.")

    def _wait(self, _: int) -> None:
        self.filled.set()
        self.may_end.wait(10)


@pytest.fixture
async def hungry_plan(toy_file: Path) -> AsyncGenerator[Plan]:
    pool, plan = Pool(str(toy_file), size=1, timeout=10), Plan()
    with limited_to(StoreLimits(of_plan=True)):
        task = asyncio.create_task(pool.run(plan))
    await asyncio.to_thread(plan.filled.wait, 10)
    yield plan
    plan.may_end.set()
    with pytest.raises(Unsupported):
        await task
    await pool.close()


async def test_a_job_waits_for_the_memory_that_a_plan_on_another_graph_has_taken(pool: Pool, hungry_plan: Plan):
    runs: list[int] = []

    def job(session: Session) -> object:
        runs.append(1)
        if len(runs) == 2:
            hungry_plan.may_end.set()
        return session.one(LARGE)

    assert await pool.run(job) == (30_000_000,)
    assert len(runs) > 1


async def test_a_job_that_plans_leave_no_memory_says_when_to_try_again(
    pool: Pool, hungry_plan: Plan, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool_module, "_MEMORY_WAIT_S", 0.1)
    with pytest.raises(RateLimited, match="plans that run now"):
        await pool.run(lambda session: session.one(LARGE))
    assert not hungry_plan.may_end.is_set()


@pytest.mark.slow
async def test_a_job_that_needs_too_much_memory_by_itself_is_not_run_again(pool: Pool):
    runs: list[int] = []

    def job(session: Session) -> object:
        runs.append(1)
        return session.one(LARGE.replace("30000000", "60000000"))

    with pytest.raises(InvalidStore, match="more memory"):
        await pool.run(job)
    assert len(runs) == 1


class Rows(list[int]):
    """Rows that a job holds."""


async def test_what_a_failed_job_has_read_is_freed_with_its_error(pool: Pool):
    references: list[weakref.ref[Rows]] = []

    def job(_: Session) -> None:
        rows = Rows()
        references.append(weakref.ref(rows))
        raise Unsupported("too many rows", next_step="Read fewer.")

    gc.disable()
    try:
        with suppress(Unsupported):
            await pool.run(job)
        await pool.run(count_relations)  # by then the thread has let go of the job before
        assert references[0]() is None
    finally:
        gc.enable()


async def test_a_thread_that_starts_another_meanwhile_does_not_disturb_the_end(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
):
    start, starts = threading.Thread.start, list[str]()
    second = threading.Event()

    def slow_start(thread: threading.Thread) -> None:
        starts.append(threading.current_thread().name)
        if starts[-1] == "kgnav-file":
            second.set()
            sleep(0.3)
        start(thread)

    def long_job(session: Session) -> None:
        session.has_low_priority = True  # its thread ends, and starts one for the job that waits
        sleep(0.1)

    monkeypatch.setattr(thread_pool._Worker, "start", slow_start)  # pyright: ignore[reportPrivateUsage]
    with limited_to(StoreLimits(of_plan=True)):
        jobs = [asyncio.create_task(pool.run(long_job)) for _ in range(3 * thread_pool.PLANS_AT_ONCE)]
    await asyncio.to_thread(second.wait, 10)
    await pool.close()
    ends = await asyncio.gather(*jobs, return_exceptions=True)
    assert all(end is None or isinstance(end, StoreUnavailable) for end in ends)
    assert "kgnav-file" in starts
