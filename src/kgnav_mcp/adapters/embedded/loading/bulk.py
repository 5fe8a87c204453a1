"""Bulk inserts. One statement with a hundred rows costs a third of a hundred statements with one row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

PARAMETERS = 900
"""Parameters of one statement. Every SQLite allows 999."""

BATCH = 50_000
"""Rows in a batch. Progress is reported after each batch from a source."""

BATCH_TEXT = 64 * 1024 * 1024
"""Characters of text in a batch, because a single text may have millions. Few sources reach this in 50,000 rows."""

Row = TypeVar("Row")


def insert(connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]) -> None:
    """Inserts rows of equal width. `into` is a statement that ends in VALUES."""
    if rows:
        insert_values(connection, into, len(rows[0]), list(chain.from_iterable(rows)))


def insert_values(connection: sqlite3.Connection, into: str, width: int, values: Sequence[Any]) -> None:
    """Inserts rows of this width, given as one flat sequence of values."""
    marks = f"({', '.join('?' * width)})"
    together = PARAMETERS // width
    step = together * width
    statement = f"{into} {', '.join([marks] * together)}"
    whole = len(values) - len(values) % step
    for start in range(0, whole, step):
        connection.execute(statement, values[start : start + step])
    rest = values[whole:]
    connection.executemany(f"{into} {marks}", zip(*(rest[place::width] for place in range(width)), strict=True))


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yields lists of `BATCH` rows; the last may be shorter."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch


def text_batches(rows: Iterable[Sequence[Any]], place: int) -> Iterator[list[Sequence[Any]]]:
    """Yields lists of up to `BATCH` rows that end early when the texts in one column reach `BATCH_TEXT`."""
    batch: list[Sequence[Any]] = []
    held = 0
    for row in rows:
        batch.append(row)
        held += len(row[place])
        if held >= BATCH_TEXT or len(batch) == BATCH:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
