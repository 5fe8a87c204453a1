"""Reads rows of published files, and their fields. Errors name the field that is missing or of another type."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Generator

Row = Mapping[str, Any]
Rows = Callable[[Path], Iterator[tuple[str, Row]]]
"""Yields each row of a file with its place, such as `line 3`."""


class UnreadableDatasetError(Exception):
    """A file does not belong to this dataset. The message says where and why."""


class BadRowError(Exception):
    """A row lacks a field, or has one of another type."""


@contextmanager
def opened(path: Path) -> Generator[IO[str]]:
    """Open a text file, which may be compressed (.gz, .bz2).

    Raises:
        UnreadableDatasetError: it cannot be read as text.
    """
    if path.suffix == ".zip":
        raise UnreadableDatasetError(f"{path} is an archive. Unpack it (unzip {path}), then read one of its files.")
    with opened_bytes(path) as content:
        yield TextIOWrapper(content, encoding="utf-8-sig", newline="")


@contextmanager
def opened_bytes(path: Path) -> Generator[BinaryIO]:
    """Open a file for its bytes. It may be compressed (.gz, .bz2).

    Raises:
        UnreadableDatasetError: it cannot be read, or what is read is not text.
    """
    openers: Mapping[str, Callable[[Path], Any]] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File}
    try:
        with openers.get(path.suffix, _plain)(path) as file:
            yield cast("BinaryIO", file)
    except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        raise UnreadableDatasetError(f"{path} cannot be read: {error}") from error


def _plain(path: Path) -> BinaryIO:
    return path.open("rb")


def json_list(*keys: str) -> Rows:
    """Returns a reader of JSON files that are a list, or have one under one of these keys."""

    def rows(path: Path) -> Iterator[tuple[str, Row]]:
        with opened(path) as file:
            try:
                read: object = json.load(file)
            except ValueError as error:
                raise UnreadableDatasetError(f"{path} is not JSON: {error}") from error
        for key in keys:
            if isinstance(read, Mapping):
                read = cast("Mapping[str, object]", read).get(key)
        if not isinstance(read, list):
            form = f"has no list {'.'.join(keys)!r}" if keys else "is not a JSON list"
            raise UnreadableDatasetError(f"{path} {form}.")
        for number, row in enumerate(cast("list[object]", read), 1):
            yield f"item {number}", _row(row)

    return rows


def json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    """Rows of a file with one JSON object per line."""
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    read: object = json.loads(line)
                except ValueError as error:
                    raise UnreadableDatasetError(f"line {number} of {path} is not JSON: {error}") from error
                yield f"line {number}", _row(read)


def tab_separated(*names: str) -> Rows:
    """Returns a reader of files without a header: each row as texts by these names.

    A row with another number of columns has the field `columns`.
    """

    def rows(path: Path) -> Iterator[tuple[str, Row]]:
        with opened(path) as lines:
            for number, line in enumerate(lines, 1):
                values = line.rstrip("\r\n").split("\t")
                if len(values) == len(names):
                    yield f"line {number}", dict(zip(names, values, strict=True))
                elif line.strip():
                    yield f"line {number}", {"columns": len(values)}

    return rows


def comma_separated(path: Path) -> Iterator[tuple[str, Row]]:
    """Rows of a CSV file with a header."""
    with opened(path) as file:
        reader = csv.DictReader(file)
        for row in reader:
            yield f"line {reader.line_num}", dict(row)


def _row(value: object) -> Row:
    return cast("Row", value) if isinstance(value, Mapping) else {}


def text(row: Row, name: str) -> str:
    """A field that is a non-empty text, or a number.

    Raises:
        BadRowError: it is neither.
    """
    value: object = row.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise BadRowError(f"{name}: is {_shown(value)}, not a text")
    return value.strip()


def optional_text(row: Row, name: str) -> str:
    """A text field; empty if it is missing or null."""
    value: object = row.get(name)
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def boolean(row: Row, name: str) -> bool:
    """A field that is true or false.

    Raises:
        BadRowError: it is not.
    """
    value: object = row.get(name)
    if not isinstance(value, bool):
        raise BadRowError(f"{name}: is {_shown(value)}, not true or false")
    return value


def items(row: Row, name: str, *, optional: bool = False) -> Sequence[Row]:
    """A field that is a list of objects. `optional`: it may be missing or null.

    Raises:
        BadRowError: it is not.
    """
    return cast("list[Row]", _list(row, name, Mapping, "objects", optional=optional))


def texts(row: Row, name: str, *, optional: bool = False) -> Sequence[str]:
    """A field that is a list of texts. `optional`: it may be missing or null.

    Raises:
        BadRowError: it is not.
    """
    return cast("list[str]", _list(row, name, str, "texts", optional=optional))


def _list(row: Row, name: str, kind: type, kinds: str, *, optional: bool) -> list[object]:
    value = cast("object", row.get(name))
    if value is None and optional:
        return []
    values = cast("list[object]", value)
    if not isinstance(value, list) or not all(isinstance(each, kind) for each in values):
        raise BadRowError(f"{name}: is {_shown(values)}, not a list of {kinds}")
    return values


def inner(row: Row, name: str) -> Row:
    """A field that is an object.

    Raises:
        BadRowError: it is not.
    """
    value: object = row.get(name)
    if not isinstance(value, Mapping):
        raise BadRowError(f"{name}: is {_shown(value)}, not an object")
    return cast("Row", value)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= 60 else f"{written[:60]}..."
