"""Checks where a plan uses properties that have several values: the rule for them is stated, or refuses the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.scopes import Edge, Node, Scope
from kgnav_mcp.navigation.plans.evaluate.several_values import (
    mixed_size,
    number_of_values,
    refused_arithmetic,
    refused_order,
)
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    Comparison,
    ComparisonChain,
    Expression,
    Function,
    ListOf,
    PlanProblem,
    Property,
)
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.values.functions import FUNCTIONS


@dataclass(frozen=True, slots=True)
class SeveralValuesChecker:
    """Checks the expressions of one plan. What the schema does not say is found when the plan runs."""

    vocabulary: SchemaNames
    findings: PlanProblems

    async def check(self, expression: object, scope: Scope) -> None:
        """Note each property with several values in a comparison or an aggregate; report it in arithmetic."""
        match expression:
            case Compare(left, comparison, right):
                of_values = (left,) if comparison is Comparison.IN else (left, right)
                if comparison in _IDENTITY:  # an entity's name means any of its names
                    of_values = tuple(each for each in of_values if not _is_name(each))
                if not any(isinstance(operand, ListOf) for operand in of_values):
                    await self._note(of_values, scope)
            case ComparisonChain(values):
                await self._note(values, scope)
            case Aggregate(_, of) if of is not None:
                await self._note((of,), scope)
            case Arithmetic(left, operator, right) if operator is not ArithmeticOperator.ADD:
                for operand in (left, right):
                    if await self._is_array(operand, scope):
                        self._report(refused_arithmetic(expression, operand), expression)
            case _:
                pass

    async def check_order(self, by: Expression, scope: Scope) -> None:
        """Report an order by an array."""
        if await self._is_array(by, scope):
            self._report(refused_order(by), by)

    async def number_of_values(self, argument: Property, checked: Expression, scope: Scope) -> Expression | None:
        """`size` of a property that is known to have several values: their number, also where it is one.

        Reported if it has several values on some nodes only, or may have.
        """
        if await self._has_several(argument, scope):
            self.findings.several[argument] = None
            return number_of_values(checked)
        match scope.get(argument.owner):
            case Node() if argument.name != NAME:
                ids, kind = await self.vocabulary.properties(argument.name), ValueOwner.NODE
            case Edge(relations):
                ids, kind = await self.vocabulary.qualifier_ids(argument.name, relations), ValueOwner.RELATIONSHIP
            case _:
                return None
        if await self.vocabulary.may_have_several_values(ids, kind):
            self._report(mixed_size(argument), Call(Function.SIZE, (argument,)))
        return None

    def _report(self, problem: PlanProblem, part: Expression) -> None:
        self.findings.problem(problem.place, problem.reason, problem.alternatives)
        self.findings.correct(part, None)

    async def _note(self, operands: Sequence[Expression], scope: Scope) -> None:
        for operand in map(_without_functions, operands):
            if isinstance(operand, Property) and await self._has_several(operand, scope):
                self.findings.several[operand] = None

    async def _has_several(self, prop: Property, scope: Scope) -> bool:
        match scope.get(prop.owner):
            case Node():
                ids = await self.vocabulary.properties(prop.name)
                if prop.name == NAME and self.vocabulary.in_languages(ids):
                    return False  # the name that answers show
                return self.vocabulary.have_several_values(ids)
            case Edge(relations):
                ids = await self.vocabulary.qualifier_ids(prop.name, relations)
                return await self.vocabulary.qualifiers_have_several_values(relations, ids)
            case _:
                return False

    async def _is_array(self, expression: Expression, scope: Scope) -> bool:
        operand = _without_functions(expression)
        if not isinstance(operand, Property):
            return False
        match scope.get(operand.owner):
            case Node():
                return self.vocabulary.are_arrays(await self.vocabulary.properties(operand.name))
            case Edge(relations):
                ids = await self.vocabulary.qualifier_ids(operand.name, relations)
                return await self.vocabulary.qualifiers_are_arrays(relations, ids)
            case _:
                return False


_IDENTITY = frozenset({Comparison.EQUAL, Comparison.UNEQUAL, Comparison.IN})


def _is_name(expression: Expression) -> bool:
    return isinstance(expression, Property) and expression.name == NAME


def _without_functions(expression: Expression) -> Expression:
    """The first argument of functions that are applied to each of several values."""
    while isinstance(expression, Call) and FUNCTIONS[expression.function].of_each_value:
        expression = expression.arguments[0]
    return expression
