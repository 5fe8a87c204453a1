"""Opening a graph file: what it must be, and a connection that reads it and does nothing else, whatever is in it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import struct
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION
from kgnav_mcp.adapters.embedded.filetables import SCHEMA
from kgnav_mcp.errors import InvalidStore, StoreError, StoreUnavailable

Identity = tuple[int, int, int, int]
"""Device, inode, bytes, and nanoseconds of the last change: another file has others, and so has one written anew."""

USUAL_LENGTH = 256 * 1024
"""Bytes of a row that are read without a thought: a thousand of them are no burden."""
GREATEST_LENGTH = 128 * 1024 * 1024
"""Bytes of the longest row that is read at all: a load takes no line of more than half that."""
MOST_MEMORY = 1024**3
"""Bytes that all of SQLite may take in this process, and that the rows of one job may."""

_HEADER = 100
_MAGIC = b"SQLite format 3\x00"
_PAGE_CACHE_KIB = 16 * 1024
_TRIES = 10
"""Replacements of a file that opening it puts up with; it takes a millisecond."""

_PRAGMAS = (
    f"cache_size = -{_PAGE_CACHE_KIB}",
    "temp_store = MEMORY",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    f"hard_heap_limit = {MOST_MEMORY}",
)
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: USUAL_LENGTH,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 64 * 1024,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
"""Well above what this adapter's own queries need."""


def identity(path: str) -> Identity | None:
    """Which file is at a path now; None: none that can be looked at."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before every call: a Path costs as much again
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check(path: str) -> None:
    """Refuse a file that is no whole graph file of this version, without opening it as a database.

    Raises:
        StoreUnavailable: there is no such file, or it may not be read.
        InvalidStore: it is something else, of another version, or shorter than its header says.
    """
    try:
        header, size = _read(path)
    except IsADirectoryError as error:
        raise InvalidStore(f"{path} is a folder, not a graph file", next_step=_load_again(path)) from error
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise StoreUnavailable(f"the graph file {path} {reason}", next_step=_load_again(path)) from error
    if not _is_ours(header):
        raise InvalidStore(f"{path} is not a graph file", next_step=_load_again(path))
    version = _number(header, 60)
    if version != FORMAT_VERSION:
        raise InvalidStore(
            f"{path} has format {version}, this version of kgnav reads format {FORMAT_VERSION}",
            next_step=_load_again(path),
        )
    if size < _number(header, 28) * _page_size(header):
        raise InvalidStore(f"{path} is cut short: its end is missing", next_step=_load_again(path))


def is_one(path: str | Path) -> bool:
    """Whether the file there is a graph file, of whatever version and whether whole or not."""
    try:
        return _is_ours(_read(path)[0])
    except (OSError, ValueError):
        return False


def beside(path: str | Path) -> Path:
    """The path of a graph file to make beside something else: its own with the suffix .kg, if nothing else is there."""
    stem = Path(path).absolute() if Path(path).name in {"", ".."} else Path(path)
    named = stem.with_suffix(".kg")
    if not named.exists() or is_one(named):
        return named
    numbered = (stem.with_name(f"{stem.stem}-{number}.kg") for number in count(2))
    return next(path for path in numbered if not path.exists() or is_one(path))


def check_schema(statements: Iterable[str], path: str) -> None:
    """Refuse a file that is made of anything but what the loader makes.

    Raises:
        InvalidStore: a table or an index is missing, is another one, or too many.
    """
    if SCHEMA.symmetric_difference(statements):
        raise InvalidStore(f"{path} has other tables than a graph file", next_step=_load_again(path))


def connect(path: str) -> tuple[sqlite3.Connection, Identity]:
    """A connection that can only read, without locks, and the file it reads: a graph file never changes.

    The connection is used by one thread at a time.

    Raises:
        StoreUnavailable, InvalidStore: as `check`, or what SQLite says of it.
    """
    for _ in range(_TRIES):
        before = identity(path)
        check(path)
        try:
            connection = _connected(path)
        except sqlite3.Error as error:
            raise translate(error, path) or damaged(path) from error
        if before is not None and before == identity(path):
            return connection, before
        connection.close()  # to one of two files, nobody knows to which
    raise StoreUnavailable(f"the graph file {path} is being replaced all the time", next_step="Ask again.")


def _connected(path: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(Path(path).absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def translate(error: Exception, path: str) -> StoreError | None:
    """What an error within a job means for a reader of a graph file; None: it is a mistake of this program.

    A job works on rows that a load wrote and checked. Where one has a text for a number, no JSON, or the number of a
    relation that is not there, the file is damaged: SQLite guards the frame of its pages, not what stands in them.
    """
    if isinstance(error, MemoryError) or _code(error) == sqlite3.SQLITE_TOOBIG:
        return InvalidStore(
            f"an answer from the graph file {path} would take more memory than a graph of its kind can need",
            next_step=f"Ask for less: one relation, or a label. If that fails, too: {_load_again(path)}",
        )
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return None
    if _code(error) in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
        return StoreUnavailable(f"the graph file {path} can no longer be read", next_step=_load_again(path))
    return damaged(path) if isinstance(error, sqlite3.Error | _UNREADABLE) else None


_UNREADABLE = ArithmeticError | LookupError | RecursionError | ValueError
"""What reading a row raises that is not as it was written, besides the errors of a value of another type."""


def damaged(path: str) -> InvalidStore:
    """The error for a graph file whose inside is not what its header promises."""
    return InvalidStore(f"the graph file {path} is damaged", next_step=_load_again(path))


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 where the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _number(header: bytes, offset: int) -> int:
    """A big-endian number of four bytes at a fixed place of the header (SQLite's file format, section 1.3)."""
    (number,) = struct.unpack_from(">I", header, offset)
    return int(number)


def _page_size(header: bytes) -> int:
    """Bytes in a page; 65,536 does not fit the field and is written as 1."""
    (size,) = struct.unpack_from(">H", header, 16)
    return 65_536 if size == 1 else int(size)


def _load_again(path: str) -> str:
    """The command that makes the file, or one beside it where the path is that of something else."""
    try:
        free = not Path(path).exists() or is_one(path)
    except (OSError, ValueError):  # no path can be like this
        free = False
    target = path if free else beside(path)
    return f"Make a graph file from its sources: kgnav load SOURCES... -o {shlex.quote(str(target))}"


def _read(path: str | Path) -> tuple[bytes, int]:
    """The file's first bytes and its size."""
    with Path(path).open("rb") as file:
        return file.read(_HEADER), file.seek(0, 2)


def _is_ours(header: bytes) -> bool:
    return len(header) == _HEADER and header.startswith(_MAGIC) and _number(header, 68) == APPLICATION_ID
