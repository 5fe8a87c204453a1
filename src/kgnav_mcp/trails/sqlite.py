"""Trails in a SQLite file: shared by several processes of one machine, and kept after they end."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from kgnav_mcp.errors import TrailFull, TrailStoreUnavailable
from kgnav_mcp.trails.trail_keeper import TrailLimits, TrailStore, stored_size

T = TypeVar("T")

_BUSY_S = 5.0
"""Seconds to wait for another process that writes: each locks the file for a millisecond or two."""

_TABLES = """
CREATE TABLE IF NOT EXISTS trail (key TEXT PRIMARY KEY, used REAL NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS trail_used ON trail (used);
CREATE TABLE IF NOT EXISTS record (
    key TEXT NOT NULL REFERENCES trail ON DELETE CASCADE,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (key, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    trails INTEGER NOT NULL,
    size INTEGER NOT NULL
);
INSERT OR IGNORE INTO kept VALUES (1, 0, 0);
"""
"""Table `kept` has the sums over all trails, so that a write need not read all of them."""

_USE = "UPDATE trail SET used = ?, size = size + ? WHERE key = ? RETURNING size"
_ADD = "INSERT INTO record SELECT ?, COALESCE(MAX(number), 0) + 1, ? FROM record WHERE key = ?"
_READ = "SELECT body FROM record WHERE key = ? ORDER BY number"
_FIRST = "SELECT body FROM trail JOIN record USING (key) WHERE key = ? AND used > ? ORDER BY number LIMIT 1"
_COUNT = "UPDATE kept SET trails = trails + ?, size = size + ? RETURNING trails, size"
_DELETE = "DELETE FROM trail WHERE key = ?"
_LEAST_RECENTLY_USED = "SELECT key, used, size FROM trail ORDER BY used LIMIT 1"


class SqliteTrailStore(TrailStore):
    """Each method is one transaction; other processes wait for it.

    Short transactions run in the event loop's thread: that takes less time than handing them to another thread and
    back. If the file is locked, and for work that may take longer, a thread waits, with a connection of its own.
    """

    def __init__(self, path: Path, limits: TrailLimits, clock: Callable[[], float] = time.time) -> None:
        super().__init__(limits)
        self._path = path
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "kgnav-trails")
        self._waiting_connection: sqlite3.Connection | None = None
        self._immediate_connection: sqlite3.Connection | None = None

    async def start(self, key: str, record: bytes, written: int = 0) -> None:
        size = stored_size(record, written)
        await self._run(lambda connection: self._start(connection, key, record, size))

    async def add(self, key: str, record: bytes, written: int = 0) -> bool:
        size = stored_size(record, written)
        return await self._run_at_once(lambda connection: self._add(connection, key, record, size))

    async def first(self, key: str) -> bytes | None:
        if self._immediate_connection is None:
            return next(iter(await self.read(key)), None)
        with self._translated_errors():
            found = self._immediate_connection.execute(_FIRST, (key, self._clock() - self.limits.lifetime)).fetchone()
        return None if found is None else found[0]

    async def read(self, key: str) -> tuple[bytes, ...]:
        return await self._run(lambda connection: self._read(connection, key))

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _start(self, connection: sqlite3.Connection, key: str, record: bytes, size: int) -> None:
        if size > self.limits.trail_size:
            raise TrailFull(self.limits.trail_size)
        self._delete_expired(connection)
        connection.execute("INSERT INTO trail VALUES (?, ?, ?)", (key, self._clock(), size))
        connection.execute(_ADD, (key, record, key))
        self._make_room(connection, 1, size)

    def _add(self, connection: sqlite3.Connection, key: str, record: bytes, size: int) -> bool:
        self._delete_expired(connection)
        used = connection.execute(_USE, (self._clock(), size, key)).fetchone()
        if used is None:
            return False
        if used[0] > self.limits.trail_size:
            raise TrailFull(self.limits.trail_size)
        connection.execute(_ADD, (key, record, key))
        self._make_room(connection, 0, size)
        return True

    def _read(self, connection: sqlite3.Connection, key: str) -> tuple[bytes, ...]:
        self._delete_expired(connection)
        connection.execute(_USE, (self._clock(), 0, key)).fetchone()
        return tuple(body for (body,) in connection.execute(_READ, (key,)))

    def _make_room(self, connection: sqlite3.Connection, trails: int, size: int) -> None:
        """Count the added bytes, and delete the least recently used trails until all limits are met."""
        trails, size = connection.execute(_COUNT, (trails, size)).fetchone()
        while trails > self.limits.trails or size > self.limits.total_size:
            trails, size = self._delete(connection, *connection.execute(_LEAST_RECENTLY_USED).fetchone())

    def _delete_expired(self, connection: sqlite3.Connection) -> None:
        oldest = self._clock() - self.limits.lifetime
        while (unused := connection.execute(_LEAST_RECENTLY_USED).fetchone()) is not None and unused[1] <= oldest:
            self._delete(connection, *unused)

    @staticmethod
    def _delete(connection: sqlite3.Connection, key: str, _: float, size: int) -> tuple[int, int]:
        connection.execute(_DELETE, (key,))
        return connection.execute(_COUNT, (-1, -size)).fetchone()

    async def _run_at_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of short work, which runs in this thread unless the file is locked."""
        connection = self._immediate_connection
        if connection is not None and _begin(connection):
            return self._finish(connection, work)
        return await self._run(work)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of work in the other thread, which waits until the file is not locked."""

        def job() -> T:
            with self._translated_errors():
                connection = self._waiting_connection or self._open()
                connection.execute("BEGIN IMMEDIATE")
            return self._finish(connection, work)

        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def _finish(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of work in a transaction that has begun; it is committed, or rolled back after an error."""
        with self._translated_errors():
            try:
                result = work(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
        return result

    @contextmanager
    def _translated_errors(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise TrailStoreUnavailable(
                f"the trail store cannot be used: {self._path}",
                next_step="Check that its folder exists, is writable and has free space; or set --trail-store to "
                "memory.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        """Open both connections, and return the waiting one.

        A new file is readable by its owner only: it contains users' questions.
        """
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        waiting = self._connect(_BUSY_S, _TABLES)
        # A checkpoint waits for the disk, so only the thread makes one, when the next trail is started or read.
        try:
            self._immediate_connection = self._connect(0, "PRAGMA wal_autocheckpoint = 0")
        except BaseException:
            waiting.close()
            raise
        self._waiting_connection = waiting
        return waiting

    def _connect(self, timeout: float, script: str) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.executescript(script)
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        self._thread.shutdown()
        for connection in filter(None, (self._immediate_connection, self._waiting_connection)):
            connection.close()
        self._immediate_connection = self._waiting_connection = None


def _begin(connection: sqlite3.Connection) -> bool:
    """Begin a transaction; False if the file is locked."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True
