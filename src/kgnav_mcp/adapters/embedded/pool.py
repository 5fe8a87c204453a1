"""A pool of threads, each with its own connection, so that no query blocks the event loop.

Plans have threads of their own, so that other calls do not wait for them.

One call of an adapter's method is one job: it runs all its queries in one thread and returns the answer. A job is
stopped through its own ticket, which the progress handler of the thread's connection checks. The handler checks the
ticket of the job that the thread is running now, so a late stop never interrupts another caller's query.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from math import inf
from time import monotonic
from typing import TypeVar

from kgnav_mcp.adapters.embedded import fileformat, graphfile
from kgnav_mcp.adapters.embedded.graphfile import MAX_ROW_BYTES, MAX_ROW_BYTES_OF_PLAN
from kgnav_mcp.adapters.embedded.session import RowsTooLargeError, Session, StoppedError, Ticket
from kgnav_mcp.adapters.embedded.workers import Workers
from kgnav_mcp.errors import StepLimitReached, StoreTimeout, StoreUnavailable
from kgnav_mcp.store_limits import PLANS_AT_ONCE, store_limits

T = TypeVar("T")


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
        )
        self._tickets.add(ticket)
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

    async def close(self) -> None:
        """Stops all jobs, and ends threads and connections. Safe to call twice."""
        self._closed = True
        for ticket in self._tickets:
            ticket.stop()
        await asyncio.gather(self._workers.close(), self._plan_workers.close())

    def _run_job(self, job: Callable[[Session], T], ticket: Ticket, session: Session) -> T:
        try:
            return _run_twice_without_memory(job, ticket, session)
        except Exception as error:
            # The one place where errors of SQLite, and errors of reading its rows, are translated.
            if ticket.is_expired() and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise StoppedError from error
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


def _run_twice_without_memory(job: Callable[[Session], T], ticket: Ticket, session: Session) -> T:
    """Runs a job, and again if SQLite has no memory: a plan in another thread took it, and is ended for that, too."""
    session.begin(ticket)
    try:
        return job(session)
    except RowsTooLargeError:
        raise
    except MemoryError:
        session.begin(ticket)
        return job(session)


def _has_wrong_types(session: Session) -> bool:
    """Whether the file has a value of the wrong type, so that an error in reading is due to damage."""
    return any(session.all(query)[0][0] for query in fileformat.OTHER_VALUES)


def _closed_error() -> StoreUnavailable:
    return StoreUnavailable("the graph is closed", next_step="Open the graph again.")
