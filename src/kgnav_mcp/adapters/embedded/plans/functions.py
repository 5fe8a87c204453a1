"""Functions of Python that the query of a plan calls where SQLite has no words: literals by their datatype, names, sums.

A truth value is a blob of two bytes, a list a blob that sorts as the list does; numbers and texts are SQLite's own. What
can be none of these is refused: the query ends, and the plan is evaluated elsewhere.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable
from typing import Any

from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Literal
from kgnav_mcp.port.scalars import Date, scalar

Stored = str | int | float | bytes | None
Value = str | int | float | bool | tuple["Value", ...] | None

NO, YES = b"b0", b"b1"
_LIST = b"l"
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
        functions = self

        class Labels:
            """The names of labels as a list, in the order of text."""

            def __init__(self) -> None:
                self._names: list[str] = []

            def step(self, number: int) -> None:
                self._names.append(functions.printed[number])

            def finalize(self) -> Stored:
                return functions.encoded(tuple(sorted(self._names)))

        class Total:
            """The sum of numbers, the same in whatever order they come; null where there is none."""

            def __init__(self) -> None:
                self.numbers: list[int | float] = []

            def step(self, value: Stored) -> None:
                if isinstance(value, int | float):
                    self.numbers.append(value)

            def total(self) -> int | float:
                whole = all(isinstance(number, int) for number in self.numbers)
                return sum(self.numbers) if whole else math.fsum(self.numbers)

            def finalize(self) -> Stored:
                return functions.encoded(self.total())

        class Average(Total):
            """The mean of numbers."""

            def finalize(self) -> Stored:
                return functions.encoded(self.total() / len(self.numbers)) if self.numbers else None

        class Least:
            """The first of some values in the order of values."""

            pick: Callable[..., Stored] = staticmethod(min)

            def __init__(self) -> None:
                self._values: list[Stored] = []

            def step(self, value: Stored) -> None:
                if value is not None:
                    found = (value,) if not self._values else (self._values[0], value)
                    self._values = [type(self).pick(found, key=lambda one: sortable(decoded(one)))]

            def finalize(self) -> Stored:
                return self._values[0] if self._values else None

        class Greatest(Least):
            """The last of them."""

            pick = staticmethod(max)

        class Collected:
            """Values as a list in their order."""

            def __init__(self) -> None:
                self._values: list[Value] = []

            def step(self, value: Stored) -> None:
                if value is not None:
                    self._values.append(decoded(value))

            def finalize(self) -> Stored:
                return functions.encoded(tuple(sorted(self._values, key=functions.guarded(sortable))))

        self._sums = {
            "kg_labels": (1, Labels),
            "kg_sum": (1, Total),
            "kg_avg": (1, Average),
            "kg_min": (1, Least),
            "kg_max": (1, Greatest),
            "kg_collect": (1, Collected),
        }

    def define(self) -> dict[str, Any]:
        """What `Session.define` takes."""
        guarded = self.guarded
        return {
            "functions": {
                "kg_refuse": (0, guarded(_refuse)),
                "kg_value": (2, guarded(self._value)),
                "kg_plain": (2, guarded(self._plain)),
                "kg_values": (1, guarded(self._values)),
                "kg_short": (1, self._prefixes.short),
                "kg_relation": (1, self.relations.get),
                "kg_called": (2, self._called),
                "kg_lower": (1, lambda value: value.lower() if isinstance(value, str) else None),
                "kg_upper": (1, lambda value: value.upper() if isinstance(value, str) else None),
                "kg_sortable": (1, guarded(lambda value: sortable(decoded(value)))),
                "kg_qualifiers": (1, guarded(self._qualifiers)),
            },
            "sums": self._sums,
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

    def encoded(self, value: Value) -> Stored:
        """A value as SQLite holds it."""
        return self.guarded(encode)(value)

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
        for key, values in json.loads(stored).items():
            name = self._prefixes.short(key)
            for value in values:
                said = self._prefixes.short(value["id"]) if isinstance(value, dict) else self._scalar(*value[:2])
                own.append((name, sortable(said)))
        return b"".join(sortable(name) + said for name, said in sorted(own))


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
    return tuple(map(_tuple, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


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
