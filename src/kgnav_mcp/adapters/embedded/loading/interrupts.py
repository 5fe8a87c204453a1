"""Ending a load early, even in the middle of a long statement: by a signal, or by a failure in another thread."""

from __future__ import annotations

import signal
import sqlite3
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

STEPS = 2_000_000
"""SQLite's steps between two looks for a signal: some hundredths of a second. Each look needs Python's lock."""


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Interrupts:
    """Remembers the KeyboardInterrupt that a signal raised.

    A signal that comes while SQLite runs is handled in SQLite's progress handler. That stops the statement, but what
    the signal raised is lost there: `stopped_by` keeps it, for the code behind the statement to raise it again.
    """

    def __init__(self) -> None:
        self.stopped_by: KeyboardInterrupt | None = None

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keep what the handlers of SIGINT and SIGTERM raise. Where SIGTERM would end the process, it raises instead.

        Python runs signal handlers in the main thread, so a load in any other leaves them alone.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def relay(number: int, frame: FrameType | None) -> None:
            handler = before[signal.Signals(number)]
            try:
                (handler if callable(handler) else _interrupt)(number, frame)
            except KeyboardInterrupt as stop:
                self.stopped_by = stop
                raise

        for number, handler in before.items():
            if handler is not None and handler != signal.SIG_IGN:
                signal.signal(number, relay)
        try:
            yield
        finally:
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)

    @staticmethod
    def look() -> int:
        """SQLite's progress handler: does nothing, but lets Python run the handlers of signals that have come."""
        return 0


class Background:
    """Threads in which SQLite works beside the main one: it lets go of Python's lock, so that cores share the work.

    On leaving, work that goes on is stopped and waited for.
    """

    def __init__(self, threads: int) -> None:
        self._stopped = threading.Event()
        self._threads = ThreadPoolExecutor(threads, "kgnav-load")

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._threads.shutdown()

    def begin(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Begin work on a connection of its own, usable in any thread, that is closed behind it."""
        connection.set_progress_handler(self._stopped.is_set, STEPS)
        return self._threads.submit(_done, connection, work)


def _done(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with closing(connection):
        return work(connection)
