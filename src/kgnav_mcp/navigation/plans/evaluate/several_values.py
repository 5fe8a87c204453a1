"""Records the properties with several values that an evaluation met: where the rule was applied, and what is refused.

The rule is in `kgnav_mcp.plan.expressions`. Whether a value is a list is known for each row only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.navigation.plans.evaluate.values import PropertyList, Value
from kgnav_mcp.plan import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    Expression,
    Function,
    ListOf,
    PlanProblem,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import parts

_RULE = (
    "a condition holds if it holds for one of them, <> and NOT if for none; an aggregate takes each; size counts them"
)
_NAMED = 8
"""Properties named in the note at most."""


@dataclass(slots=True, eq=False)
class SeveralValues:
    """The properties of one evaluation that have several values in some row."""

    expressions: dict[Expression, None] = field(default_factory=dict[Expression, None])
    """Where the rule was applied: conditions, aggregates and sums."""
    _sized: dict[Expression, bool] = field(default_factory=dict[Expression, bool])
    """Arguments of `size`: whether they are such lists."""

    def record(self, expression: Expression) -> None:
        """Record that the rule was applied to a value of an expression."""
        self.expressions[expression] = None

    def check_sized(self, argument: Expression, value: Value) -> None:
        """Check that the argument of `size` is of one kind in all rows.

        Raises:
            InvalidPlan: it is a property with several values in some rows and a single value in others.
        """
        is_list = isinstance(value, PropertyList)
        if self._sized.setdefault(argument, is_list) is not is_list:
            raise InvalidPlan([mixed_size_problem(argument)])

    def properties(self) -> list[Property | Variable]:
        """The properties to which the rule was applied; of other values, the variables."""
        found: dict[Property | Variable, None] = {}
        for expression in self.expressions:
            named = [part for part in parts(expression) if isinstance(part, Property | Variable)]
            found |= dict.fromkeys(named)
        return [*found]


def several_values_note(named: Iterable[Property | Variable]) -> str:
    """One line about properties with several values; empty without any."""
    texts = list(dict.fromkeys(map(write_part, named)))
    if not texts:
        return ""
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return f"Properties with several values ({', '.join(texts[:_NAMED])}{more}): {_RULE}."


def mixed_size_problem(argument: Expression) -> PlanProblem:
    """The problem of `size` of a value that is a list in some rows and a single value in others."""
    of_first = Call(Function.SIZE, (Call(Function.HEAD, (argument,)),))
    return PlanProblem(
        write_part(Call(Function.SIZE, (argument,))),
        f"{write_part(argument)} may have several values in some rows and one in others: size would count values in "
        "some, characters in others",
        (
            f"{write_part(number_of_values(argument))} for its values",
            f"{write_part(of_first)} for characters of the first value",
        ),
    )


def number_of_values(argument: Expression) -> Call:
    """The expression for the number of values of a property, also if it is one."""
    return Call(Function.SIZE, (Arithmetic(ListOf(()), ArithmeticOperator.ADD, argument),))


def arithmetic_problem(expression: Arithmetic, operand: Expression) -> PlanProblem:
    """The problem of arithmetic with a property that has several values in a row."""
    reason = f"{write_part(operand)} has several values in some rows, but {expression.operator} needs a single value"
    return PlanProblem(write_part(expression), reason, _one_value(operand))


def order_problem(by: Expression) -> PlanProblem:
    """The problem of an order by a property that has several values in a row."""
    reason = "it has several values in some rows, so rows cannot be sorted by it"
    return PlanProblem(f"ORDER BY {write_part(by)}", reason, _one_value(by))


def _one_value(expression: Expression) -> tuple[str, str]:
    written = write_part(expression)
    return f"head({written}), the first value", f"UNWIND {written} AS value, a row for each"
