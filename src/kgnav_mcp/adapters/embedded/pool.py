"""A pool of threads, each with its own connection, so that no query blocks the event loop.

A thread that hangs is abandoned and replaced. Plans have threads of their own, so that other calls need not wait.

One call of an adapter's method is one job: it runs all its queries in one thread and returns the answer. A job is
stopped through its own ticket, which the progress handler of the thread's connection checks. The handler checks the
ticket of the job that the thread is running now, so a late stop never interrupts another caller's query.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, TypeVar

from kgnav_mcp.adapters.embedded import fileformat, graphfile
from kgnav_mcp.adapters.embedded.graphfile import MAX_ROW_BYTES, MAX_ROW_BYTES_OF_PLAN
from kgnav_mcp.adapters.embedded.session import RowsTooLargeError, Session, StoppedError, Ticket
from kgnav_mcp.errors import PlanOverBudget, RateLimited, StepLimitReached, StoreTimeout, StoreUnavailable
from kgnav_mcp.store_limits import PLANS_AT_ONCE, store_limits

T = TypeVar("T")

_TOO_MUCH, _A_QUERY = "needs more memory than graph files may take for a plan", "one of its queries"
_READ_LESS = (
    "Read less: a label or a condition on the first node, WITH ... LIMIT before the next pattern, or only a count."
)

_LOST_SECONDS = 1.0
"""A thread whose job should have ended this long ago counts as lost: it may never notice that its job was stopped."""
_MAX_LOST = 12
"""Lost threads that are replaced, at most. A file on which more threads hang gets no further ones."""

_PLANS: set[Ticket] = set()
"""Tickets of the plans whose jobs run or wait, on all graphs of this process."""
_MEMORY_WAIT_S, _MEMORY_PAUSE_S = 2.0, 0.02
"""How long a job waits for memory that plans have taken, and how long before each further attempt."""


@dataclass(slots=True, eq=False)
class _Job:
    """Work for a thread, its ticket, and the future that receives its result."""

    work: Callable[[Session], Any]
    ticket: Ticket
    future: Future[Any] = field(default_factory=Future[Any])


class Workers:
    """Up to `size` threads. Each gets its session from `connect` with its first job.

    If `connect` returns None, no further session is possible, and the threads that have one do the work.
    Threads are daemons, so that a lost one does not keep the process from ending.
    """

    def __init__(self, size: int, connect: Callable[[], Session | None]) -> None:
        self._size = size
        self._connect = connect
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: set[_Worker] = set()
        self._lost: set[_Worker] = set()
        self._changing = threading.Lock()
        """Held while threads are started, end or are listed: one that ends may start another."""
        self._closed = False

    def submit(self, work: Callable[[Session], T], ticket: Ticket) -> Future[T]:
        """Queues work for the next free thread and returns its future."""
        job = _Job(work, ticket)
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False):
            with self._changing:
                self._start_thread()
        return job.future

    async def close(self) -> None:
        """Ends the threads. Does not wait for lost ones; these close their session when they come back."""
        with self._changing:
            self._closed = True
            threads = [*self._threads]
        for _ in threads:
            self._jobs.put(None)
        await asyncio.to_thread(_join, threads)

    def next(self, thread: _Worker) -> _Job | None:
        """Returns the next job for a thread, waiting for one; None tells the thread to end."""
        if thread in self._lost:
            return None
        try:
            return self._jobs.get_nowait()
        except Empty:
            self._idle.release()
            return self._jobs.get()

    def connected(self, job: _Job) -> Session | None:
        """Returns a session for a thread with its first job; None if the job went back to the queue or failed."""
        try:
            session = self._connect()
        except Exception as error:  # noqa: BLE001 - passed on to the caller who waits for the job
            job.future.set_exception(error)
            return None
        if session is None:
            self._jobs.put(job)
        return session

    def left(self, thread: _Worker) -> None:
        """Notes that a thread has ended, and starts another one if jobs wait."""
        with self._changing:
            self._threads.discard(thread)
            self._lost.discard(thread)
            if not self._closed and not self._jobs.empty():
                self._start_thread()

    def _start_thread(self) -> None:
        """Starts one more thread if the limits allow it."""
        if len(self._threads) >= self._size:
            lost = next((thread for thread in self._threads if thread.is_lost()), None)
            if lost is None or len(self._lost) >= _MAX_LOST:
                return
            self._lost.add(lost)
            self._threads.discard(lost)
        thread = _Worker(self)
        self._threads.add(thread)
        thread.start()


class _Worker(threading.Thread):
    """One worker thread."""

    def __init__(self, workers: Workers) -> None:
        super().__init__(name="kgnav-file", daemon=True)
        self._workers = workers
        self._ticket: Ticket | None = None

    def is_lost(self) -> bool:
        """Whether its job should have ended more than _LOST_SECONDS ago."""
        ticket = self._ticket
        return ticket is not None and ticket.seconds_overdue() > _LOST_SECONDS

    def run(self) -> None:
        session: Session | None = None
        try:
            while (job := self._workers.next(self)) is not None:
                self._ticket = job.ticket
                session = session or self._workers.connected(job)
                if session is None:
                    return
                if job.future.set_running_or_notify_cancel():
                    _run_job(job, session)
                self._ticket = None
                del job  # frees its result, which may be large, while the thread waits for the next job
                if session.has_low_priority:
                    return
        finally:
            if session is not None:
                session.close()
            self._workers.left(self)


def _run_job(job: _Job, session: Session) -> None:
    try:
        result = job.work(session)
    except BaseException as error:  # noqa: BLE001 - passed on to the caller who waits for the job
        job.future.set_exception(error)
        del job  # the error refers to this frame: with the future it would keep all that the job has read
    else:
        job.future.set_result(result)


def _join(threads: list[_Worker]) -> None:
    end = monotonic() + _LOST_SECONDS
    for thread in threads:
        thread.join(max(end - monotonic(), 0))


class Pool:
    """Runs jobs on up to `size` threads, and those of plans on PLANS_AT_ONCE others. Times are in seconds.

    Each thread has its own connection to one graph file. All connections read the file that was at the path when the
    first one was made.
    """

    def __init__(self, path: str, *, size: int = 4, timeout: float = 30.0) -> None:
        self._path = path
        self._timeout = timeout
        self._workers = Workers(size, self._connect)
        self._plan_workers = Workers(PLANS_AT_ONCE, self._connect)
        self._file: graphfile.Identity | None = None
        self._file_lock = threading.Lock()
        self._tickets: set[Ticket] = set()
        self._closed = False

    @property
    def stale(self) -> bool:
        """Whether the path now has another file than the one being read, or none."""
        return self._file is not None and self._file != graphfile.identity(self._path)

    async def run(self, job: Callable[[Session], T]) -> T:
        """Runs a job in a thread and returns its answer. Cancelling the wait stops the job's query.

        Raises:
            StoreTimeout: the job did not end within the pool's time-out, time spent in the queue included.
            StepLimitReached: the job took more steps than the caller's limits allow.
            StoreUnavailable: the pool is closed, or the file can no longer be read.
            RateLimited: plans of this process leave no memory for it.
            InvalidStore: the file is damaged, or its answer does not fit in memory.
        """
        if self._closed:
            raise _closed_error()
        limits = store_limits()
        steps, workers = limits.steps, self._plan_workers if limits.of_plan else self._workers
        ticket = Ticket(
            monotonic() + self._timeout,
            steps_left=inf if steps is None else steps,
            most_bytes=MAX_ROW_BYTES_OF_PLAN if limits.of_plan else MAX_ROW_BYTES,
            of_plan=limits.of_plan,
        )
        self._tickets.add(ticket)
        if limits.of_plan:
            _PLANS.add(ticket)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.wrap_future(workers.submit(partial(self._run_job, job, ticket), ticket))
        except (TimeoutError, StoppedError) as error:
            if self._closed:
                raise _closed_error() from error
            if steps is not None and ticket.steps_left < 0:
                raise StepLimitReached(steps) from error
            raise StoreTimeout(
                self._timeout,
                next_step="Narrow the call to fewer entities, one relation or a label; or raise --timeout.",
            ) from error
        finally:
            ticket.stop()
            self._tickets.discard(ticket)
            _PLANS.discard(ticket)

    async def close(self) -> None:
        """Stops all jobs, and ends threads and connections. Safe to call twice."""
        self._closed = True
        for ticket in self._tickets:
            ticket.stop()
        await asyncio.gather(self._workers.close(), self._plan_workers.close())

    def _run_job(self, job: Callable[[Session], T], ticket: Ticket, session: Session) -> T:
        try:
            return _run_when_memory_is_free(job, ticket, session)
        except Exception as error:
            # The one place where errors of SQLite, and errors of reading its rows, are translated.
            if ticket.is_expired() and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise StoppedError from error
            if ticket.of_plan and graphfile.is_too_large(error):
                raise PlanOverBudget(_TOO_MUCH, _A_QUERY, next_step=_READ_LESS) from error
            translated = graphfile.translate(error, self._path)
            if isinstance(error, TypeError | AttributeError) and _has_wrong_types(session):
                translated = graphfile.damaged(self._path)
            if translated is None:
                raise
            raise translated from error

    def _connect(self) -> Session | None:
        """Returns a session for the file being read, or None if that file is no longer at the path."""
        connection, file = graphfile.connect(self._path)
        with self._file_lock:
            self._file = self._file or file
        if self._file == file:
            return Session(connection)
        connection.close()
        return None


def _run_when_memory_is_free(job: Callable[[Session], T], ticket: Ticket, session: Session) -> T:
    """Runs a job, and again while plans in other threads leave SQLite no memory for it.

    Raises:
        RateLimited: after _MEMORY_WAIT_S seconds there is still none.
        MemoryError: it needs more than there is without other plans.
    """
    end = monotonic() + _MEMORY_WAIT_S
    while True:
        session.begin(ticket)
        beside_plans = _runs_beside_plans(ticket)
        try:
            return job(session)
        except RowsTooLargeError:
            raise
        except MemoryError as error:
            if not beside_plans and not _runs_beside_plans(ticket):
                raise
            if monotonic() > end:
                raise RateLimited("plans that run now take all the memory of graph files", _MEMORY_WAIT_S) from error
        sleep(_MEMORY_PAUSE_S)


def _runs_beside_plans(ticket: Ticket) -> bool:
    """Whether other plans run, of this graph or another: SQLite's memory is that of the process."""
    return len(_PLANS) > (ticket in _PLANS)


def _has_wrong_types(session: Session) -> bool:
    """Whether the file has a value of the wrong type, so that an error in reading is due to damage."""
    return any(session.all(query)[0][0] for query in fileformat.OTHER_VALUES)


def _closed_error() -> StoreUnavailable:
    return StoreUnavailable("the graph is closed", next_step="Open the graph again.")
