"""Arithmetic of plans over single values. The result is null if a value is of the wrong kind.

Integers that a plan calculates have 64 bits, as in Cypher. Larger integers of the graph stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal

from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.plan import ArithmeticOperator, Scalar
from kgnav_mcp.values.comparison import date_parts
from kgnav_mcp.values.scalars import is_integer, is_number

_GREATEST = 2**63 - 1
_SHOWN = 40
"""Characters of a number in a message."""
_HEADROOM = 64
"""Binary digits by which floats are scaled down, so that no partial sum overflows."""


def calculate(left: Scalar, operator: ArithmeticOperator, right: Scalar) -> Scalar:
    """The result of an arithmetic operator; `+` also joins texts.

    Raises:
        InvalidArgument: the result is an integer that does not have 64 bits.
    """
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
        result = _ARITHMETIC[operator](left, right)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return _in_64_bits(result, lambda: f"{clipped(str(left), _SHOWN)} {operator} {clipped(str(right), _SHOWN)}")


def _in_64_bits(number: float, written: Callable[[], str]) -> float:
    """The number. `written` returns the calculation, for the message.

    Raises:
        InvalidArgument: it is an integer that does not have 64 bits.
    """
    if isinstance(number, int) and not -_GREATEST - 1 <= number <= _GREATEST:
        raise InvalidArgument(
            f"{written()} is not a 64-bit integer, between -2^63 and 2^63 - 1",
            next_step="Use floats, which are rounded: toFloat(x) * y, sum(toFloat(x)).",
        )
    return number


def total(numbers: Sequence[int | float]) -> int | float:
    """A sum: an integer if all numbers are; it does not depend on their order. Infinity and NaN are as in IEEE 754.

    Raises:
        InvalidArgument: the sum is an integer that does not have 64 bits.
    """
    return _in_64_bits(_total(numbers), lambda: "the sum of these integers")


def _total(numbers: Sequence[int | float]) -> int | float:
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    try:
        return math.fsum(map(to_float, numbers))
    except ValueError:  # infinities of both signs
        return math.nan
    except OverflowError:  # of a part of the sum at least
        return math.fsum(math.ldexp(to_float(number), -_HEADROOM) for number in numbers) * 2.0**_HEADROOM


def average(numbers: Sequence[int | float], count: int | None = None) -> float | None:
    """The mean as a float; None if there are no numbers. `count`: they are so many, in terms of `repeated`."""
    if not numbers:
        return None
    count = count or len(numbers)
    mean = to_float(_total(numbers)) / count
    if math.isinf(mean):  # perhaps only their sum is too large
        return _total([to_float(number) / count for number in numbers])
    return mean


def repeated(number: float, times: int) -> list[int | float]:
    """A few terms whose sum is exactly that of a number repeated `times` times: products with powers of two."""
    if isinstance(number, int):
        return [number * times]
    powers = (bit for bit in range(times.bit_length()) if times >> bit & 1)
    return [number * 2.0**bit for bit in powers]


def to_float(number: float) -> float:
    """The number as a float; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def number_of(value: object) -> int | float | None:
    """The value if it is a number, otherwise None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_of(value: Scalar) -> str | None:
    """A single value as text, as by `toString`; None for null."""
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
        return left - int(_quotient(left, right)) * right
    return math.fmod(left, right) if right and not math.isinf(left) else math.nan


def _power(base: float, exponent: float) -> float:
    """The power as a float, with infinity and NaN where Python raises an error."""
    base, exponent = to_float(base), to_float(exponent)
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        if base < 0 and not exponent.is_integer():
            return math.nan
        is_negative = math.copysign(1, base) < 0 and exponent % 2 == 1
        return -math.inf if is_negative else math.inf


_ARITHMETIC: dict[ArithmeticOperator, Callable[[float, float], int | float]] = {
    ArithmeticOperator.ADD: lambda left, right: left + right,
    ArithmeticOperator.SUBTRACT: lambda left, right: left - right,
    ArithmeticOperator.MULTIPLY: lambda left, right: left * right,
    ArithmeticOperator.DIVIDE: _quotient,
    ArithmeticOperator.REMAINDER: _remainder,
    ArithmeticOperator.POWER: _power,
}


def float_of(value: Scalar) -> float | None:
    """A number, or a text with a number, as a float."""
    if isinstance(value, str):
        return float(value) if is_number(value.strip()) else None
    number = number_of(value)
    return None if number is None else to_float(number)


def integer_of(value: Scalar) -> int | None:
    """The number, also of a text, as an integer, rounded towards zero; of true and false 1 and 0.

    Raises:
        InvalidArgument: it is a fraction whose integer does not have 64 bits. Digits in a text are read exactly.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str) and is_integer(value.strip()):
        return int(value)
    fraction = float_of(value)
    if fraction is None or not math.isfinite(fraction):
        return None
    return int(_in_64_bits(int(fraction), lambda: f"toInteger({clipped(str(value), _SHOWN)})"))


def numeric(work: Callable[[float], float]) -> Callable[[Scalar], Scalar]:
    """A function of a number; infinities and NaN stay what they are."""

    def apply(value: Scalar) -> Scalar:
        number = float_of(number_of(value))
        if number is None or not math.isfinite(number):
            return number
        return work(number)

    return apply


def rounded(number: float) -> float:
    """The nearest integer, halves up. Adding 0.5 first would round 0.49999999999999994 to 1."""
    below = math.floor(number)
    return float(below + (number - below >= 0.5))


def absolute(value: Scalar) -> int | float | None:
    """The number without its sign.

    Raises:
        InvalidArgument: it is the smallest integer of 64 bits.
    """
    number = number_of(value)
    if number is None or number < -_GREATEST - 1:
        return None if number is None else -number
    return _in_64_bits(abs(number), lambda: f"abs({number})")


def year_of(text: str) -> int | None:
    """The year of a date; None for any other text."""
    date = date_parts(text)
    return None if date is None else int(date[0])
