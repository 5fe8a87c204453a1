"""Opening a graph file: what it must be, read from its first hundred bytes, and a connection that only reads."""

from __future__ import annotations

import shlex
import sqlite3
import struct
from itertools import count
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
