"""A few threads with a connection each, so that no query ever blocks the event loop.

One job is one verb: it crosses to a thread once, does all its queries there and brings back the answer. A job is
stopped by its own flag, which the progress handler of the thread's connection reads; because the handler looks at
the job that this very thread is doing, a late stop can never hit the query of somebody else.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from kgnav_mcp.adapters.embedded import graphfile
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable

T = TypeVar("T")

Parameter = str | int | None
Row = tuple[Any, ...]

_STEPS_BETWEEN_CHECKS = 10_000
"""Steps of SQLite's virtual machine between two looks at the flag: under a millisecond, too rare to cost anything."""


class StoppedError(Exception):
    """A job found that nobody waits for it any more. Never leaves the pool."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One job's right to run: until its deadline, or until whoever waits for it gives up."""

    deadline: float
    stopped: bool = False

    def over(self) -> bool:
        """Whether the job must end now."""
        return self.stopped or monotonic() >= self.deadline


class Session:
    """One thread's connection, as a job sees it."""

    __slots__ = ("_connection", "_ticket")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ticket = Ticket(0.0)
        connection.set_progress_handler(self._is_over, _STEPS_BETWEEN_CHECKS)

    def begin(self, ticket: Ticket) -> None:
        """Start a job: from now on its ticket is the one that counts."""
        self._ticket = ticket
        self.check()

    def check(self) -> None:
        """End the job here if its time is up. Work in Python that may last calls this between its parts.

        Raises:
            StoppedError: the job's ticket is over.
        """
        if self._ticket.over():
            raise StoppedError

    def all(self, query: str, *parameters: Parameter) -> list[Row]:
        """All rows of a query."""
        if self._ticket.stopped:
            raise StoppedError
        return self._connection.execute(query, parameters).fetchall()

    def one(self, query: str, *parameters: Parameter) -> Row | None:
        """The first row of a query, or None."""
        if self._ticket.stopped:
            raise StoppedError
        return self._connection.execute(query, parameters).fetchone()

    def named(self, query: str, parameters: Mapping[str, Parameter]) -> list[Row]:
        """All rows of a query with named parameters; those it does not mention are left aside."""
        if self._ticket.stopped:
            raise StoppedError
        return self._connection.execute(query, parameters).fetchall()

    def close(self) -> None:
        """Close the connection. No job may be running."""
        self._connection.set_progress_handler(None, 0)
        self._connection.close()

    def _is_over(self) -> int:
        return self._ticket.over()


class Pool:
    """Runs jobs on up to `size` threads with a connection each to one graph file."""

    def __init__(self, path: str, *, size: int = 4, timeout: float = 30.0) -> None:
        self._path = path
        self._timeout = timeout
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="kgnav-file")
        self._local = threading.local()
        self._sessions: list[Session] = []
        self._tickets: set[Ticket] = set()
        self._closed = False

    async def run(self, job: Callable[[Session], T]) -> T:
        """Do a job in a thread and wait for it. A cancelled wait ends at once, and its query with it.

        Raises:
            StoreTimeout: the job did not end within the pool's time-out, time spent in the queue included.
            StoreUnavailable: the pool is closed, or the file can no longer be read.
            InvalidStore: the file is damaged.
        """
        if self._closed:
            raise _closed()
        ticket = Ticket(monotonic() + self._timeout)
        self._tickets.add(ticket)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.get_running_loop().run_in_executor(self._executor, self._work, job, ticket)
        except (TimeoutError, StoppedError) as error:
            if self._closed:
                raise _closed() from error
            raise StoreTimeout(
                self._timeout, next_step="Ask for less: fewer entities, one relation or a label; or raise the time-out."
            ) from error
        finally:
            ticket.stopped = True
            self._tickets.discard(ticket)

    async def close(self) -> None:
        """End every running job and give back threads and connections. Safe to call twice."""
        self._closed = True
        for ticket in self._tickets:
            ticket.stopped = True
        await asyncio.to_thread(self._executor.shutdown)
        while self._sessions:
            self._sessions.pop().close()

    def _work(self, job: Callable[[Session], T], ticket: Ticket) -> T:
        try:
            session = self._session()
            session.begin(ticket)
            return job(session)
        except sqlite3.Error as error:
            # The one place where SQLite's errors become ours.
            if ticket.over() and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise StoppedError from error
            translated = graphfile.translate(error, self._path)
            if translated is None:
                raise
            raise translated from error

    def _session(self) -> Session:
        """The session of the running thread, made when it first needs one."""
        session: Session | None = getattr(self._local, "session", None)
        if session is None:
            session = Session(graphfile.connect(self._path))
            self._local.session = session
            self._sessions.append(session)
        return session


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the graph is closed", next_step="Open the graph again.")
