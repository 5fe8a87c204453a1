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
    placeholders = f"({', '.join('?' * width)})"
    rows_per_statement = PARAMETERS // width
    values_per_statement = rows_per_statement * width
    statement = f"{into} {', '.join([placeholders] * rows_per_statement)}"
    full_length = len(values) - len(values) % values_per_statement
    for start in range(0, full_length, values_per_statement):
        connection.execute(statement, values[start : start + values_per_statement])
    rest = values[full_length:]
    connection.executemany(f"{into} {placeholders}", zip(*(rest[place::width] for place in range(width)), strict=True))


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yields lists of `BATCH` rows; the last may be shorter."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch


def text_batches(rows: Iterable[Sequence[Any]], column: int) -> Iterator[list[Sequence[Any]]]:
    """Yields lists of up to `BATCH` rows that end early when the texts in one column reach `BATCH_TEXT`."""
    batch: list[Sequence[Any]] = []
    text_length = 0
    for row in rows:
        batch.append(row)
        text_length += len(row[column])
        if text_length >= BATCH_TEXT or len(batch) == BATCH:
            yield batch
            batch, text_length = [], 0
    if batch:
        yield batch
