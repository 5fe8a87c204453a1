"""Writes expressions of the algebra as text in Cypher."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from kgnav_mcp.languages.cypher.token_types import KEYWORDS
from kgnav_mcp.plan import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Compare,
    Comparison,
    ComparisonChain,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    Element,
    Exists,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Quantified,
    Reduction,
    Scalar,
    Slice,
    Variable,
)
from kgnav_mcp.plan.walking import parts

_PLAIN: Final = re.compile(r"[^\W\d]\w*")
_CONTROLS: Final = {chr(code): f"\\u{code:04x}" for code in (*range(32), 127)}
_ESCAPED: Final = str.maketrans(_CONTROLS | {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

_COMPARISON_PRECEDENCE, _TEST_PRECEDENCE, _NOT_PRECEDENCE, _ATOM_PRECEDENCE = 5, 6, 4, 11
"""Precedences of operators: an operand with a lower precedence than its operator needs brackets."""
_ABOVE_ALL = 12
_CONNECTIVE_PRECEDENCES: Final = {Connective.OR: 1, Connective.XOR: 2, Connective.AND: 3}
_ARITHMETIC_PRECEDENCES: Final = {
    ArithmeticOperator.ADD: 7,
    ArithmeticOperator.SUBTRACT: 7,
    ArithmeticOperator.MULTIPLY: 8,
    ArithmeticOperator.DIVIDE: 8,
    ArithmeticOperator.REMAINDER: 8,
    ArithmeticOperator.POWER: 9,
}
_SIGNS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})


def quoted(name: str) -> str:
    """A name, in backticks if it is a keyword or has special characters."""
    if _PLAIN.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    return f"`{name.replace('`', '``')}`"


def write_scalar(value: Scalar) -> str:
    """A scalar as text: a quoted text, a number, true, false or null."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value.translate(_ESCAPED)}'"
        case _:
            return repr(value)


class ExpressionWriter:
    """Writes expressions. `names` has names for unnamed variables, `pattern` writes the content of EXISTS { }."""

    def __init__(self, names: Mapping[str, str], pattern: Callable[[Match], str]) -> None:
        self._names = names
        self._pattern = pattern

    def variable(self, name: str) -> str:
        """The name of a variable as written."""
        return quoted(self._names.get(name, name))

    def write(self, expression: Expression, least: int = 0) -> str:
        """An expression, in brackets if its precedence is below `least`."""
        text, precedence = self._written(expression)
        return text if precedence >= least else f"({text})"

    def _written(self, expression: Expression) -> tuple[str, int]:
        """The text of an expression, and its precedence."""
        match expression:
            case Joined(connective, parts):
                precedence = _CONNECTIVE_PRECEDENCES[connective]
                written = f" {connective} ".join(self.write(part, precedence + 1) for part in parts)
            case Not(IsNull(value)) | IsNull(value):
                precedence = _TEST_PRECEDENCE
                written = f"{self.write(value, precedence)} IS {'NOT ' if isinstance(expression, Not) else ''}NULL"
            case Not(condition):
                precedence = _NOT_PRECEDENCE
                written = f"NOT {self.write(condition, precedence)}"
            case Compare(left, comparison, right):
                precedence = _COMPARISON_PRECEDENCE if comparison in _SIGNS else _TEST_PRECEDENCE
                written = f"{self.write(left, _TEST_PRECEDENCE)} {comparison} {self.write(right, precedence + 1)}"
            case ComparisonChain(values, comparisons):
                precedence = _COMPARISON_PRECEDENCE
                first, *others = (self.write(value, precedence + 1) for value in values)
                links = (f" {comparison} {other}" for comparison, other in zip(comparisons, others, strict=True))
                written = f"{first}{''.join(links)}"
            case Arithmetic(left, operator, right):
                precedence = _ARITHMETIC_PRECEDENCES[operator]
                written = f"{self.write(left, precedence)} {operator} {self.write(right, precedence + 1)}"
            case _:
                precedence, written = _ATOM_PRECEDENCE, self._atom(expression)
        return written, precedence

    def _atom(self, expression: Expression) -> str:
        match expression:
            case Constant(value):
                written = write_scalar(value)
            case Variable(name):
                written = self.variable(name)
            case Property(owner, name):
                written = f"{self.variable(owner)}.{quoted(name)}"
            case HasLabel(variable, labels):
                written = f"{self.variable(variable)}:{'|'.join(map(quoted, labels))}"
            case ListOf(items):
                written = f"[{', '.join(self._item(item) for item in items)}]"
            case Element(of, index):
                written = f"{self._list(of)}[{self.write(index)}]"
            case Slice(of, first, end):
                bounds = ("" if bound is None else self.write(bound) for bound in (first, end))
                written = f"{self._list(of)}[{'..'.join(bounds)}]"
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
            case Aggregate(function, of, distinct, share) if of is not None:
                second = "" if share is None else f", {write_scalar(share)}"
                return f"{function}({'DISTINCT ' if distinct else ''}{self.write(of)}{second})"
            case Case(branches, otherwise):
                written = (f"WHEN {self.write(condition)} THEN {self.write(value)}" for condition, value in branches)
                last = "" if otherwise == Constant(None) else f" ELSE {self.write(otherwise)}"
                return f"CASE {' '.join(written)}{last} END"
            case Comprehension() | Quantified() | Reduction():
                return self._over_members(expression)
            case During(edge, begin, end):
                return f"during({self.variable(edge)}, {write_scalar(begin)}, {write_scalar(end)})"
            case _:
                raise TypeError(f"{type(expression).__name__} cannot be written in Cypher")

    def _list(self, of: Expression) -> str:
        """A value in front of [ ]. A number with a sign needs brackets."""
        text = self.write(of, _ATOM_PRECEDENCE)
        return f"({text})" if text.startswith("-") else text

    def _before_bar(self, expression: Expression, least: int = 0) -> str:
        """An expression in front of a vertical bar, which would be a part of a label there."""
        labelled = any(isinstance(part, HasLabel) for part in parts(expression))
        return self.write(expression, _ABOVE_ALL if labelled else least)

    def _over_members(self, expression: Comprehension | Quantified | Reduction) -> str:
        of = self._before_bar(expression.of, _TEST_PRECEDENCE + 1)
        member = f"{self.variable(expression.variable)} IN {of}"
        match expression:
            case Quantified(quantifier, _, _, where):
                return f"{quantifier}({member} WHERE {self.write(where)})"
            case Reduction(accumulator, initial, _, _, value):
                start = f"{self.variable(accumulator)} = {self.write(initial, _TEST_PRECEDENCE)}"
                return f"reduce({start}, {member} | {self.write(value)})"
            case Comprehension(_, _, where, value):
                condition = "" if where is None else f" WHERE {self._before_bar(where)}"
                result = Variable(expression.variable) if value is None and where is None else value
                return f"[{member}{condition}{'' if result is None else f' | {self.write(result)}'}]"

    def _item(self, item: Expression) -> str:
        """An item of a list. `[x IN y]` would be a list comprehension, so it needs brackets."""
        is_membership = isinstance(item, Compare) and item.comparison is Comparison.IN
        return self.write(item, _ATOM_PRECEDENCE if is_membership else 0)
