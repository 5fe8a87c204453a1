"""Opening a graph file: what it must be, read from its first hundred bytes, and a connection that only reads."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from urllib.parse import quote

from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION
from kgnav_mcp.errors import InvalidStore, StoreError, StoreUnavailable

_HEADER = 100
_MAGIC = b"SQLite format 3\x00"
_PAGE_CACHE_KIB = 16 * 1024


def check(path: str) -> None:
    """Refuse a file that is no whole graph file of this version, without opening it as a database.

    Raises:
        StoreUnavailable: there is no such file, or it may not be read.
        InvalidStore: it is something else, of another version, or shorter than its header says.
    """
    try:
        with Path(path).open("rb") as file:
            header = file.read(_HEADER)
            size = file.seek(0, 2)
    except IsADirectoryError as error:
        raise InvalidStore(f"{path} is a folder, not a graph file", next_step=_load_again(path)) from error
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise StoreUnavailable(f"the graph file {path} {reason}", next_step=_load_again(path)) from error
    if len(header) < _HEADER or not header.startswith(_MAGIC) or _number(header, 68) != APPLICATION_ID:
        raise InvalidStore(f"{path} is not a graph file", next_step=_load_again(path))
    version = _number(header, 60)
    if version != FORMAT_VERSION:
        raise InvalidStore(
            f"{path} has format {version}, this version of kgnav reads format {FORMAT_VERSION}",
            next_step=_load_again(path),
        )
    if size < _number(header, 28) * _page_size(header):
        raise InvalidStore(f"{path} is cut short: its end is missing", next_step=_load_again(path))


def connect(path: str) -> sqlite3.Connection:
    """A connection that can only read, without locks: a graph file never changes.

    The connection is used by one thread at a time, and closed by another one.

    Raises:
        StoreUnavailable, InvalidStore: as `check`.
    """
    check(path)
    uri = f"file:{quote(str(Path(path).absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def translate(error: sqlite3.Error, path: str) -> StoreError | None:
    """What an error of SQLite means for a reader of a graph file; None: it is a mistake of this program."""
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return None
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
        return StoreUnavailable(f"the graph file {path} can no longer be read", next_step=_load_again(path))
    return damaged(path)


def damaged(path: str) -> InvalidStore:
    """The error for a graph file whose inside is not what its header promises."""
    return InvalidStore(f"the graph file {path} is damaged", next_step=_load_again(path))


def _number(header: bytes, offset: int) -> int:
    """A big-endian number of four bytes at a fixed place of the header (SQLite's file format, section 1.3)."""
    (number,) = struct.unpack_from(">I", header, offset)
    return int(number)


def _page_size(header: bytes) -> int:
    """Bytes in a page; 65,536 does not fit the field and is written as 1."""
    (size,) = struct.unpack_from(">H", header, 16)
    return 65_536 if size == 1 else int(size)


def _load_again(path: str) -> str:
    return f"Make the file from its sources: kgnav load SOURCES... -o {path}"
