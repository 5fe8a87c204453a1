"""A few threads with a connection each, so that no query ever blocks the event loop.

One job is one verb: it crosses to a thread once, does all its queries there and brings back the answer. A job is
stopped by its own flag, which the progress handler of the thread's connection reads; because the handler looks at
the job that this very thread is doing, a late stop can never hit the query of somebody else.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TypeVar

from kgnav_mcp.adapters.embedded import filetables, graphfile
from kgnav_mcp.adapters.embedded.session import Session, StoppedError, Ticket
from kgnav_mcp.adapters.embedded.workers import Workers
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable

T = TypeVar("T")


class Pool:
    """Runs jobs on up to `size` threads with a connection each to one graph file.

    All connections are to the file that stood at the path when the first was made, whatever stands there later.
    """

    def __init__(self, path: str, *, size: int = 4, timeout: float = 30.0) -> None:
        self._path = path
        self._timeout = timeout
        self._workers = Workers(size, self._connected)
        self._file: graphfile.Identity | None = None
        self._choosing = threading.Lock()
        self._tickets: set[Ticket] = set()
        self._closed = False

    @property
    def stale(self) -> bool:
        """Whether another file than the one that is read, or none, is at the path now."""
        return self._file is not None and self._file != graphfile.identity(self._path)

    async def run(self, job: Callable[[Session], T]) -> T:
        """Do a job in a thread and wait for it. A cancelled wait ends at once, and its query with it.

        Raises:
            StoreTimeout: the job did not end within the pool's time-out, time spent in the queue included.
            StoreUnavailable: the pool is closed, or the file can no longer be read.
            InvalidStore: the file is damaged, or what it would answer does not fit in memory.
        """
        if self._closed:
            raise _closed()
        ticket = Ticket(monotonic() + self._timeout)
        self._tickets.add(ticket)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.wrap_future(self._workers.begin(partial(self._work, job, ticket), ticket))
        except (TimeoutError, StoppedError) as error:
            if self._closed:
                raise _closed() from error
            raise StoreTimeout(
                self._timeout, next_step="Ask for less: fewer entities, one relation or a label; or raise the time-out."
            ) from error
        finally:
            ticket.stop()
            self._tickets.discard(ticket)

    async def close(self) -> None:
        """End every running job and give back threads and connections. Safe to call twice."""
        self._closed = True
        for ticket in self._tickets:
            ticket.stop()
        await self._workers.close()

    def _work(self, job: Callable[[Session], T], ticket: Ticket, session: Session) -> T:
        try:
            session.begin(ticket)
            return job(session)
        except Exception as error:
            # The one place where errors of SQLite, and of reading its rows, become ours.
            if ticket.over() and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise StoppedError from error
            translated = graphfile.translate(error, self._path)
            if isinstance(error, TypeError | AttributeError) and _has_other_values(session):
                translated = graphfile.damaged(self._path)
            if translated is None:
                raise
            raise translated from error

    def _connected(self) -> Session | None:
        """A session with the file that is read; None where that is no longer at the path."""
        connection, file = graphfile.connect(self._path)
        with self._choosing:
            self._file = self._file or file
        if self._file == file:
            return Session(connection)
        connection.close()
        return None


def _has_other_values(session: Session) -> bool:
    """Whether a value in the file has another type than a load writes, so that reading it went wrong."""
    return any(session.all(query)[0][0] for query in filetables.OTHER_VALUES)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the graph is closed", next_step="Open the graph again.")
