"""Checks the properties of a plan: nodes that never have one would give no rows, and several values need a rule."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Certainty
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, closest_alternative
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.scopes import Edge, Node, Scope
from kgnav_mcp.navigation.plans.evaluate.several_values import (
    arithmetic_problem,
    mixed_size_problem,
    number_of_values,
    order_problem,
)
from kgnav_mcp.plan import (
    NAME,
    UNNAMED,
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    Expression,
    Function,
    IsNull,
    ListOf,
    Match,
    NodePattern,
    Not,
    Pipeline,
    Plan,
    PlanProblem,
    Project,
    Property,
)
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.values.functions import FUNCTIONS

HasRows = Callable[[Plan], Awaitable[bool | None]]
"""Whether a plan with the graph's own ids has any row; None if finding out costs too much."""
ANY_ROW = Project((Column("found", Constant(value=True)),), limit=1)
_MAX_READ = 5_000
"""Nodes of a label that are read at most if the schema is a sample without the property."""
_MAX_LISTED = 1_000_000
"""Nodes of a label among which the store is asked for one with the property: this takes it up to a second."""


@dataclass(frozen=True, slots=True)
class PropertyChecker:
    """Checks which properties the nodes of a pattern have."""

    schema_names: SchemaNames
    problems: PlanProblems
    has_rows: HasRows

    async def has(self, node: Node, prop: Property, ids: Sequence[str]) -> bool:
        """Whether nodes that match a pattern may have one of these properties. Uncertainty is added to the notes."""
        if not ids or node.subclasses:
            return True
        for labels in filter(None, node.labels):
            found, complete = await self.schema_names.properties_at(labels)
            if not found.isdisjoint(ids):
                continue
            any_node = False if complete else await self._any_node_has(labels, ids)
            if any_node is False:
                return False
            if any_node:
                continue
            named = write_part(NodePattern(UNNAMED, (tuple(labels),)))
            self.problems.notes.append(
                f"None of the nodes {named} in the schema's sample has {prop.name}; others may have it."
            )
        return True

    async def report_missing(self, node: Node, prop: Property, ids: Sequence[str]) -> None:
        """Report a property that no node of the pattern has, with the most similar ones that they have."""
        if await self.has(node, prop, ids):
            return
        labels = [label for group in node.labels for label in group]
        nearest = await self.schema_names.nearest_property(prop.name, labels, only_there=True)
        named = write_part(NodePattern(UNNAMED, node.labels))
        offered = [write_part(Property(prop.owner, one)) for one in nearest]
        self.problems.add(write_part(prop), f"no node {named} has this property", offered)
        name = closest_alternative(prop.name, nearest)
        self.problems.correct(prop, Property(prop.owner, name) if name is not None else None)

    async def _any_node_has(self, labels: Sequence[str], ids: Sequence[str]) -> bool | None:
        size = self.schema_names.nodes_of(labels)
        if size.certainty is not Certainty.EXACT or size.value > _MAX_READ:
            return await self._any_node_is_listed(labels, ids) if 0 < size.value <= _MAX_LISTED else None
        owned = Not(IsNull(Property("n", ids[0], tuple(ids))))
        pattern = Match((NodePattern("n", (tuple(labels),)),), where=owned)
        return await self.has_rows(Plan((Pipeline((pattern, ANY_ROW)),), only_exists=True))

    async def _any_node_is_listed(self, labels: Sequence[str], ids: Sequence[str]) -> bool | None:
        """True if the store lists a node with one of the labels and properties; None if it does not, or not in time."""
        for label, relation in product(labels, ids):
            with suppress(UnknownName, Unsupported, StoreTimeout):
                if (await self.schema_names.graph.nodes(label, relation, None, limit=1)).items:
                    return True
        return None


@dataclass(frozen=True, slots=True)
class SeveralValuesChecker:
    """Checks the expressions of one plan. What the schema does not say is found when the plan runs."""

    schema_names: SchemaNames
    problems: PlanProblems

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
                        self._report(arithmetic_problem(expression, operand), expression)
            case _:
                pass

    async def check_order(self, by: Expression, scope: Scope) -> None:
        """Report an order by an array."""
        if await self._is_array(by, scope):
            self._report(order_problem(by), by)

    async def number_of_values(self, argument: Property, checked: Expression, scope: Scope) -> Expression | None:
        """`size` of a property that is known to have several values: their number, also where it is one.

        Reported if it has several values on some nodes only, or may have.
        """
        if await self._has_several(argument, scope):
            self.problems.several[argument] = None
            return number_of_values(checked)
        match scope.get(argument.owner):
            case Node() if argument.name != NAME:
                ids, kind = await self.schema_names.properties(argument.name), ValueOwner.NODE
            case Edge(relations):
                ids, kind = await self.schema_names.qualifier_ids(argument.name, relations), ValueOwner.RELATIONSHIP
            case _:
                return None
        if await self.schema_names.may_have_several_values(ids, kind):
            self._report(mixed_size_problem(argument), Call(Function.SIZE, (argument,)))
        return None

    def _report(self, problem: PlanProblem, part: Expression) -> None:
        self.problems.add(problem.place, problem.reason, problem.alternatives)
        self.problems.correct(part, None)

    async def _note(self, operands: Sequence[Expression], scope: Scope) -> None:
        for operand in map(_without_functions, operands):
            if isinstance(operand, Property) and await self._has_several(operand, scope):
                self.problems.several[operand] = None

    async def _has_several(self, prop: Property, scope: Scope) -> bool:
        match scope.get(prop.owner):
            case Node():
                ids = await self.schema_names.properties(prop.name)
                if prop.name == NAME and self.schema_names.in_languages(ids):
                    return False  # the name that answers show
                return self.schema_names.have_several_values(ids)
            case Edge(relations):
                ids = await self.schema_names.qualifier_ids(prop.name, relations)
                return await self.schema_names.qualifiers_have_several_values(relations, ids)
            case _:
                return False

    async def _is_array(self, expression: Expression, scope: Scope) -> bool:
        operand = _without_functions(expression)
        if not isinstance(operand, Property):
            return False
        match scope.get(operand.owner):
            case Node():
                return self.schema_names.are_arrays(await self.schema_names.properties(operand.name))
            case Edge(relations):
                ids = await self.schema_names.qualifier_ids(operand.name, relations)
                return await self.schema_names.qualifiers_are_arrays(relations, ids)
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
