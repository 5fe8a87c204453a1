"""Functions of Python that the query of a plan calls: literals by their datatype, names, sums.

A truth value is a blob of two bytes, a list a blob that begins as it sorts; numbers and texts are SQLite's own. What
can be none of these is refused: the query ends, and the plan is evaluated elsewhere.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, cast

from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Literal
from kgnav_mcp.port.scalars import Date, scalar

Stored = str | int | float | bytes | None
Value = str | int | float | bool | tuple["Value", ...] | None

NO, YES = b"b0", b"b1"
_LIST = b"l"
_REMEMBERED = 20_000
"""Results of one function: some 4 MB."""
_LARGEST = 2**63
_EXACT = 2**53
"""Above it a whole number has no place of its own among the fractions."""


def empty_list() -> str:
    """A list without members, in SQL: what SQLite has no rows for it makes no sum of."""
    encoded = encode(())
    return f"x'{encoded.hex()}'" if isinstance(encoded, bytes) else "NULL"


class RefusedError(Exception):
    """A value of a row has no form in SQL. Never leaves the plan's reader."""


class Functions:
    """What one session's queries may call. `refused` tells why a query has ended."""

    def __init__(self, builder: Builder) -> None:
        self.refused = False
        self._prefixes = builder.prefixes
        labels = builder.catalogue.labels(builder.session).entries
        self.printed = {number: entry.printed for number, entry in labels.items()}
        self.relations = {number: entry.relation.id for number, entry in builder.relation_entries.items()}

    def _summing(self, finished: Callable[[list[Any]], Stored]) -> type[Any]:
        """A sum over rows, as SQLite takes it, of the values that are not null."""
        guarded = self.guarded(finished)

        class Summing:
            def __init__(self) -> None:
                self._values: list[Stored] = []

            def step(self, value: Stored) -> None:
                if value is not None:
                    self._values.append(value)

            def finalize(self) -> Stored:
                return guarded(self._values)

        return Summing

    def _labels(self, numbers: list[int]) -> Stored:
        """The names of labels as a list, in the order of text."""
        return encode(tuple(sorted(self.printed[number] for number in numbers)))

    def define(self) -> dict[str, Any]:
        """What `Session.define` takes."""
        guarded = self.guarded
        return {
            "functions": {
                "kg_refuse": (0, guarded(_refuse)),
                "kg_value": (2, _remembered(guarded(self._value))),
                "kg_plain": (2, _remembered(guarded(self._plain))),
                "kg_values": (1, guarded(self._values)),
                "kg_short": (1, self._prefixes.short),
                "kg_relation": (1, self.relations.get),
                "kg_called": (2, self._called),
                "kg_lower": (1, _lower),
                "kg_upper": (1, _upper),
                "kg_sortable": (1, guarded(_place)),
                "kg_qualifiers": (1, guarded(self._qualifiers)),
            },
            "sums": {
                "kg_labels": (1, self._summing(self._labels)),
                "kg_sum": (1, self._summing(lambda values: encode(_total(values)))),
                "kg_avg": (1, self._summing(_average)),
                "kg_min": (1, self._summing(lambda values: min(values, key=_place, default=None))),
                "kg_max": (1, self._summing(lambda values: max(values, key=_place, default=None))),
                "kg_collect": (
                    1,
                    self._summing(lambda values: encode(tuple(map(decoded, sorted(values, key=_place))))),
                ),
            },
        }

    def guarded(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """A function that tells that it has refused."""

        def called(*values: Any) -> Any:  # noqa: ANN401 - whatever SQLite gives
            try:
                return work(*values)
            except RefusedError:
                self.refused = True
                raise

        return called

    def _scalar(self, text: str, datatype: str | None) -> str | int | float | bool:
        return scalar(Literal(text, self._prefixes.short(datatype) if datatype else None))

    def _value(self, text: str, datatype: str | None) -> Stored:
        return encode(self._scalar(text, datatype))

    def _plain(self, text: str, datatype: str | None) -> Stored:
        """As `_value`, but for dates, which compare by their precision."""
        value = self._scalar(text, datatype)
        if isinstance(value, Date):
            raise RefusedError
        return encode(value)

    def _values(self, stored: str) -> Stored:
        """The different values of a property: one as it is, several as a list, numbers first."""
        found = {sortable(value): value for text, kind in json.loads(stored) for value in [self._scalar(text, kind)]}
        values = [found[key] for key in sorted(found)]
        values.sort(key=lambda value: isinstance(value, bool) or not isinstance(value, int | float))
        return encode(tuple(values) if len(values) > 1 else values[0])

    def _called(self, key: str, mediator: int) -> str | None:
        from kgnav_mcp.adapters.naming import entity_name  # noqa: PLC0415 - few graphs need it

        return None if mediator or not ("://" in key or key.startswith("urn:")) else entity_name(key)

    def _qualifiers(self, stored: str | None) -> bytes:
        """What an edge says beside its ends, as what it sorts by."""
        if not stored:
            return b""
        own: list[tuple[str, bytes]] = []
        for key, values in cast("dict[str, list[Any]]", json.loads(stored)).items():
            name = self._prefixes.short(key)
            for value in values:
                said = (
                    self._prefixes.short(cast("dict[str, str]", value)["id"])
                    if isinstance(value, dict)
                    else self._scalar(*value[:2])
                )
                own.append((name, sortable(said)))
        return b"".join(sortable(name) + said for name, said in sorted(own))


def _remembered(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks its results up: values of a graph come again and again."""
    return lru_cache(_REMEMBERED)(work)


def _numbers(values: list[Stored]) -> list[int | float]:
    return [value for value in values if isinstance(value, int | float)]


def _total(values: list[Stored]) -> int | float:
    """A sum, whole where all numbers are, and the same in whatever order they come."""
    numbers = _numbers(values)
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


def _average(values: list[Stored]) -> Stored:
    numbers = _numbers(values)
    return encode(_total(values) / len(numbers)) if numbers else None


def _place(value: Stored) -> bytes:
    """What a value sorts by."""
    return sortable(decoded(value))


def _lower(value: Stored) -> str | None:
    return value.lower() if isinstance(value, str) else None


def _upper(value: Stored) -> str | None:
    return value.upper() if isinstance(value, str) else None


def _refuse() -> None:
    raise RefusedError


def encode(value: Value) -> Stored:
    """A value as SQLite holds it.

    Raises:
        RefusedError: it cannot.
    """
    match value:
        case bool():
            return YES if value else NO
        case tuple():
            if any(isinstance(one, float) and one.is_integer() for one in value):
                raise RefusedError  # it equals the list with the whole number, but is not written so
            return _LIST + sortable(value) + b"\0\0" + json.dumps(value).encode()
        case int() if not -_LARGEST <= value < _LARGEST:
            raise RefusedError
        case float() if math.isnan(value):
            raise RefusedError
        case str():
            return str(value)
        case _:
            return value


def decoded(stored: Stored) -> Value:
    """A value of SQLite's as Python has it."""
    if not isinstance(stored, bytes):
        return stored
    if not stored.startswith(_LIST):
        return stored == YES
    return _tuple(json.loads(stored[stored.rindex(b"\0\0") + 2 :]))


def _tuple(value: Any) -> Value:  # noqa: ANN401 - a value of JSON
    return tuple(map(_tuple, cast("list[Any]", value))) if isinstance(value, list) else value


def sortable(value: Value) -> bytes:
    """Bytes that sort as values do: lists, texts, no before yes, numbers, nulls.

    Raises:
        RefusedError: a whole number is too large for that.
    """
    match value:
        case tuple():
            return b"\2" + _joined(map(sortable, value))
        case str():
            return b"\4" + value.encode("utf-8", "replace").replace(b"\0", b"\0\xff") + b"\0\1"
        case bool():
            return b"\5" + (b"\1" if value else b"\0")
        case None:
            return b"\7"
        case int() if abs(value) > _EXACT:
            raise RefusedError
        case _:
            (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
            return b"\6" + struct.pack(">Q", bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63))


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"\1" + part for part in parts) + b"\0"
