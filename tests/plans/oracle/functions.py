"""Functions and arithmetic of values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from kgnav_mcp.plan import ArithmeticOperator, Function
from tests.plans.graph import Edge, Graph, Node
from tests.plans.oracle.values import RefusedError, Several, Value, Way, key, moment

_LARGE, _SMALL = 1e7, 1e-3
"""From here on, and below, Cypher writes numbers with an exponent."""


def properties(owner: Value, ids: Sequence[str]) -> list[Value]:
    """The different values of properties of a node or an edge: numbers first."""
    if not isinstance(owner, Node | Edge):
        return []
    found: dict[object, Value] = {key(value): value for name, value in owner.properties if name in ids}
    return sorted(found.values(), key=lambda value: (isinstance(value, str | bool), key(value)))


def several(values: list[Value]) -> Value:
    """Values of a property as one: itself where there is one, a list where there are more."""
    return Several(values) if len(values) > 1 else values[0] if values else None


def text(value: Value) -> str | None:
    """A value written out as Cypher writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case float():
            if not value or _SMALL <= abs(value) < _LARGE:
                return repr(value)
            digits, _, exponent = f"{value!r}".partition("e")
            if not exponent:
                exponent = str(math.floor(math.log10(abs(value))))
                digits = f"{value / float(f'1e{exponent}'):.15g}"
            return f"{float(digits)!r}E{int(exponent)}"
        case _:
            return None


def arithmetic(left: Value, operator: ArithmeticOperator, right: Value) -> Value:
    """Two values joined."""
    if left is None or right is None:
        return None
    if operator is ArithmeticOperator.ADD:
        if isinstance(left, tuple) or isinstance(right, tuple):
            return (*_listed(left), *_listed(right))
        if isinstance(left, str) or isinstance(right, str):
            one, other = text(left), text(right)
            both_fit = not isinstance(left, bool) and not isinstance(right, bool)
            return one + other if one is not None and other is not None and both_fit else None
    if isinstance(left, Several) or isinstance(right, Several):
        raise RefusedError
    if not _is_number(left) or not _is_number(right):
        return None
    return _reckoned(left, operator, right)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _listed(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _reckoned(left: Value, operator: ArithmeticOperator, right: Value) -> int | float | None:  # noqa: PLR0911 - as above
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    whole = isinstance(left, int) and isinstance(right, int)
    match operator:
        case ArithmeticOperator.ADD:
            return left + right
        case ArithmeticOperator.SUBTRACT:
            return left - right
        case ArithmeticOperator.MULTIPLY:
            return left * right
        case ArithmeticOperator.DIVIDE:
            if not right:
                return None
            return (abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1) if whole else left / right
        case ArithmeticOperator.REMAINDER:
            if not right:
                return None
            rest = math.fmod(left, right)
            return int(rest) if whole else rest
        case ArithmeticOperator.POWER:
            try:
                raised = float(left) ** float(right)
            except (ZeroDivisionError, OverflowError):
                return None
            return raised if isinstance(raised, float) else None


def call(graph: Graph, function: Function, arguments: list[Value]) -> Value:  # noqa: C901, PLR0911, PLR0912 - one each
    """A function of values; null of what it is not made for."""
    if function is Function.COALESCE:
        return next((value for value in arguments if value is not None), None)
    value, *others = arguments
    if None in arguments:
        return None
    if function is Function.RANGE:
        return _counted(arguments)
    if others and isinstance(value, Several):
        return Several(call(graph, function, [one, *others]) for one in value)
    if others:
        return _of_several(function, value, others)
    if function is Function.TAIL and isinstance(value, str | int | float):
        return ()
    if function in {Function.HEAD, Function.LAST} and isinstance(value, str | int | float):
        return value
    match value:
        case Several() if function in (_TEXTS.keys() | _NUMBERS.keys()) - {Function.SIZE, Function.IS_EMPTY}:
            return Several(call(graph, function, [one]) for one in value)
        case Node():
            return _of_node(graph, value, function)
        case Edge():
            return _of_edge(graph, value, function)
        case Way():
            parts: dict[Function, Value] = {
                Function.LENGTH: len(value.edges),
                Function.NODES: value.nodes,
                Function.EDGES: value.edges,
            }
            return parts.get(function)
        case tuple():
            members: dict[Function, Value] = {
                Function.SIZE: len(value),
                Function.HEAD: value[0] if value else None,
                Function.LAST: value[-1] if value else None,
                Function.TAIL: tuple(value[place] for place in range(1, len(value))),
                Function.REVERSE: tuple(value[-place - 1] for place in range(len(value))),
                Function.IS_EMPTY: len(value) == 0,
            }
            return members.get(function)
        case str():
            return _TEXTS[function](value) if function in _TEXTS else None
        case bool():
            truths: dict[Function, Value] = {
                Function.TEXT: text(value),
                Function.TO_INTEGER: int(value),
                Function.BOOLEAN: value,
                Function.NUMBER: None,
            }
            return truths.get(function)
        case int() | float():
            return _NUMBERS[function](value) if function in _NUMBERS else None
        case None:
            return None


def _of_node(graph: Graph, node: Node, function: Function) -> Value:
    parts: dict[Function, Value] = {
        Function.ID: node.id,
        Function.LABELS: tuple(sorted(graph.called.get(label, label) for label in node.labels)),
        Function.PROPERTIES: _all(node),
        Function.KEYS: tuple(sorted({name for name, _ in node.properties})),
    }
    return parts.get(function)


def _of_edge(graph: Graph, edge: Edge, function: Function) -> Value:
    parts: dict[Function, Value] = {
        Function.ID: f"edge {edge.number}",
        Function.TYPE: edge.relation,
        Function.PROPERTIES: _all(edge),
        Function.KEYS: tuple(sorted({name for name, _ in edge.properties})),
        Function.START: graph.nodes[edge.head],
        Function.END: graph.nodes[edge.tail],
    }
    return parts.get(function)


def _all(owner: Node | Edge) -> tuple[Value, ...]:
    names = sorted({name for name, _ in owner.properties})
    return tuple((name, several(properties(owner, (name,)))) for name in names)


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _number(written: str) -> float | None:
    return float(written) if _NUMBER.fullmatch(written.strip()) else None


def _whole(written: str) -> int | None:
    number = _number(written)
    return None if number is None or written != written.strip() else int(number)


def _year(written: str) -> int | None:
    parts = moment(written)
    return int(parts[0]) if parts else None


def _counted(arguments: list[Value]) -> Value:
    """The integers of `range`."""
    if any(isinstance(each, bool) or not isinstance(each, int) for each in arguments):
        return None
    first, last, step, *_ = (*(each for each in arguments if isinstance(each, int)), 1)
    found: list[Value] = []
    while step and (first <= last if step > 0 else first >= last):
        found.append(first)
        first += step
    return tuple(found) if step else None


def _of_several(function: Function, value: Value, others: list[Value]) -> Value:  # noqa: PLR0911 - one for each
    """A function of several arguments."""
    match function, value, others:
        case Function.SPLIT, str(), [str(by)]:
            return tuple(value) if not by else tuple(re.split(re.escape(by), value))
        case Function.REPLACE, str(), [str(old), str(new)]:
            return re.sub(re.escape(old), lambda _: new, value)
        case Function.PAD_LEFT | Function.PAD_RIGHT, str(), [int(length), *fill] if not isinstance(others[0], bool):
            return _padded(value, length, fill[0] if fill else " ", before=function is Function.PAD_LEFT)
        case _ if any(isinstance(each, bool) or not isinstance(each, int) or each < 0 for each in others):
            return None
        case Function.ROUND, int() | float(), [int(digits)] if not isinstance(value, bool):
            return float(f"{abs(value) + 1e-12:.{digits}f}") * (-1 if value < 0 else 1)
        case Function.LEFT, str(), [int(length)]:
            return "".join(one for place, one in enumerate(value) if place < length)
        case Function.RIGHT, str(), [int(length)]:
            return "".join(one for place, one in enumerate(value) if place >= len(value) - length)
        case Function.SUBSTRING, str(), [int(start), *length]:
            end = start + length[0] if length and isinstance(length[0], int) else len(value)
            return "".join(one for place, one in enumerate(value) if start <= place < end)
        case _:
            return None


def _padded(value: str, length: int, fill: Value, *, before: bool) -> Value:
    if length < 0 or not isinstance(fill, str) or (len(value) < length and not fill):
        return None
    missing = "".join(fill[place % len(fill)] for place in range(length - len(value)))
    return "".join(one for place, one in enumerate(missing + value if before else value + missing) if place < length)


def _logarithm(base: float) -> Callable[[int | float], Value]:
    return lambda value: -math.inf if not value else math.log(value) / math.log(base) if value > 0 else math.nan


_TEXTS: dict[Function, Callable[[str], Value]] = {
    Function.SIZE: len,
    Function.LOWER: str.lower,
    Function.UPPER: str.upper,
    Function.TEXT: str,
    Function.NUMBER: _number,
    Function.TO_INTEGER: _whole,
    Function.YEAR: _year,
    Function.TRIM: lambda written: written.lstrip().rstrip(),
    Function.TRIM_LEFT: str.lstrip,
    Function.TRIM_RIGHT: str.rstrip,
    Function.REVERSE: lambda written: "".join(reversed(written)),
    Function.IS_EMPTY: lambda written: written == "",
    Function.BOOLEAN: lambda written: {"true": True, "false": False}.get(written.strip().lower()),
}
_NUMBERS: dict[Function, Callable[[int | float], Value]] = {
    Function.TEXT: text,
    Function.NUMBER: float,
    Function.TO_INTEGER: int,
    Function.ABS: abs,
    Function.ROUND: lambda value: float(math.floor(value + 0.5)),
    Function.FLOOR: lambda value: float(math.floor(value)),
    Function.CEILING: lambda value: float(math.ceil(value)),
    Function.BOOLEAN: lambda value: value != 0 if isinstance(value, int) else None,
    Function.SIGN: lambda value: 0 if value == 0 else 1 if value > 0 else -1,
    Function.IS_NAN: lambda value: not value <= math.inf,
    Function.ROOT: lambda value: value**0.5 if value >= 0 else math.nan,
    Function.EXPONENTIAL: lambda value: math.e**value if value < 700 else math.inf,
    Function.LOGARITHM: _logarithm(math.e),
    Function.LOGARITHM_10: _logarithm(10),
}
