"""Many rows at once: one statement with a hundred rows costs a third of a hundred statements with one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

PARAMETERS = 900
"""Values bound by one statement; every SQLite allows 999."""

BATCH = 50_000
"""Rows taken together where they come one by one."""

Row = TypeVar("Row")


def insert(connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of equal width. `into` is a named statement that ends in VALUES."""
    if not rows:
        return
    width = len(rows[0])
    marks = f"({', '.join('?' * width)})"
    together = PARAMETERS // width
    whole = len(rows) - len(rows) % together
    if whole:
        values = list(chain.from_iterable(islice(rows, whole)))
        step = together * width
        statement = f"{into} {', '.join([marks] * together)}"
        for start in range(0, len(values), step):
            connection.execute(statement, values[start : start + step])
    connection.executemany(f"{into} {marks}", rows[whole:])


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in lists of `BATCH`, the last one shorter."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        yield batch
