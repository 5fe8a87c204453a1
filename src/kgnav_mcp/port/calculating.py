"""Functions and arithmetic of plans over single values. The result is null if a value is of the wrong kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

from kgnav_mcp.plan import ArithmeticOperator, Function, Scalar
from kgnav_mcp.port.comparing import date_parts
from kgnav_mcp.port.ordering import NUMBER

_is_number = re.compile(NUMBER).fullmatch


def calculate(left: Scalar, operator: ArithmeticOperator, right: Scalar) -> Scalar:
    """The result of an arithmetic operator; `+` also joins texts."""
    if left is None or right is None:
        return None
    if operator is ArithmeticOperator.ADD and (isinstance(left, str) or isinstance(right, str)):
        parts = [text_of(part) for part in (left, right) if not isinstance(part, bool)]
        return "".join(part for part in parts if part is not None) if len(parts) == 2 and None not in parts else None
    return _calculate_numbers(number_of(left), operator, number_of(right))


def _calculate_numbers(left: float | None, operator: ArithmeticOperator, right: float | None) -> int | float | None:
    if left is None or right is None:
        return None
    try:
        return _ARITHMETIC[operator](left, right)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None


def number_of(value: object) -> int | float | None:
    """The value if it is a number, otherwise None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_of(value: Scalar) -> str | None:
    """A single value as text, as `toString` writes it; None for null."""
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return _fraction_text(value)
        case _:
            return None


def _fraction_text(number: float) -> str:
    """A float as Cypher writes it: with an exponent from ten million on, and below a thousandth."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' * sign}{digits[0]}.{fraction}E{int(exponent) + len(digits) - 1}"


def _quotient(left: float, right: float) -> float:
    """The quotient. For two integers it is an integer, rounded towards zero, as in Cypher."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right if right else _divide_by_zero(left, right)


def _divide_by_zero(left: float, right: float) -> float:
    """A number divided by zero if one of the two is a float: infinity or NaN, as in IEEE 754."""
    if left == 0 or math.isnan(left):
        return math.nan
    return math.inf if (left > 0) == (math.copysign(1, right) > 0) else -math.inf


def _remainder(left: float, right: float) -> float:
    """The remainder, with the sign of the dividend."""
    if isinstance(left, int) and isinstance(right, int):
        return left - _integer(_quotient(left, right)) * right
    return math.fmod(left, right) if right else math.nan


def _integer(value: float) -> int:
    return int(value)


_ARITHMETIC: dict[ArithmeticOperator, Callable[[float, float], int | float]] = {
    ArithmeticOperator.ADD: lambda left, right: left + right,
    ArithmeticOperator.SUBTRACT: lambda left, right: left - right,
    ArithmeticOperator.MULTIPLY: lambda left, right: left * right,
    ArithmeticOperator.DIVIDE: _quotient,
    ArithmeticOperator.REMAINDER: _remainder,
    ArithmeticOperator.POWER: math.pow,
}


def _to_number(value: Scalar) -> float | None:
    if isinstance(value, str):
        return float(value) if _is_number(value.strip()) else None
    number = number_of(value)
    return None if number is None else float(number)


def _to_integer(value: Scalar) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    number = _to_number(value)
    return int(number) if number is not None and math.isfinite(number) else None


def _numeric(work: Callable[[float], float]) -> Callable[[Scalar], Scalar]:
    """A function of a number; infinities and NaN stay what they are."""

    def apply(value: Scalar) -> Scalar:
        number = number_of(value)
        if number is None or not math.isfinite(number):
            return number
        return work(number)

    return apply


def _absolute(value: Scalar) -> int | float | None:
    number = number_of(value)
    return None if number is None else abs(number)


def _textual(work: Callable[[str], Scalar]) -> Callable[[Scalar], Scalar]:
    return lambda value: work(value) if isinstance(value, str) else None


def _year(text: str) -> int | None:
    date = date_parts(text)
    return None if date is None else int(date[0])


FUNCTIONS: dict[Function, Callable[[Scalar], Scalar]] = {
    Function.LOWER: _textual(str.lower),
    Function.UPPER: _textual(str.upper),
    Function.TEXT: text_of,
    Function.NUMBER: _to_number,
    Function.WHOLE: _to_integer,
    Function.ABS: _absolute,
    Function.ROUND: _numeric(lambda number: float(math.floor(number + 0.5))),
    Function.FLOOR: _numeric(lambda number: float(math.floor(number))),
    Function.CEILING: _numeric(lambda number: float(math.ceil(number))),
    Function.YEAR: _textual(_year),
    Function.SIZE: _textual(len),
}
"""Functions of a single value that is not null. `SIZE` of a list is computed elsewhere."""
