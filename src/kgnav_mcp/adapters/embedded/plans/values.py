"""What plans make of single values and lists, as functions that a query calls with values as it holds them."""

from __future__ import annotations

import json
from typing import Any, cast

from kgnav_mcp.adapters.embedded.plans.encoding import RefusedError, Stored, Value, as_value, decoded, encode
from kgnav_mcp.plan import ArithmeticOperator, Comparison, Function, Scalar
from kgnav_mcp.port import calculating
from kgnav_mcp.port.comparing import equal, less

_FRACTION = "f"
"""The key under which JSON has a number that is not whole: SQLite would read it in its own way."""


def compare(comparison: str, left: Stored, right: Stored) -> bool | None:
    """A comparison of single values; dates are told from texts."""
    one, other = _single(left), _single(right)
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
    """Whether a value is a member of a list; null where the list has a null, and no such member."""
    found = decoded(members)
    if not isinstance(found, tuple):
        return None
    one = _single(value)
    tests = [equal(one, _single(encode(member))) for member in found]
    return True if True in tests else None if None in tests else False


def call(name: str, stored: Stored) -> Stored:
    """A function of a value."""
    value, function = decoded(stored), Function(name)
    if value is None:
        return None
    if not isinstance(value, tuple):
        work = calculating.FUNCTIONS.get(function)
        return None if work is None else encode(work(value))
    match function:
        case Function.SIZE:
            return len(value)
        case Function.FIRST:
            return encode(value[0]) if value else None
        case Function.LAST:
            return encode(value[-1]) if value else None
        case _:
            return None


def calculate(operator: str, left: Stored, right: Stored) -> Stored:
    """Two values joined by an operator."""
    return encode(calculating.calculated(_single(left), ArithmeticOperator(operator), _single(right)))


def listed(*items: Stored) -> Stored:
    """A list."""
    return encode(tuple(map(decoded, items)))


def members(stored: Stored) -> str:
    """The members of a list as JSON; a value that is no list is its own only one."""
    value = decoded(stored)
    own = value if isinstance(value, tuple) else () if value is None else (value,)
    return json.dumps([{_FRACTION: repr(one)} if isinstance(one, float) else one for one in own])


def member(kind: str, stored: Any) -> Stored:  # noqa: ANN401 - a value of JSON
    """A member that SQLite does not read as it is: a truth value, a fraction, a list."""
    if kind in {"true", "false"}:
        return encode(kind == "true")
    value = json.loads(stored)
    return float(cast("dict[str, str]", value)[_FRACTION]) if isinstance(value, dict) else encode(as_value(value))


def _not_less(left: Scalar, right: Scalar) -> bool | None:
    before = less(left, right)
    return None if before is None else less(right, left) or equal(left, right)


def _single(stored: Stored) -> Scalar:
    value: Value = decoded(stored)
    if isinstance(value, tuple):
        raise RefusedError
    return value
