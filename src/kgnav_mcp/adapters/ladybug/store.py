"""Runs queries in a LadybugDB file: in threads, each with a connection that only reads."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import ladybug

from kgnav_mcp.adapters.cypher.session import Row, closed
from kgnav_mcp.errors import InvalidStore, StoreError, StoreTimeout, StoreUnavailable

T = TypeVar("T")

_CONNECTIONS = 4
_INTERRUPTED = "Interrupted"
_NEXT_TIME_OUT = "Narrow the call, or raise --timeout."


class Store:
    """One database file. Several processes may read it, as long as none writes to it."""

    def __init__(self, path: str, timeout: float) -> None:
        self.path = Path(path).expanduser()
        self._timeout = timeout
        self._database: Any = None
        self._threads: ThreadPoolExecutor | None = None
        self._connections: queue.SimpleQueue[Any] = queue.SimpleQueue()

    @property
    def revision(self) -> str:
        """Sizes and times of the last change of the file and of its log, where recent writes are."""
        found = [path.stat() for path in (self.path, self.path.with_name(f"{self.path.name}.wal")) if path.exists()]
        return " ".join(f"{each.st_ino}-{each.st_size}-{each.st_mtime_ns}" for each in found)

    async def open(self) -> None:
        """Open the file for reading.

        Raises:
            StoreUnavailable: there is no such file.
            InvalidStore: it is not a database, or one of another version.
        """
        if not self.path.exists():
            raise StoreUnavailable(
                f"the file {self.path} does not exist", next_step="Check the path after ladybug+file:."
            )
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="ladybug")
        await asyncio.get_running_loop().run_in_executor(self._threads, self._connect)

    def _connect(self) -> None:
        try:
            self._database = ladybug.Database(str(self.path), read_only=True)
            for _ in range(_CONNECTIONS):
                # With one thread a query without ORDER BY returns its rows in the same order each time.
                connection = ladybug.Connection(self._database, num_threads=1)
                connection.set_query_timeout(max(1, int(self._timeout * 1000)))
                self._connections.put(connection)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise InvalidStore(
                f"{self.path} cannot be opened as a LadybugDB database: {reason}",
                next_step="Close programs that write to it, or export it with the version of LadybugDB that wrote it.",
            ) from error

    async def close(self) -> None:
        """End all queries and close the file. Safe to call twice."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
            while not self._connections.empty():
                self._connections.get().close()
            if self._database is not None:
                self._database.close()

    async def in_time(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that queries this store, within the time-out.

        Raises:
            StoreTimeout: it took too long; its queries are interrupted.
            Whatever the work raises.
        """
        try:
            async with asyncio.timeout(self._timeout):
                return await work
        except TimeoutError as error:
            raise StoreTimeout(self._timeout, next_step=_NEXT_TIME_OUT) from error

    async def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """All rows of a query, as lists of values. If the caller is cancelled, the query is interrupted.

        Raises:
            StoreTimeout: the query took too long.
            StoreError: the query failed, or the graph is closed.
        """
        if self._threads is None:
            raise closed()
        running: list[Any] = []
        lock = threading.Lock()
        cancelled = False

        def work() -> list[Row]:
            connection = self._connections.get()
            try:
                with lock:
                    if cancelled:
                        return []
                    running.append(connection)
                return cast("list[Row]", connection.execute(query, dict(parameters or {})).get_all())
            finally:
                with lock:  # an interruption must not meet the next query of the connection
                    running.clear()
                self._connections.put(connection)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except asyncio.CancelledError:
            with lock:
                cancelled = True
                for connection in running:
                    connection.interrupt()
            raise
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            if reason.startswith(_INTERRUPTED):
                raise StoreTimeout(self._timeout, next_step=_NEXT_TIME_OUT) from error
            raise StoreError(f"LadybugDB refuses the query: {reason}") from error
