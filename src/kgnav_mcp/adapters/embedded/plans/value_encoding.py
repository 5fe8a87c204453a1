"""Encodes values for the query of a plan.

Numbers and texts are stored as SQLite's own types. A truth value is a blob of two bytes. A list is a blob that starts
with its sort key. Within a comparison, a date is a blob as well, to differ from a text with the same characters. Any
other value is refused: the query ends, and the evaluator runs the plan instead.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any, cast

from kgnav_mcp.plan import ArithmeticOperator, Comparison, Function, Scalar
from kgnav_mcp.port.lists import batches
from kgnav_mcp.values import arithmetic
from kgnav_mcp.values.comparison import equal, less
from kgnav_mcp.values.functions import bytes_made, compute
from kgnav_mcp.values.scalars import Date

Stored = str | int | float | bytes | None
Value = str | int | float | bool | tuple["Value", ...] | None

NO, YES = b"b0", b"b1"
DATE = b"d"
_LIST = b"l"
_INTEGER_LIMIT = 2**63
_EXACT_LIMIT = 2**53
"""Above this, an integer cannot be represented exactly as a float."""


def empty_list() -> str:
    """Returns the SQL of an empty list, for aggregates over no rows, for which SQLite does not call Python."""
    encoded = encode(())
    return f"x'{encoded.hex()}'" if isinstance(encoded, bytes) else "NULL"


_SLICE = 1_000


def list_json(items: Sequence[object]) -> str:
    """Returns the JSON of a list. Other threads can run in between: one call for 100,000 texts takes 10 ms."""
    return f"[{', '.join(json.dumps(some)[1:-1] for some in batches(items, _SLICE))}]"


class NotEncodableError(Exception):
    """A value cannot be encoded. Handled within the plan's reader, never seen by callers."""


def encode(value: Value) -> Stored:
    """Returns the encoding of a value.

    Raises:
        NotEncodableError: the value has none.
    """
    match value:
        case bool():
            return YES if value else NO
        case tuple():
            if any(isinstance(one, float) and one.is_integer() for one in value):
                raise NotEncodableError  # equals the list with the integer instead, but would be encoded differently
            return _LIST + sortable(value) + b"\0\0" + list_json(value).encode()
        case int() if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise NotEncodableError
        case float() if math.isnan(value):
            raise NotEncodableError
        case str():
            return str(value)
        case _:
            return value


def decode(stored: Stored) -> Value:
    """Returns the Python value of an encoded one."""
    if not isinstance(stored, bytes):
        return stored
    if stored.startswith(DATE):
        return Date(stored[1:].decode())
    if not stored.startswith(_LIST):
        return stored == YES
    return as_value(json.loads(stored[stored.rindex(b"\0\0") + 2 :]))


def as_value(value: Any) -> Value:  # noqa: ANN401 - a value of JSON
    """Returns a JSON value with lists as tuples."""
    return tuple(map(as_value, cast("list[Any]", value))) if isinstance(value, list) else value


def sortable(value: Value) -> bytes:
    """Returns bytes that sort in the order of values: lists, texts, false, true, numbers, nulls.

    Raises:
        NotEncodableError: an integer is too large to be exact.
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
        case int() if abs(value) > _EXACT_LIMIT:
            raise NotEncodableError
        case _:
            (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
            return b"\6" + struct.pack(">Q", bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63))


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"\1" + part for part in parts) + b"\0"


_FLOAT_KEY = "f"
"""The key under which JSON holds a float as text, because SQLite would parse the number differently."""


def compare(comparison: str, left: Stored, right: Stored) -> bool | None:
    """Compares two single values. Dates differ from texts. Returns None if they cannot be compared."""
    one, other = _decode_single(left), _decode_single(right)
    match Comparison(comparison):
        case Comparison.EQUAL:
            return equal(one, other)
        case Comparison.LESS:
            return less(one, other)
        case Comparison.GREATER:
            return less(other, one)
        case Comparison.AT_MOST:
            return _not_less(other, one)
        case _:
            return _not_less(one, other)


def among(value: Stored, members: Stored) -> bool | None:
    """Whether a value is a member of a list; None if it is not but the list has a null.

    A single value is a list of itself.
    """
    found = decode(members)
    if found is None:
        return None
    one, found = _decode_single(value), _as_list(found)
    tests = [equal(one, _decode_single(encode(member))) for member in found]
    return True if True in tests else None if None in tests else False


def call(name: str, *stored: Stored) -> Stored:
    """Returns the result of a plan's function of values, None if it does not apply."""
    return encode(compute(Function(name), tuple(map(decode, stored))))


def call_size(name: str, *stored: Stored) -> int:
    """Returns the maximum size of a function's result in bytes, where it may exceed that of the arguments."""
    return bytes_made(Function(name), tuple(map(decode, stored)))


def calculate(operator: str, left: Stored, right: Stored) -> Stored:
    """Returns the result of an arithmetic operator. `+` joins lists."""
    one, other = decode(left), decode(right)
    if ArithmeticOperator(operator) is ArithmeticOperator.ADD and (isinstance(one, tuple) or isinstance(other, tuple)):
        return None if one is None or other is None else encode((*_as_list(one), *_as_list(other)))
    return encode(arithmetic.calculate(_decode_single(left), ArithmeticOperator(operator), _decode_single(right)))


def listed(*items: Stored) -> Stored:
    """Returns the encoded list of these values."""
    return encode(tuple(map(decode, items)))


def members(stored: Stored) -> str:
    """Returns the members of a list as JSON. A single value counts as a list of itself, null as an empty list."""
    value = decode(stored)
    items = value if isinstance(value, tuple) else () if value is None else (value,)
    return list_json([{_FLOAT_KEY: repr(one)} if isinstance(one, float) else one for one in items])


def member(kind: str, stored: Any) -> Stored:  # noqa: ANN401 - a value of JSON
    """Returns a list member of a type that SQLite's JSON functions do not return as needed: boolean, float or list."""
    if kind in {"true", "false"}:
        return encode(kind == "true")
    value = json.loads(stored)
    return float(cast("dict[str, str]", value)[_FLOAT_KEY]) if isinstance(value, dict) else encode(as_value(value))


def _as_list(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _not_less(left: Scalar, right: Scalar) -> bool | None:
    before = less(left, right)
    return None if before is None else less(right, left) or equal(left, right)


def _decode_single(stored: Stored) -> Scalar:
    value: Value = decode(stored)
    if isinstance(value, tuple):
        raise NotEncodableError
    return value
