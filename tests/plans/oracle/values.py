"""The values of a row: their kinds, when two of them are equal, which comes first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from kgnav_mcp.plan import Comparison
from tests.plans.graph import Date, Edge, Node


@dataclass(frozen=True)
class Way:
    """A path: its nodes, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Several(tuple["Value", ...]):
    """The values of a property that has several, or is an array: a list, of which conditions look at each value."""

    __slots__ = ()


class RefusedError(Exception):
    """The plan asks for one value where a property has several."""


Value = Node | Edge | Way | str | int | float | bool | tuple["Value", ...] | None
Key = tuple[object, ...]


class Kind(IntEnum):
    """What a value is, in the order in which a column has them."""

    NODE = 0
    EDGE = 1
    LIST = 2
    PATH = 3
    TEXT = 4
    BOOLEAN = 5
    NUMBER = 6
    NULL = 7


def kind(value: Value) -> Kind:  # noqa: PLR0911 - one line for each
    """What it is."""
    match value:
        case None:
            return Kind.NULL
        case bool():
            return Kind.BOOLEAN
        case int() | float():
            return Kind.NUMBER
        case str():
            return Kind.TEXT
        case tuple():
            return Kind.LIST
        case Node():
            return Kind.NODE
        case Edge():
            return Kind.EDGE
        case Way():
            return Kind.PATH


def key(value: Value) -> Key:
    """What a value is sorted by, and told from others by where rows are made distinct; of an edge, what it says."""
    match value:
        case None:
            own: Key = ()
        case bool() | int() | float():
            own = (value,)
        case str():
            own = (str(value),)
        case tuple():
            own = tuple(key(each) for each in value)
        case Node():
            own = (value.id,)
        case Edge():
            said = tuple(sorted((name, key(each)) for name, each in value.properties))
            own = (value.head, value.relation, value.tail, said)
        case Way():
            own = (key(value.nodes[0]),)
            for edge, node in zip(value.edges, value.nodes[1:], strict=True):
                own = (*own, key(edge), key(node))
    return (kind(value), *own)


def row_key(cells: tuple[Value, ...]) -> Key:
    """What a row is sorted by."""
    return tuple(key(cell) for cell in cells)


def same(value: Value) -> Key:
    """What a value is told from others by: its key, and the number of each edge in it."""
    match value:
        case Edge():
            return (kind(value), value.number)
        case tuple():
            return (kind(value), *(same(each) for each in value))
        case Way():
            return (kind(value), *(same(each) for each in value.nodes), *(same(each) for each in value.edges))
        case _:
            return key(value)


_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d(?:\.\d+)?))?)?.*)?)?)?")


def moment(text: str) -> tuple[float, ...] | None:
    """The parts of a date, from the year on, as far as it has them."""
    found = _DATE.fullmatch(text)
    return tuple(float(part) for part in found.groups() if part is not None) if found else None


def _comparable(left: str, right: str) -> tuple[Key, Key]:
    """Two texts as they are compared: cut to the precision of both where one is a date and the other looks like one."""
    if isinstance(left, Date) or isinstance(right, Date):
        one, other = moment(left), moment(right)
        if one is not None and other is not None:
            parts = min(len(one), len(other))
            return one[:parts], other[:parts]
    return (str(left),), (str(right),)


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal, as `=` has it."""
    if left is None or right is None:
        return None
    if kind(left) != kind(right):
        return False
    if isinstance(left, str) and isinstance(right, str):
        one, other = _comparable(left, right)
        return one == other
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return False
        members = [equal(one, other) for one, other in zip(left, right, strict=True)]
        return False if False in members else None if None in members else True
    return same(left) == same(right)


def any_of(tests: list[bool | None]) -> bool | None:
    """Whether one of some tests holds; none where that is not known."""
    return True if True in tests else None if None in tests else False


def compared(left: Value, comparison: Comparison, right: Value) -> bool | None:
    """One value compared with another: several values of a property one after the other, unless the other is a list."""
    if isinstance(left, Several) and not isinstance(right, tuple):
        lefts, rights = left, (right,)
    elif isinstance(right, Several) and not isinstance(left, tuple):
        lefts, rights = (left,), right
    else:
        return _compared(left, comparison, right)
    if comparison is Comparison.UNEQUAL:
        found = compared(left, Comparison.EQUAL, right)
        return None if found is None else not found
    return any_of([_compared(one, comparison, other) for one in lefts for other in rights])


def _compared(left: Value, comparison: Comparison, right: Value) -> bool | None:  # noqa: PLR0911 - one for each kind
    if left is None or right is None:
        return None
    if comparison in {Comparison.EQUAL, Comparison.UNEQUAL}:
        found = equal(left, right)
        return found if comparison is Comparison.EQUAL or found is None else not found
    if isinstance(left, str) and isinstance(right, str):
        if comparison in _TEXT:
            return _TEXT[comparison](str(left), str(right))
        return _ordered(*_comparable(left, right), comparison)
    if comparison not in _TEXT and isinstance(left, tuple) and isinstance(right, tuple):
        for one, other in zip(left, right, strict=False):
            if equal(one, other) is not True:
                return None if equal(one, other) is None else _compared(one, comparison, other)
        return _ordered((len(left),), (len(right),), comparison)
    if comparison not in _TEXT and kind(left) == kind(right) and kind(left) in {Kind.NUMBER, Kind.BOOLEAN}:
        return _ordered((left,), (right,), comparison)
    return None


def member(value: Value, of: Value) -> bool | None:
    """`IN`: a single value is a list of itself."""
    if of is None:
        return None
    return any_of([compared(value, Comparison.EQUAL, each) for each in (of if isinstance(of, tuple) else (of,))])


def _ordered(left: Key, right: Key, comparison: Comparison) -> bool:
    return {
        Comparison.LESS: left < right,
        Comparison.AT_MOST: left <= right,
        Comparison.GREATER: left > right,
        Comparison.AT_LEAST: left >= right,
    }[comparison]


_TEXT: dict[Comparison, Callable[[str, str], bool]] = {
    Comparison.CONTAINS: lambda text, part: part in text,
    Comparison.STARTS_WITH: lambda text, part: text.startswith(part),
    Comparison.ENDS_WITH: lambda text, part: text.endswith(part),
    Comparison.MATCHES: lambda text, part: re.fullmatch(part, text) is not None,
}
"""Comparisons of text alone."""
