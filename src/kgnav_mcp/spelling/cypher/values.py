"""Expressions of the algebra as text in Cypher."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from kgnav_mcp.plan import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    Comparison,
    Connective,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.spelling.cypher.words import KEYWORDS

_PLAIN: Final = re.compile(r"[^\W\d]\w*")
_CONTROLS: Final = {chr(code): f"\\u{code:04x}" for code in (*range(32), 127)}
_ESCAPED: Final = str.maketrans(_CONTROLS | {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

_COMPARED, _ASKED, _NEGATED, _ATOM = 5, 6, 4, 11
"""How tightly each binds: what stands inside of something that binds more tightly stands in brackets."""
_JOINED: Final = {Connective.OR: 1, Connective.XOR: 2, Connective.AND: 3}
_CALCULATED: Final = {
    ArithmeticOperator.ADD: 7,
    ArithmeticOperator.SUBTRACT: 7,
    ArithmeticOperator.MULTIPLY: 8,
    ArithmeticOperator.DIVIDE: 8,
    ArithmeticOperator.REMAINDER: 8,
    ArithmeticOperator.POWER: 9,
}
_SIGNS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})


def quoted(name: str) -> str:
    """A name as it is written: in backticks where it is a word of the language or has other characters than letters."""
    if _PLAIN.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    return f"`{name.replace('`', '``')}`"


def written_scalar(value: Scalar) -> str:
    """A text in quotes, a number, true, false or null."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value.translate(_ESCAPED)}'"
        case _:
            return repr(value)


class Values:
    """Writes expressions. `names` are for variables that have none, `pattern` writes what stands in EXISTS { }."""

    def __init__(self, names: Mapping[str, str], pattern: Callable[[Match], str]) -> None:
        self._names = names
        self._pattern = pattern

    def variable(self, name: str) -> str:
        """A variable by its name."""
        return quoted(self._names.get(name, name))

    def write(self, expression: Expression, least: int = 0) -> str:
        """An expression, in brackets where it binds less tightly than `least`."""
        text, binds = self._written(expression)
        return text if binds >= least else f"({text})"

    def _written(self, expression: Expression) -> tuple[str, int]:
        """Its text, and how tightly it binds."""
        match expression:
            case Joined(connective, parts):
                binds = _JOINED[connective]
                written = f" {connective} ".join(self.write(part, binds + 1) for part in parts)
            case Not(IsNull(value)) | IsNull(value):
                binds = _ASKED
                written = f"{self.write(value, binds)} IS {'NOT ' if isinstance(expression, Not) else ''}NULL"
            case Not(condition):
                binds = _NEGATED
                written = f"NOT {self.write(condition, binds)}"
            case Compare(left, comparison, right):
                binds = _COMPARED if comparison in _SIGNS else _ASKED
                written = f"{self.write(left, _ASKED)} {comparison} {self.write(right, binds + 1)}"
            case Arithmetic(left, operator, right):
                binds = _CALCULATED[operator]
                written = f"{self.write(left, binds)} {operator} {self.write(right, binds + 1)}"
            case _:
                binds, written = _ATOM, self._atom(expression)
        return written, binds

    def _atom(self, expression: Expression) -> str:
        match expression:
            case Constant(value):
                written = written_scalar(value)
            case Variable(name):
                written = self.variable(name)
            case Property(owner, name):
                written = f"{self.variable(owner)}.{quoted(name)}"
            case HasLabel(variable, labels):
                written = f"{self.variable(variable)}:{'|'.join(map(quoted, labels))}"
            case ListOf(items):
                written = f"[{', '.join(self._item(item) for item in items)}]"
            case Exists(match):
                written = f"EXISTS {{ {self._pattern(match)} }}"
            case CountOf(match):
                written = f"COUNT {{ {self._pattern(match)} }}"
            case _:
                written = self._call(expression)
        return written

    def _call(self, expression: Expression) -> str:
        match expression:
            case Call(function, arguments):
                return f"{function}({', '.join(self.write(argument) for argument in arguments)})"
            case Aggregate(function, None):
                return f"{function}(*)"
            case Aggregate(function, of, distinct) if of is not None:
                return f"{function}({'DISTINCT ' if distinct else ''}{self.write(of)})"
            case During(edge, begin, end):
                return f"during({self.variable(edge)}, {written_scalar(begin)}, {written_scalar(end)})"
            case _:
                raise TypeError(f"{type(expression).__name__} has no spelling in Cypher")

    def _item(self, item: Expression) -> str:
        """A member of a list; `[x IN y]` would be a list made of a list."""
        asks = isinstance(item, Compare) and item.comparison is Comparison.IN
        return self.write(item, _ATOM if asks else 0)
