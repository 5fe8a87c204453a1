"""Worker threads, each with its own session. A thread that hangs is abandoned and replaced."""

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
"""A thread whose job should have ended this long ago counts as lost: it may never notice that its job was stopped."""
_MAX_LOST = 12
"""Lost threads that are replaced, at most. A file on which more threads hang gets no further ones."""


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

    def submit(self, work: Callable[[Session], T], ticket: Ticket) -> Future[T]:
        """Queues work for the next free thread and returns its future."""
        job = _Job(work, ticket)
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False):
            self._start_thread()
        return job.future

    async def close(self) -> None:
        """Ends the threads. Does not wait for lost ones; these close their session when they come back."""
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
        """Notes that a thread has ended."""
        self._threads.discard(thread)
        self._lost.discard(thread)

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
        finally:
            if session is not None:
                session.close()
            self._workers.left(self)


def _run_job(job: _Job, session: Session) -> None:
    try:
        result = job.work(session)
    except BaseException as error:  # noqa: BLE001 - passed on to the caller who waits for the job
        job.future.set_exception(error)
    else:
        job.future.set_result(result)


def _join(threads: list[_Worker]) -> None:
    end = monotonic() + _LOST_SECONDS
    for thread in threads:
        thread.join(max(end - monotonic(), 0))
