"""The functions of plans, one entry each: names, arguments, result, meaning and evaluation.

The parsers, the check, the evaluation, graph files and the documentation read this table. A function with `compute`
needs only values; the others read the graph, and are evaluated where that is read. The result is null if an argument is
null or of the wrong kind, where Cypher may raise an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from typing import Any, Final, cast

from kgnav_mcp.plan import Function, Scalar
from kgnav_mcp.values import texts
from kgnav_mcp.values.arithmetic import (
    absolute,
    float_of,
    integer_of,
    numeric,
    rounded,
    text_of,
    year_of,
)

_MAX_DIGITS = 400
"""Decimal places beyond which rounding changes nothing: no float has more."""
_GREATEST_DIGITS = 2**31 - 1
"""Maximum decimal places that Neo4j takes."""
_PRECISE = Context(prec=2 * _MAX_DIGITS)
_SLOT = 64
"""Bytes of a member of a list."""


class Kind(StrEnum):
    """The kind of an argument or a result."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "true or false"
    LIST = "list"
    SINGLE = "single value"
    TEXT_OR_LIST = "text or list"
    LIST_OR_SINGLE = "list or single value"
    ANY = "value"
    NODE = "node"
    EDGE = "edge"
    PATH = "path"
    NODE_OR_EDGE = "node or edge"


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """A function: the kinds of its arguments and result, and its implementation."""

    takes: tuple[Kind, ...]
    gives: Kind
    meaning: str
    """One sentence, without the function's name."""
    compute: Callable[..., Any] | None = None
    """Computes the result from arguments of these kinds; None if the graph has to be read."""
    names: tuple[str, ...] = ()
    """Other names, in lower case."""
    optional: int = 0
    """Number of trailing arguments that are optional."""
    repeated: bool = False
    """Whether the last argument may be repeated."""
    of_whole_list: bool = False
    """Whether several values of a property are one argument; else the function is applied to each."""
    example: str = ""
    """A call that is suggested if the arguments are wrong."""
    size: Callable[..., int] | None = None
    """The bytes of the result, for functions whose result may be much larger than their arguments."""

    @property
    def of_each_value(self) -> bool:
        """Whether the function is applied to each value of a property that has several."""
        return self.compute is not None and not self.of_whole_list

    def accepts(self, arguments: int) -> bool:
        """Whether a call may have this number of arguments."""
        most = arguments if self.repeated else len(self.takes)
        return len(self.takes) - self.optional <= arguments <= most


def compute(function: Function, values: tuple[Any, ...]) -> Any:  # noqa: ANN401 - values of any kind
    """The result of a function of values; null if one is null or of the wrong kind."""
    entry = FUNCTIONS[function]
    if entry.compute is None or not all(map(_is_of_kind, values, entry.takes)):
        return None
    return entry.compute(*values)


def bytes_made(function: Function, values: tuple[Any, ...]) -> int:
    """The bytes of the result of a function that may return more than its arguments; 0 for other functions."""
    size = FUNCTIONS[function].size
    if size is None or not all(map(_is_of_kind, values, FUNCTIONS[function].takes)):
        return 0
    return size(*values)


_SINGLE: Final = (str, int, float)
_TYPES: Final[Mapping[Kind, type | tuple[type, ...]]] = {
    Kind.TEXT: str,
    Kind.NUMBER: (int, float),
    Kind.INTEGER: int,
    Kind.LIST: tuple,
    Kind.SINGLE: _SINGLE,
    Kind.TEXT_OR_LIST: (str, tuple),
    Kind.LIST_OR_SINGLE: (*_SINGLE, tuple),
}


def _is_of_kind(value: object, kind: Kind) -> bool:
    if isinstance(value, bool) and kind in {Kind.NUMBER, Kind.INTEGER}:
        return False
    types = _TYPES.get(kind)
    return value is not None and (types is None or isinstance(value, types))


def _members(value: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)


def _first(value: object) -> object:
    return next(iter(_members(value)), None)


def _last(value: object) -> object:
    return next(reversed(_members(value)), None)


def _tail(value: object) -> tuple[object, ...]:
    return _members(value)[1:]


def _is_empty(value: str | tuple[object, ...]) -> bool:
    return not value


def _range(first: int, last: int, step: int = 1) -> tuple[int, ...] | None:
    return tuple(range(first, last + (1 if step > 0 else -1), step)) if step else None


def _range_size(first: int, last: int, step: int = 1) -> int:
    return max(0, (last - first) // step + 1) * _SLOT if step else 0


def _split(text: str, by: str) -> tuple[str, ...]:
    return tuple(text.split(by) if by else text)


def _split_size(text: str, _by: str) -> int:
    return _SLOT * len(text)


def _reverse(value: str | tuple[Any, ...]) -> str | tuple[Any, ...]:
    return value[::-1]


def _boolean_of(value: Scalar) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return None if isinstance(value, float) else bool(value)


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _is_nan(number: float) -> bool:
    return number != number  # noqa: PLR0124 - math.isnan fails for integers beyond floats


def _round(value: float, digits: int = 0) -> float | None:
    if not 0 <= digits <= _GREATEST_DIGITS:
        return None
    number = float_of(value)
    if number is None or not math.isfinite(number):
        return number
    if not digits:
        return rounded(number)
    places = Decimal(1).scaleb(-min(digits, _MAX_DIGITS))
    return float(Decimal(repr(number)).quantize(places, ROUND_HALF_UP, _PRECISE)) + 0.0  # no negative zero


def _logarithm(work: Callable[[float], float]) -> Callable[[float], float]:
    def apply(number: float) -> float:
        return -math.inf if number == 0 else work(number) if number > 0 else math.nan

    return apply


def _exponential(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def _root(number: float) -> float:
    return math.nan if number < 0 else math.sqrt(float_of(number) or 0)


FUNCTIONS: Final[Mapping[Function, FunctionEntry]] = {
    Function.ID: FunctionEntry(
        (Kind.NODE_OR_EDGE,),
        Kind.TEXT,
        "The id of a node as answers print it; of an edge, a text that differs from that of parallel edges.",
        names=("id", "element_id"),
    ),
    Function.LABELS: FunctionEntry((Kind.NODE,), Kind.LIST, "The labels of a node, sorted."),
    Function.TYPE: FunctionEntry((Kind.EDGE,), Kind.TEXT, "The id of an edge's relation; in Neo4j its type."),
    Function.PROPERTIES: FunctionEntry(
        (Kind.NODE_OR_EDGE,), Kind.LIST, "A list of [property, value or values], sorted by property."
    ),
    Function.KEYS: FunctionEntry((Kind.NODE_OR_EDGE,), Kind.LIST, "The names of the properties, sorted."),
    Function.START: FunctionEntry((Kind.EDGE,), Kind.NODE, "The node that an edge leaves."),
    Function.END: FunctionEntry((Kind.EDGE,), Kind.NODE, "The node that an edge leads to."),
    Function.LENGTH: FunctionEntry(
        (Kind.PATH,), Kind.INTEGER, "The number of edges of a path.", names=("path_length",)
    ),
    Function.NODES: FunctionEntry((Kind.PATH,), Kind.LIST, "The nodes of a path, in its order."),
    Function.EDGES: FunctionEntry((Kind.PATH,), Kind.LIST, "The edges of a path, in its order.", names=("edges",)),
    Function.COALESCE: FunctionEntry((Kind.ANY,), Kind.ANY, "The first value that is not null.", repeated=True),
    Function.SIZE: FunctionEntry(
        (Kind.TEXT_OR_LIST,),
        Kind.INTEGER,
        "The number of members of a list, or of characters of a text.",
        len,
        names=("char_length", "character_length", "cardinality"),
        of_whole_list=True,
    ),
    Function.HEAD: FunctionEntry(
        (Kind.LIST_OR_SINGLE,),
        Kind.ANY,
        "The first member; a single value is a list of itself.",
        _first,
        of_whole_list=True,
    ),
    Function.LAST: FunctionEntry(
        (Kind.LIST_OR_SINGLE,),
        Kind.ANY,
        "The last member; a single value is a list of itself.",
        _last,
        of_whole_list=True,
    ),
    Function.TAIL: FunctionEntry(
        (Kind.LIST_OR_SINGLE,),
        Kind.LIST,
        "The list without its first member.",
        _tail,
        of_whole_list=True,
    ),
    Function.REVERSE: FunctionEntry((Kind.TEXT_OR_LIST,), Kind.ANY, "The text or list in reverse order.", _reverse),
    Function.IS_EMPTY: FunctionEntry(
        (Kind.TEXT_OR_LIST,),
        Kind.BOOLEAN,
        "Whether a text or list is empty.",
        _is_empty,
        of_whole_list=True,
    ),
    Function.RANGE: FunctionEntry(
        (Kind.INTEGER, Kind.INTEGER, Kind.INTEGER),
        Kind.LIST,
        "The integers from the first to the second argument, inclusive, in steps of the third (default 1).",
        _range,
        optional=1,
        example="range(1, 10)",
        size=_range_size,
    ),
    Function.LOWER: FunctionEntry((Kind.TEXT,), Kind.TEXT, "The text in lower case.", str.lower, names=("lower",)),
    Function.UPPER: FunctionEntry((Kind.TEXT,), Kind.TEXT, "The text in upper case.", str.upper, names=("upper",)),
    Function.LEFT: FunctionEntry(
        (Kind.TEXT, Kind.INTEGER),
        Kind.TEXT,
        "The first characters of a text.",
        texts.left,
        example="left(x.name, 3)",
    ),
    Function.RIGHT: FunctionEntry(
        (Kind.TEXT, Kind.INTEGER),
        Kind.TEXT,
        "The last characters of a text.",
        texts.right,
        example="right(x.name, 3)",
    ),
    Function.SUBSTRING: FunctionEntry(
        (Kind.TEXT, Kind.INTEGER, Kind.INTEGER),
        Kind.TEXT,
        "The characters from an index (from 0) to the end, or as many as the third argument.",
        texts.substring,
        optional=1,
        example="substring(x.name, 0, 3)",
    ),
    Function.PAD_LEFT: FunctionEntry(
        (Kind.TEXT, Kind.INTEGER, Kind.TEXT),
        Kind.TEXT,
        "The text padded at its start with spaces, or the third argument, to this length; cut if it is longer.",
        texts.pad_left,
        optional=1,
        example="lpad(x.name, 10, '.')",
        size=texts.pad_size,
    ),
    Function.PAD_RIGHT: FunctionEntry(
        (Kind.TEXT, Kind.INTEGER, Kind.TEXT),
        Kind.TEXT,
        "The text padded at its end with spaces, or the third argument, to this length; cut if it is longer.",
        texts.pad_right,
        optional=1,
        example="rpad(x.name, 10, '.')",
        size=texts.pad_size,
    ),
    Function.TRIM: FunctionEntry(
        (Kind.TEXT,), Kind.TEXT, "The text without whitespace at both ends.", str.strip, names=("btrim",)
    ),
    Function.TRIM_LEFT: FunctionEntry((Kind.TEXT,), Kind.TEXT, "The text without leading whitespace.", str.lstrip),
    Function.TRIM_RIGHT: FunctionEntry((Kind.TEXT,), Kind.TEXT, "The text without trailing whitespace.", str.rstrip),
    Function.REPLACE: FunctionEntry(
        (Kind.TEXT, Kind.TEXT, Kind.TEXT),
        Kind.TEXT,
        "The text with each occurrence of the second argument replaced by the third.",
        str.replace,
        example="replace(x.name, '_', ' ')",
        size=texts.replace_size,
    ),
    Function.SPLIT: FunctionEntry(
        (Kind.TEXT, Kind.TEXT),
        Kind.LIST,
        "The parts of a text between separators.",
        _split,
        example="split(x.name, ', ')",
        size=_split_size,
    ),
    Function.TEXT: FunctionEntry((Kind.SINGLE,), Kind.TEXT, "The value as text.", text_of, names=("tostringornull",)),
    Function.NUMBER: FunctionEntry(
        (Kind.SINGLE,),
        Kind.NUMBER,
        "A number, or a text with a number, as a float.",
        float_of,
        names=("tofloatornull",),
    ),
    Function.TO_INTEGER: FunctionEntry(
        (Kind.SINGLE,),
        Kind.INTEGER,
        "A number, or a text with a number, as an integer, rounded towards 0.",
        integer_of,
        names=("tointegerornull", "toint"),
    ),
    Function.BOOLEAN: FunctionEntry(
        (Kind.SINGLE,),
        Kind.BOOLEAN,
        "The texts 'true' and 'false', or an integer, as a boolean.",
        _boolean_of,
        names=("tobooleanornull",),
    ),
    Function.ABS: FunctionEntry((Kind.NUMBER,), Kind.NUMBER, "The absolute value.", absolute),
    Function.SIGN: FunctionEntry((Kind.NUMBER,), Kind.INTEGER, "-1, 0 or 1.", _sign),
    Function.IS_NAN: FunctionEntry(
        (Kind.NUMBER,), Kind.BOOLEAN, "Whether the number is NaN, such as the square root of -1.", _is_nan
    ),
    Function.ROUND: FunctionEntry(
        (Kind.NUMBER, Kind.INTEGER),
        Kind.NUMBER,
        "The nearest integer, halves up; with a second argument, rounded to so many decimal places, halves away from "
        "0.",
        _round,
        optional=1,
        example="round(x, 2)",
    ),
    Function.FLOOR: FunctionEntry(
        (Kind.NUMBER,),
        Kind.NUMBER,
        "The largest integer that is not greater.",
        numeric(lambda of: float(math.floor(of))),
    ),
    Function.CEILING: FunctionEntry(
        (Kind.NUMBER,),
        Kind.NUMBER,
        "The smallest integer that is not less.",
        numeric(lambda of: float(math.ceil(of))),
        names=("ceiling",),
    ),
    Function.ROOT: FunctionEntry((Kind.NUMBER,), Kind.NUMBER, "The square root; NaN below 0.", _root),
    Function.EXPONENTIAL: FunctionEntry((Kind.NUMBER,), Kind.NUMBER, "e to the power of the number.", _exponential),
    Function.LOGARITHM: FunctionEntry(
        (Kind.NUMBER,),
        Kind.NUMBER,
        "The natural logarithm; NaN below 0.",
        _logarithm(math.log),
        names=("ln",),
    ),
    Function.LOGARITHM_10: FunctionEntry(
        (Kind.NUMBER,),
        Kind.NUMBER,
        "The logarithm to the base 10; NaN below 0.",
        _logarithm(math.log10),
    ),
    Function.YEAR: FunctionEntry((Kind.TEXT,), Kind.INTEGER, "The year of a date.", year_of),
}


FUNCTION_NAMES: Final[Mapping[str, Function]] = {
    name: function for function, entry in FUNCTIONS.items() for name in (function.value.lower(), *entry.names)
}
"""Functions by their names in lower case."""
