"""Functions of values and lists that a query calls. Arguments and results are encoded as in `encoding`."""

from __future__ import annotations

import json
from typing import Any, cast

from kgnav_mcp.adapters.embedded.plans.value_encoding import NotEncodableError, Stored, Value, as_value, decode, encode
from kgnav_mcp.plan import ArithmeticOperator, Comparison, Function, Scalar
from kgnav_mcp.values import arithmetic
from kgnav_mcp.values.comparison import equal, less
from kgnav_mcp.values.functions import bytes_made, compute

_FLOAT_KEY = "f"
"""The key under which JSON holds a float as text, because SQLite would parse the number differently."""


def compare(comparison: str, left: Stored, right: Stored) -> bool | None:
    """Compares two single values. Dates differ from texts. None if they cannot be compared."""
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
    """Returns the bytes of the result as far as it may be larger than the arguments."""
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
    return json.dumps([{_FLOAT_KEY: repr(one)} if isinstance(one, float) else one for one in items])


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
