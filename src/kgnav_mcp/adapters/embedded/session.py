"""A thread's connection to a graph file. It runs queries within the job's limits of time and memory."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar, cast

from kgnav_mcp.adapters.embedded.graphfile import GREATEST_LENGTH, MAX_ROW_BYTES, USUAL_LENGTH
from kgnav_mcp.concurrency import lower_priority

Parameter = str | int | float | bytes | None
Row = tuple[Any, ...]
V = TypeVar("V")

_STEPS_BETWEEN_CHECKS = 10_000
"""Steps of SQLite's virtual machine between two checks of the deadline: under a millisecond, at no measurable cost."""
_LONG_S = 0.2
"""Seconds after which a plan is long, and between two checks of the size of temporary files."""
MAX_TEMPORARY_BYTES = 256 * 1024**2
"""Maximum size in bytes of the temporary files of all queries of this process. Where the system does not tell their
size (it does on Linux), only time limits them."""
_ROW_LIMITS = ((USUAL_LENGTH, 1024), (16 * USUAL_LENGTH, 64), (GREATEST_LENGTH, 1))
"""Pairs: the most bytes that a row or a parameter may have, and how many such rows are fetched at once.

A query starts with the first pair, and restarts with the next one where a row or a parameter is longer (ten thousand
ids are). The memory of fewer than 1024 rows of the usual length is not measured: they are about one page.
"""


class DamagedRowError(ValueError):
    """A row has another form than a load writes. Handled within the pool, never seen by callers."""


def checked(value: Any, kind: type[V]) -> V:  # noqa: ANN401 - a damaged file has anything anywhere
    """Returns the value if it has this type. SQLite does not check types, so a damaged row can contain anything.

    Raises:
        DamagedRowError: the value has another type.
    """
    if type(value) is not kind:
        raise DamagedRowError(f"a row does not have the {kind.__name__} that a load writes")
    return value


def text(value: Any) -> str:  # noqa: ANN401 - as above
    """Returns the value if it is a string; raises like `checked`."""
    return checked(value, str)


def text_or_none(value: Any) -> str | None:  # noqa: ANN401 - as above
    """Returns the value if it is a string or None; raises like `checked`."""
    return None if value is None else checked(value, str)


def checked_count(value: Any) -> int:  # noqa: ANN401 - as above
    """Returns the value if it is an integer of at least 0; raises like `checked`."""
    if checked(value, int) < 0:
        raise DamagedRowError("a row has a negative number of rows")
    return value


def mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Returns the object in a JSON text. Raises as `checked` does."""
    return cast("dict[str, Any]", checked(json.loads(text(value)), dict))


def checked_list(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    """Returns the value if it is a list; raises like `checked`."""
    return cast("list[Any]", checked(value, list))


def texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    """Returns the strings that a JSON text lists; raises like `checked`."""
    return tuple(map(text, checked_list(json.loads(text(value)))))


class RowsTooLargeError(MemoryError):
    """A job has read rows that take more memory than its ticket allows, or sorts more than temporary files may hold."""


class StoppedError(Exception):
    """A job ran out of time or was cancelled. Handled within the pool, never seen by callers."""


@dataclass(slots=True, eq=False)
class Ticket:
    """The limits of one job: a deadline, the time until its caller stops waiting, or a number of steps.

    Times are monotonic seconds.
    """

    deadline: float
    stopped: float = inf
    steps_left: float = inf
    """Steps that SQLite's virtual machine may still take for the job. Negative: the job was stopped because of them."""
    most_bytes: int = MAX_ROW_BYTES
    """Maximum size in bytes of all rows that the job reads."""
    of_plan: bool = False
    """Whether it belongs to a plan, which yields the processor to other calls if it is long."""

    def count_steps(self, steps: int) -> None:
        """Counts steps of the job, and ends it if it has taken too many."""
        self.steps_left -= steps
        if self.steps_left < 0:
            self.stop()

    def stop(self) -> None:
        """Ends the job: its caller no longer waits, or it has taken too many steps."""
        self.stopped = min(self.stopped, monotonic())

    def is_expired(self) -> bool:
        """Whether the job must end now."""
        return self.seconds_overdue() >= 0

    def seconds_overdue(self) -> float:
        """Seconds since the job had to end; negative before."""
        return monotonic() - min(self.deadline, self.stopped)


class Session:
    """A thread's connection, used by one job at a time."""

    __slots__ = ("_bytes_read", "_cache", "_connection", "_is_too_large", "_next_look", "_ticket", "has_low_priority")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ticket = Ticket(0.0)
        self._bytes_read = 0
        self._next_look = inf
        self._is_too_large = False
        self.has_low_priority = False
        """Whether the priority of the thread was lowered for a long plan. That cannot be taken back."""
        self._cache: dict[type[Any], Any] = {}
        connection.set_progress_handler(self._must_stop, _STEPS_BETWEEN_CHECKS)

    def begin(self, ticket: Ticket) -> None:
        """Starts a job. From now on its ticket limits the queries."""
        self._ticket = ticket
        self._bytes_read = 0
        self._next_look = monotonic() + _LONG_S
        self._is_too_large = False
        self.check()

    def check(self) -> None:
        """Ends the job if its time is over. Long computations in Python call this at intervals.

        Raises:
            StoppedError: the job must end.
        """
        if self._ticket.is_expired():
            raise StoppedError

    def all(self, query: str, *parameters: Parameter) -> list[Row]:
        """Returns all rows of a query.

        Raises:
            RowsTooLargeError: all rows that the job has read would take more than its ticket allows.
        """
        return self._rows(query, parameters)

    def one(self, query: str, *parameters: Parameter) -> Row | None:
        """Returns the first row of a query, or None."""
        rows = self._rows(query, parameters, only_first=True)
        return rows[0] if rows else None

    def all_named(self, query: str, parameters: Mapping[str, Parameter]) -> list[Row]:
        """Returns all rows of a query with named parameters. Parameters that the query does not use are ignored."""
        return self._rows(query, parameters)

    def define(
        self, functions: Mapping[str, tuple[int, Callable[..., Any]]], aggregates: Mapping[str, tuple[int, type[Any]]]
    ) -> None:
        """Registers Python functions and aggregates for queries, each with its number of arguments."""
        for name, (arguments, function) in functions.items():
            self._connection.create_function(name, arguments, function, deterministic=True)
        for name, (arguments, aggregate) in aggregates.items():
            self._connection.create_aggregate(name, arguments, aggregate)

    def get_or_create(self, kind: type[V], make: Callable[[], V]) -> V:
        """Returns the connection's only object of this class. The first call creates it; it is kept until `close`."""
        if kind not in self._cache:
            self._cache[kind] = make()
        return self._cache[kind]

    def close(self) -> None:
        """Closes the connection. No job may be running."""
        self._connection.set_progress_handler(None, 0)
        self._connection.close()

    def _rows(
        self,
        query: str,
        parameters: Sequence[Parameter] | Mapping[str, Parameter],
        limits: Sequence[tuple[int, int]] = _ROW_LIMITS,
        *,
        only_first: bool = False,
    ) -> list[Row]:
        if self._ticket.stopped is not inf:
            raise StoppedError
        (length, batch_size), *larger = limits
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        try:
            cursor = self._connection.execute(query, parameters)
            rows = cursor.fetchmany(1 if only_first else batch_size)
            if only_first or (length == USUAL_LENGTH and len(rows) < batch_size):
                return rows
            return self._with_rest(cursor, rows, batch_size)
        except sqlite3.DataError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_TOOBIG or not larger:
                raise
        except sqlite3.OperationalError as error:
            if self._is_too_large:
                raise RowsTooLargeError from error
            raise
        return self._rows(query, parameters, larger, only_first=only_first)

    def _with_rest(self, cursor: sqlite3.Cursor, rows: list[Row], batch_size: int) -> list[Row]:
        """Returns the given first rows and the rest of the cursor's.

        Raises:
            RowsTooLargeError: all rows that the job has read would take more than its ticket allows.
        """
        batch = rows.copy()
        while batch:
            self.check()
            self._bytes_read += sum(map(sys.getsizeof, chain(batch, chain.from_iterable(batch))))
            if self._bytes_read > self._ticket.most_bytes:
                raise RowsTooLargeError
            batch = cursor.fetchmany(batch_size)
            rows += batch
        return rows

    def _must_stop(self) -> bool:
        self._ticket.count_steps(_STEPS_BETWEEN_CHECKS)
        if monotonic() > self._next_look:
            self._next_look = monotonic() + _LONG_S
            if self._ticket.of_plan and not self.has_low_priority:
                lower_priority()
                self.has_low_priority = True
            self._is_too_large = _temporary_bytes() > MAX_TEMPORARY_BYTES
        return self._is_too_large or self._ticket.is_expired()


def _temporary_bytes() -> int:
    """Returns the size of SQLite's temporary files in this process, which have no name in the file system."""
    size = 0
    with suppress(OSError):  # another system than Linux
        for opened in Path("/proc/self/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                if "/etilqs_" in str(opened.readlink()):
                    size += opened.stat().st_size
    return size
