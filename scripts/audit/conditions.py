"""Conditions of plans: how Cypher writes each, and whether it holds for the properties of a node or an edge.

True, false or unknown (None), as in Cypher. On several values a scalar predicate asks whether it holds for any of
them; `<>` and NOT ask whether it holds for none, and need a value. A chained range tests one value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .raw_graph import Day, Properties, Scalar, values_of

Verdict = bool | None


class Condition(Protocol):
    """A condition on the properties of one variable."""

    def text(self, variable: str) -> str:
        """The condition as Cypher writes it."""
        ...

    def holds(self, properties: Properties) -> Verdict:
        """Whether it holds; None where that is unknown."""
        ...


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXT: Mapping[str, Callable[[str, str], bool]] = {
    "CONTAINS": lambda text, part: part in text,
    "STARTS WITH": str.startswith,
    "ENDS WITH": str.endswith,
}
_FUNCTIONS: Mapping[str, Callable[[Scalar], Scalar | None]] = {
    "toLower": lambda value: value.lower() if isinstance(value, str) else None,
    "toUpper": lambda value: value.upper() if isinstance(value, str) else None,
    "size": lambda value: len(value) if isinstance(value, str) else None,
    "abs": lambda value: abs(value) if isinstance(value, int | float) else None,
    "toString": str,
}


def quoted(value: Scalar) -> str:
    """A value as Cypher writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped}'"
    return repr(value)


def compared(left: Scalar, comparison: str, right: Scalar) -> Verdict:
    """A comparison of two single values: numbers as numbers, dates by the precision of both, texts as texts."""
    if comparison in _TEXT:
        if isinstance(left, str) and isinstance(right, str):
            return _TEXT[comparison](left, right)
        return None
    if isinstance(left, Day) or isinstance(right, Day):
        if not (isinstance(left, str) and isinstance(right, str)):
            return False if comparison == "=" else None
        length = min(len(left), len(right))
        left, right = str(left)[:length], str(right)[:length]
    if _kind(left) != _kind(right):
        return False if comparison == "=" else None
    return left == right if comparison == "=" else _ORDER[comparison](left, right)


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _negated(verdict: Verdict) -> Verdict:
    return None if verdict is None else not verdict


@dataclass(frozen=True)
class Compare:
    """`function(variable.property) comparison constant`."""

    name: str
    comparison: str
    constant: Scalar
    function: str | None = None

    def text(self, variable: str) -> str:
        return f"{_applied(self.function, variable, self.name)} {self.comparison} {quoted(self.constant)}"

    def holds(self, properties: Properties) -> Verdict:
        values = [_call(self.function, value) for value in values_of(properties, self.name)]
        if not values:
            return None
        asked = "=" if self.comparison == "<>" else self.comparison
        verdicts = [None if value is None else compared(value, asked, self.constant) for value in values]
        verdict = True if True in verdicts else None if None in verdicts else False
        return _negated(verdict) if self.comparison == "<>" else verdict


@dataclass(frozen=True)
class Between:
    """`low <= variable.property <= high`: one value in the range."""

    name: str
    low: Scalar
    high: Scalar

    def text(self, variable: str) -> str:
        return f"{quoted(self.low)} <= {variable}.{_escaped(self.name)} <= {quoted(self.high)}"

    def holds(self, properties: Properties) -> Verdict:
        values = values_of(properties, self.name)
        if not values:
            return None
        return any(compared(v, ">=", self.low) and compared(v, "<=", self.high) for v in values)


@dataclass(frozen=True)
class OneOf:
    """`variable.property IN [...]`: any value is one of these."""

    name: str
    constants: tuple[Scalar, ...]

    def text(self, variable: str) -> str:
        return f"{variable}.{_escaped(self.name)} IN [{', '.join(map(quoted, self.constants))}]"

    def holds(self, properties: Properties) -> Verdict:
        values = values_of(properties, self.name)
        return any(compared(v, "=", c) for v in values for c in self.constants) if values else None


@dataclass(frozen=True)
class Missing:
    """`variable.property IS NULL`."""

    name: str

    def text(self, variable: str) -> str:
        return f"{variable}.{_escaped(self.name)} IS NULL"

    def holds(self, properties: Properties) -> Verdict:
        return not values_of(properties, self.name)


@dataclass(frozen=True)
class Present:
    """`variable.property IS NOT NULL`."""

    name: str

    def text(self, variable: str) -> str:
        return f"{variable}.{_escaped(self.name)} IS NOT NULL"

    def holds(self, properties: Properties) -> Verdict:
        return bool(values_of(properties, self.name))


@dataclass(frozen=True)
class Not:
    """`NOT condition`."""

    condition: Condition

    def text(self, variable: str) -> str:
        return f"NOT ({self.condition.text(variable)})"

    def holds(self, properties: Properties) -> Verdict:
        return _negated(self.condition.holds(properties))


@dataclass(frozen=True)
class Both:
    """`left AND right`: each tested on its own."""

    left: Condition
    right: Condition

    def text(self, variable: str) -> str:
        return f"({self.left.text(variable)} AND {self.right.text(variable)})"

    def holds(self, properties: Properties) -> Verdict:
        verdicts = (self.left.holds(properties), self.right.holds(properties))
        return False if False in verdicts else None if None in verdicts else True


@dataclass(frozen=True)
class Either:
    """`left OR right`."""

    left: Condition
    right: Condition

    def text(self, variable: str) -> str:
        return f"({self.left.text(variable)} OR {self.right.text(variable)})"

    def holds(self, properties: Properties) -> Verdict:
        verdicts = (self.left.holds(properties), self.right.holds(properties))
        return True if True in verdicts else None if None in verdicts else False


def _call(function: str | None, value: Scalar) -> Scalar | None:
    return _FUNCTIONS[function](value) if function else value


def _applied(function: str | None, variable: str, name: str) -> str:
    access = f"{variable}.{_escaped(name)}"
    return f"{function}({access})" if function else access


def _escaped(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
