"""Stops a load early, even during a long SQL statement: on a signal, or after a failure in another thread."""

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
"""SQLite's steps between two checks for a signal: some hundredths of a second. Each check needs Python's lock."""


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Interrupts:
    """Keeps the KeyboardInterrupt that a signal raised.

    A signal that arrives while SQLite runs is handled in SQLite's progress handler. This stops the statement, but
    SQLite loses the exception. `stopped_by` keeps it, so that it can be raised again after the statement.
    """

    def __init__(self) -> None:
        self.stopped_by: KeyboardInterrupt | None = None

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keeps what the handlers of SIGINT and SIGTERM raise. A SIGTERM that would kill the process raises as well.

        Python runs signal handlers in the main thread only, so a load in another thread does not change them.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def relay(number: int, frame: FrameType | None) -> None:
            handler = previous[signal.Signals(number)]
            try:
                (handler if callable(handler) else _interrupt)(number, frame)
            except KeyboardInterrupt as stop:
                self.stopped_by = stop
                raise

        for number, handler in previous.items():
            if handler is not None and handler != signal.SIG_IGN:
                signal.signal(number, relay)
        try:
            yield
        finally:
            for number, handler in previous.items():
                if handler is not None:
                    signal.signal(number, handler)

    @staticmethod
    def run_signal_handlers() -> int:
        """SQLite's progress handler. Does nothing, but entering Python runs the handlers of pending signals."""
        return 0


class Background:
    """Threads that run SQLite in parallel. SQLite releases Python's lock, so that several cores are used.

    On exit, running work is stopped and waited for.
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
        """Starts work on its own connection, which must be usable in any thread and is closed afterwards."""
        connection.set_progress_handler(self._stopped.is_set, STEPS)
        return self._threads.submit(_run_and_close, connection, work)


def _run_and_close(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with closing(connection):
        return work(connection)
