"""Opens a graph file: checks that it is one, and connects to it read-only. Safe with files from untrusted sources."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import struct
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION, SCHEMA
from kgnav_mcp.errors import InvalidStore, StoreError, StoreUnavailable, Unsupported

Identity = tuple[int, int, int, int]
"""Device, inode, size in bytes, and time of the last change in nanoseconds. A replaced or rewritten file differs."""

USUAL_LENGTH = 256 * 1024
"""The size in bytes that an ordinary row does not exceed. A thousand such rows fit in memory easily."""
GREATEST_LENGTH = 128 * 1024 * 1024
"""Maximum size in bytes of a row that is read. A load accepts lines of at most half that."""
MAX_MEMORY = 80 * 1024**2
"""Maximum memory of SQLite in this process, in bytes by its own count.

Rows that it sorts, groups or compares move to temporary files of the system, when they fill a connection's pages. What
they cannot take (one list or text, a plan's parameters) counts: a query that needs more is refused, and a plan is then
evaluated over rows instead. With the rows that this holds, a plan takes at most 256 MB.
"""
MAX_ROW_BYTES = 1024**3
"""Maximum size in bytes of all rows that one job reads."""
MAX_ROW_BYTES_OF_PLAN = 64 * 1024**2
"""Maximum size in bytes of all rows that one job of a plan reads.

Other calls read one page, which is large only if damaged.
"""

_HEADER = 100
_MAGIC = b"SQLite format 3\x00"
_PAGE_CACHE_KIB = 4 * 1024
"""Memory for the pages of one connection: the system holds the whole file. Four times as much saves 5 % of the time."""
_ATTEMPTS = 10
"""How often opening is tried again because the file was replaced meanwhile. One attempt takes a millisecond."""

_PRAGMAS = (
    f"cache_size = -{_PAGE_CACHE_KIB}",
    "temp_store = FILE",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    f"hard_heap_limit = {MAX_MEMORY}",
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
    """Returns the identity of the file that is at a path now, or None if there is none or it cannot be examined."""
    try:
        status = os.stat(path)  # noqa: PTH116 - runs before every call, and making a Path would double its cost
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def check(path: str) -> None:
    """Checks that a file is a complete graph file of this version, without opening it as a database.

    Raises:
        StoreUnavailable: there is no such file, or it may not be read.
        InvalidStore: it is something else, of another version, or shorter than its header says.
    """
    try:
        header, size = _header_and_size(path)
    except IsADirectoryError as error:
        raise InvalidStore(f"{path} is a folder, not a graph file", next_step=_load_command(path)) from error
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise StoreUnavailable(f"the graph file {path} {reason}", next_step=_load_command(path)) from error
    if not _is_graph_file_header(header):
        raise InvalidStore(f"{path} is not a graph file", next_step=_load_command(path))
    version = _uint32_at(header, 60)
    if version != FORMAT_VERSION:
        raise InvalidStore(
            f"{path} has format {version}; this version of kgnav reads format {FORMAT_VERSION}",
            next_step=_load_command(path),
        )
    if size < _uint32_at(header, 28) * _page_size(header):
        raise InvalidStore(f"{path} is truncated", next_step=_load_command(path))


def is_graph_file(path: str | Path) -> bool:
    """Whether the file at a path is a graph file of any version, complete or not."""
    try:
        return _is_graph_file_header(_header_and_size(path)[0])
    except (OSError, ValueError):
        return False


def output_path_for(path: str | Path) -> Path:
    """Returns a path for a graph file made from another file: the same name with the suffix .kg.

    A number is added if another file, which is not a graph file, has that name.
    """
    stem = Path(path).absolute() if Path(path).name in {"", ".."} else Path(path)
    candidate = stem.with_suffix(".kg")
    if not candidate.exists() or is_graph_file(candidate):
        return candidate
    numbered = (stem.with_name(f"{stem.stem}-{number}.kg") for number in count(2))
    return next(path for path in numbered if not path.exists() or is_graph_file(path))


def check_schema(statements: Iterable[str], path: str) -> None:
    """Checks that a file has exactly the tables and indexes that the loader creates.

    Raises:
        InvalidStore: a table or an index is missing, differs, or is not one of these.
    """
    if SCHEMA.symmetric_difference(statements):
        raise InvalidStore(f"{path} does not have the tables of a graph file", next_step=_load_command(path))


def connect(path: str) -> tuple[sqlite3.Connection, Identity]:
    """Returns a read-only connection and the identity of its file. No locks are needed: a graph file never changes.

    Only one thread at a time may use the connection.

    Raises:
        StoreUnavailable: as `check`; or SQLite cannot read the file; or the file is replaced again and again.
            InvalidStore: as `check`; or SQLite finds the file damaged.
    """
    for _ in range(_ATTEMPTS):
        before = identity(path)
        check(path)
        try:
            connection = _open_connection(path)
        except sqlite3.Error as error:
            raise translate(error, path) or damaged(path) from error
        if before is not None and before == identity(path):
            return connection, before
        connection.close()  # the file was replaced meanwhile: the connection may be to the old one or to the new one
    raise StoreUnavailable(f"the graph file {path} is being replaced repeatedly", next_step="Try again.")


def _open_connection(path: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(Path(path).absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
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


def translate(error: Exception, path: str) -> StoreError | Unsupported | None:
    """Returns the error that an exception within a job means, or None if it is a bug in this program.

    A load writes and checks all rows. A text in place of a number, invalid JSON or the number of a missing relation
    therefore means that the file is damaged: SQLite checks the structure of its pages, not the values in them.
    """
    if is_too_large(error):
        return InvalidStore(
            f"an answer from the graph file {path} would take more memory than allowed",
            next_step=f"Narrow the call to one relation or a label. If that fails, too: {_load_command(path)}",
        )
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return None
    if isinstance(error, sqlite3.Error):
        return _translate_code(error, path)
    return _unreadable_row(path) if isinstance(error, _DAMAGED_ROW_ERRORS) else None


def is_too_large(error: Exception) -> bool:
    """Whether a query needs more memory than it may take."""
    return isinstance(error, MemoryError) or _code(error) == sqlite3.SQLITE_TOOBIG


def _translate_code(error: sqlite3.Error, path: str) -> StoreError | Unsupported:
    """Returns the error that SQLite's result code means, and its message for a query beyond SQLite's limits."""
    code = _code(error)
    if has_no_room(error):
        return StoreUnavailable(
            f"there is no room for the temporary files of a query on the graph file {path}",
            next_step="Free space in the system's temporary folder, or name another one: SQLITE_TMPDIR=FOLDER.",
        )
    if code == sqlite3.SQLITE_ERROR and _QUERY_LIMIT.search(str(error)):
        return Unsupported(
            f"the query is too large for SQLite: {error}",
            next_step="Use shorter lists, fewer alternatives, or less deeply nested expressions.",
        )
    if code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
        return StoreUnavailable(f"the graph file {path} can no longer be read", next_step=_load_command(path))
    return damaged(path) if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} else _unreadable_row(path)


_QUERY_LIMIT = re.compile(r"too (?:many|large|deep|long)|at most \d+|stack overflow", re.IGNORECASE)
"""SQLite's messages about a query that exceeds one of its limits: of arguments, terms, tables, columns or depth."""
_DAMAGED_ROW_ERRORS = ArithmeticError | LookupError | RecursionError | ValueError
"""Exceptions that a damaged row can raise, besides those of a value of the wrong type."""


def damaged(path: str) -> InvalidStore:
    """Returns the error for a graph file with a valid header but damaged contents."""
    return InvalidStore(f"the graph file {path} is damaged", next_step=_load_command(path))


def _unreadable_row(path: str) -> InvalidStore:
    """Returns the error for rows or values that a load does not write."""
    return InvalidStore(
        f"the graph file {path} is damaged, or kgnav-mcp has a bug: a row cannot be read",
        next_step=f"{_load_command(path)}. If the same call fails on the new file, report it.",
    )


def has_no_room(error: Exception) -> bool:
    """Whether SQLite cannot write its temporary files. It writes no other: it opens graph files read-only."""
    return _code(error) == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", 0) in _WRITE_ERRORS


_WRITE_ERRORS = frozenset((sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_GETTEMPPATH))


def _code(error: Exception) -> int:
    """Returns SQLite's primary result code, or 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _uint32_at(header: bytes, offset: int) -> int:
    """Returns the big-endian four-byte number at an offset of the header (SQLite's file format, section 1.3)."""
    (number,) = struct.unpack_from(">I", header, offset)
    return int(number)


def _page_size(header: bytes) -> int:
    """Returns the bytes in a page. 65,536 does not fit the field and is written as 1."""
    (size,) = struct.unpack_from(">H", header, 16)
    return 65_536 if size == 1 else int(size)


def _load_command(path: str) -> str:
    """Returns the command that makes the file, under another name where the path belongs to something else."""
    try:
        free = not Path(path).exists() or is_graph_file(path)
    except (OSError, ValueError):  # not a valid path
        free = False
    target = path if free else output_path_for(path)
    return f"Make a graph file from its sources: kgnav load SOURCES... -o {shlex.quote(str(target))}"


def _header_and_size(path: str | Path) -> tuple[bytes, int]:
    """Returns the file's first bytes and its size in bytes."""
    with Path(path).open("rb") as file:
        return file.read(_HEADER), file.seek(0, 2)


def _is_graph_file_header(header: bytes) -> bool:
    return len(header) == _HEADER and header.startswith(_MAGIC) and _uint32_at(header, 68) == APPLICATION_ID
