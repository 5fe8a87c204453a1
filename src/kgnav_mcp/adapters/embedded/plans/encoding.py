"""Values as the query of a plan holds them.

A truth value is a blob of two bytes, a list a blob that begins as it sorts; numbers and texts are SQLite's own. What
can be none of these is refused: the query ends, and the plan is evaluated elsewhere. Beside the other side of a
comparison a date is a blob, too, to be told from a text that is written as one.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from typing import Any, cast

from kgnav_mcp.port.scalars import Date

Stored = str | int | float | bytes | None
Value = str | int | float | bool | tuple["Value", ...] | None

NO, YES = b"b0", b"b1"
DATE = b"d"
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
    if stored.startswith(DATE):
        return Date(stored[1:].decode())
    if not stored.startswith(_LIST):
        return stored == YES
    return as_value(json.loads(stored[stored.rindex(b"\0\0") + 2 :]))


def as_value(value: Any) -> Value:  # noqa: ANN401 - a value of JSON
    """A value of JSON as Python has it, lists as tuples."""
    return tuple(map(as_value, cast("list[Any]", value))) if isinstance(value, list) else value


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
