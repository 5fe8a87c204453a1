"""Threads with a session each. A thread that does not come back is given up and replaced."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from kgnav_mcp.adapters.embedded.session import Session, Ticket

T = TypeVar("T")

_LOST_SECONDS = 1.0
"""A thread that is so late has not seen that its job had to end, and may never see it."""
_MOST_LOST = 12
"""Threads that are given up at most: a file that loses more of them is not worth another one."""


@dataclass(slots=True, eq=False)
class _Job:
    """Work for a thread, its ticket, and where its outcome goes."""

    work: Callable[[Session], Any]
    ticket: Ticket
    outcome: Future[Any] = field(default_factory=Future[Any])


class Workers:
    """Up to `size` threads, each with a session that `connect` gives it when it first has work.

    `connect` gives None where no further session can be had: the threads that have one do the work then.
    Threads are daemons: one that is lost does not keep the process from ending.
    """

    def __init__(self, size: int, connect: Callable[[], Session | None]) -> None:
        self._size = size
        self._connect = connect
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: set[_Worker] = set()
        self._lost: set[_Worker] = set()

    def begin(self, work: Callable[[Session], T], ticket: Ticket) -> Future[T]:
        """Have work done by the next thread that is free."""
        job = _Job(work, ticket)
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False):
            self._grow()
        return job.outcome

    async def close(self) -> None:
        """End the threads. One that is lost is not waited for; it closes its session when it comes back."""
        threads = [*self._threads]
        for _ in threads:
            self._jobs.put(None)
        await asyncio.to_thread(_join, threads)

    def next(self, thread: _Worker) -> _Job | None:
        """The next job for a thread; None: it is not needed any more."""
        if thread in self._lost:
            return None
        try:
            return self._jobs.get_nowait()
        except Empty:
            self._idle.release()
            return self._jobs.get()

    def connected(self, job: _Job) -> Session | None:
        """A session for a thread that has its first job; None: that job is another thread's now, or has failed."""
        try:
            session = self._connect()
        except Exception as error:  # noqa: BLE001 - it is told to whoever waits for the job
            job.outcome.set_exception(error)
            return None
        if session is None:
            self._jobs.put(job)
        return session

    def left(self, thread: _Worker) -> None:
        """A thread has ended."""
        self._threads.discard(thread)
        self._lost.discard(thread)

    def _grow(self) -> None:
        """Start one more thread, where there may be one."""
        if len(self._threads) >= self._size:
            lost = next((thread for thread in self._threads if thread.is_lost()), None)
            if lost is None or len(self._lost) >= _MOST_LOST:
                return
            self._lost.add(lost)
            self._threads.discard(lost)
        thread = _Worker(self)
        self._threads.add(thread)
        thread.start()


class _Worker(threading.Thread):
    """One of the threads."""

    def __init__(self, workers: Workers) -> None:
        super().__init__(name="kgnav-file", daemon=True)
        self._workers = workers
        self._ticket: Ticket | None = None

    def is_lost(self) -> bool:
        """Whether its job should have ended long ago."""
        ticket = self._ticket
        return ticket is not None and ticket.late() > _LOST_SECONDS

    def run(self) -> None:
        session: Session | None = None
        try:
            while (job := self._workers.next(self)) is not None:
                self._ticket = job.ticket
                session = session or self._workers.connected(job)
                if session is None:
                    return
                if job.outcome.set_running_or_notify_cancel():
                    _do(job, session)
                self._ticket = None
                del job  # with its outcome, which may be large, while the next one is waited for
        finally:
            if session is not None:
                session.close()
            self._workers.left(self)


def _do(job: _Job, session: Session) -> None:
    try:
        found = job.work(session)
    except BaseException as error:  # noqa: BLE001 - it is told to whoever waits for the job
        job.outcome.set_exception(error)
    else:
        job.outcome.set_result(found)


def _join(threads: list[_Worker]) -> None:
    end = monotonic() + _LOST_SECONDS
    for thread in threads:
        thread.join(max(end - monotonic(), 0))
