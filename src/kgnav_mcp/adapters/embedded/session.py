"""One job's view of a graph file: rows of queries, within the job's time and a limit of memory."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from time import monotonic
from typing import Any, TypeVar, cast

from kgnav_mcp.adapters.embedded.graphfile import GREATEST_LENGTH, MOST_MEMORY, USUAL_LENGTH

Parameter = str | int | float | bytes | None
Row = tuple[Any, ...]
V = TypeVar("V")

_STEPS_BETWEEN_CHECKS = 10_000
"""Steps of SQLite's virtual machine between two looks at the flag: under a millisecond, too rare to cost anything."""
_LENGTHS = ((USUAL_LENGTH, 1024), (16 * USUAL_LENGTH, 64), (GREATEST_LENGTH, 1))
"""Bytes that a row or a parameter may have, and rows of that length that are read at once.

A query begins with the usual length, of which fewer rows are not weighed, for they are about a page; where something
is longer, as ten thousand ids are, it begins anew.
"""


class DamagedRowError(ValueError):
    """A row is not as a load writes it. Never leaves the pool."""


def checked(value: Any, kind: type[V]) -> V:  # noqa: ANN401 - a damaged file has anything anywhere
    """What must be of one type in a row. SQLite gives whatever a damaged row has, and an answer would break on it.

    Raises:
        DamagedRowError: it is of another one.
    """
    if type(value) is not kind:
        raise DamagedRowError(f"a row has no {kind.__name__} where a load writes one")
    return value


def text(value: Any) -> str:  # noqa: ANN401 - as above
    """As `checked`, of a text."""
    return checked(value, str)


def text_or_none(value: Any) -> str | None:  # noqa: ANN401 - as above
    """As `checked`, of a text where there may be none."""
    return None if value is None else checked(value, str)


def counted(value: Any) -> int:  # noqa: ANN401 - as above
    """As `checked`, of a whole number that counts something."""
    if checked(value, int) < 0:
        raise DamagedRowError("a row has a negative number of rows")
    return value


def mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """As `checked`, of a text that is a JSON object."""
    return cast("dict[str, Any]", checked(json.loads(text(value)), dict))


def values_in(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    """As `checked`, of a list in JSON."""
    return cast("list[Any]", checked(value, list))


def texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    """As `checked`, of a text that is a JSON list of texts."""
    return tuple(map(text, values_in(json.loads(text(value)))))


class StoppedError(Exception):
    """A job found that nobody waits for it any more. Never leaves the pool."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One job's right to run: until its deadline, or until whoever waits for it gives up. Times are monotonic."""

    deadline: float
    stopped: float = inf

    def stop(self) -> None:
        """End the job: nobody waits for it any more."""
        self.stopped = min(self.stopped, monotonic())

    def over(self) -> bool:
        """Whether the job must end now."""
        return self.late() >= 0

    def late(self) -> float:
        """Seconds since the job had to end; negative before."""
        return monotonic() - min(self.deadline, self.stopped)


class Session:
    """One thread's connection, as a job sees it."""

    __slots__ = ("_connection", "_kept", "_read", "_ticket")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ticket = Ticket(0.0)
        self._read = 0
        self._kept: dict[type[Any], Any] = {}
        connection.set_progress_handler(self._is_over, _STEPS_BETWEEN_CHECKS)

    def begin(self, ticket: Ticket) -> None:
        """Start a job: from now on its ticket is the one that counts."""
        self._ticket = ticket
        self._read = 0
        self.check()

    def check(self) -> None:
        """End the job here if its time is up. Work in Python that may last calls this between its parts.

        Raises:
            StoppedError: the job's ticket is over.
        """
        if self._ticket.over():
            raise StoppedError

    def all(self, query: str, *parameters: Parameter) -> list[Row]:
        """All rows of a query.

        Raises:
            MemoryError: they, and those that the job read before, would take more than MOST_MEMORY.
        """
        return self._rows(query, parameters)

    def one(self, query: str, *parameters: Parameter) -> Row | None:
        """The first row of a query, or None."""
        rows = self._rows(query, parameters, only_first=True)
        return rows[0] if rows else None

    def named(self, query: str, parameters: Mapping[str, Parameter]) -> list[Row]:
        """All rows of a query with named parameters; those it does not mention are left aside."""
        return self._rows(query, parameters)

    def define(
        self, functions: Mapping[str, tuple[int, Callable[..., Any]]], sums: Mapping[str, tuple[int, type[Any]]]
    ) -> None:
        """Give queries functions of Python, and sums over rows, each with the number of its arguments."""
        for name, (arguments, function) in functions.items():
            self._connection.create_function(name, arguments, function, deterministic=True)
        for name, (arguments, made) in sums.items():
            self._connection.create_aggregate(name, arguments, made)

    def kept(self, kind: type[V], make: Callable[[], V]) -> V:
        """What stays with the connection for all jobs, made by the first that asks for it; one of each kind."""
        if kind not in self._kept:
            self._kept[kind] = make()
        return self._kept[kind]

    def close(self) -> None:
        """Close the connection. No job may be running."""
        self._connection.set_progress_handler(None, 0)
        self._connection.close()

    def _rows(
        self,
        query: str,
        parameters: Sequence[Parameter] | Mapping[str, Parameter],
        lengths: Sequence[tuple[int, int]] = _LENGTHS,
        *,
        only_first: bool = False,
    ) -> list[Row]:
        if self._ticket.stopped is not inf:
            raise StoppedError
        (length, together), *longer = lengths
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        try:
            cursor = self._connection.execute(query, parameters)
            rows = cursor.fetchmany(1 if only_first else together)
            if only_first or (length == USUAL_LENGTH and len(rows) < together):
                return rows
            return self._weighed(cursor, rows, together)
        except sqlite3.DataError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_TOOBIG or not longer:
                raise
        return self._rows(query, parameters, longer, only_first=only_first)

    def _weighed(self, cursor: sqlite3.Cursor, rows: list[Row], at_once: int) -> list[Row]:
        """The first rows and all that follow them, as long as they are not too many."""
        more = rows.copy()
        while more:
            self.check()
            self._read += sum(map(sys.getsizeof, chain(more, chain.from_iterable(more))))
            if self._read > MOST_MEMORY:
                raise MemoryError
            more = cursor.fetchmany(at_once)
            rows += more
        return rows

    def _is_over(self) -> int:
        return self._ticket.over()
