"""Converts the syntax trees of function calls to expressions of the algebra."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kgnav_mcp.languages.cypher.functions import (
    DATES,
    DURING,
    FUNCTION_LIST,
    REPLACEMENTS,
    accepted_call,
    similar_functions,
)
from kgnav_mcp.languages.cypher.reader import Context, Reading, has_token, name_of, subtrees
from kgnav_mcp.languages.cypher.syntax import Node
from kgnav_mcp.languages.dates import date
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Constant,
    During,
    Expression,
    IsNull,
    Not,
    Variable,
)
from kgnav_mcp.values.functions import AGGREGATE_NAMES, AGGREGATES, FUNCTION_NAMES, FUNCTIONS

if TYPE_CHECKING:
    from kgnav_mcp.languages.cypher.expressions import Expressions


class Calls:
    """Converts the function calls of one text."""

    def __init__(self, reading: Reading, expressions: Expressions) -> None:
        self._reading = reading
        self._expressions = expressions

    def read(self, node: Node, context: Context) -> Expression:
        """The expression of a function call or an aggregate."""
        named, *arguments = subtrees(node)
        name = name_of(named)
        known = name.lower()
        if known in AGGREGATE_NAMES:
            return self._aggregate(node, AGGREGATE_NAMES[known], arguments, context)
        if has_token(node, "STAR") or has_token(node, "DISTINCT"):
            return self._reading.report(node, f"{name} is no aggregate", *(each.value for each in AGGREGATES))
        if len(arguments) == 1 and arguments[0].data == "pattern_predicate" and known in {"exists", "size"}:
            read = self._expressions.exists if known == "exists" else self._expressions.count_of
            return read(arguments[0], context)
        values = tuple([self._expressions.read(argument, context) for argument in arguments])
        return self._special_form(node, known, values) or self._function(node, name, values)

    def _special_form(self, node: Node, name: str, values: tuple[Expression, ...]) -> Expression | None:
        """The expression of a call that is not a function in plans, such as `exists(n.x)`; None for other calls."""
        match name, values:
            case "exists", (value,):
                return Not(IsNull(value))
            case _, (Constant(str()) as text,) if name in DATES:
                return text
            case _ if name == DURING:
                return self._during(node, values)
            case _:
                return None

    def _function(self, node: Node, name: str, values: tuple[Expression, ...]) -> Expression:
        function = FUNCTION_NAMES.get(name.lower())
        if function is None:
            names = dict.fromkeys(each.value for each in (*FUNCTIONS, *AGGREGATES))
            instead = REPLACEMENTS.get(name.lower()) or similar_functions(name, names)
            reason = f"there is no function {name} in plans"
            return self._reading.report(node, reason if instead else f"{reason}; {FUNCTION_LIST}", *instead)
        if not FUNCTIONS[function].accepts(len(values)):
            reason = f"{function} does not take {len(values)} values"
            return self._reading.report(node, reason, accepted_call(function))
        return Call(function, values)

    def _aggregate(self, node: Node, function: AggregateFunction, of: list[Node], context: Context) -> Expression:
        if context.aggregate_refusal:
            written = self._reading.source_text(node)
            return self._reading.report(node, context.aggregate_refusal, f"WITH ..., {written} AS x, then WHERE x ...")
        if has_token(node, "STAR"):
            if function is not AggregateFunction.COUNT:
                return self._reading.report(node, f"only count takes *, {function} takes a value")
            return Aggregate(function, None)
        takes_share = AGGREGATES[function].takes_share
        if len(of) != 1 + takes_share:
            example = f"{function}(n.value{', 0.5' if takes_share else ''})"
            return self._reading.report(
                node, f"{function} takes {'two values' if takes_share else 'one value'}", example
            )
        inner = replace(context, aggregate_refusal="an aggregate has no other one inside")
        value = self._expressions.read(of[0], inner)
        share = self._share(of[1], function, inner) if takes_share else None
        return Aggregate(function, value, has_token(node, "DISTINCT"), share)

    def _share(self, node: Node, function: AggregateFunction, context: Context) -> float:
        """The share of a percentile. Anything but a number from 0 to 1 is a problem."""
        match self._expressions.read(node, context):
            case Constant(int() | float() as share) if not isinstance(share, bool) and 0 <= share <= 1:
                return float(share)
            case _:
                reason = f"the second value of {function} is a number from 0 to 1"
                self._reading.report(node, reason, f"{function}(n.value, 0.5)")
                return 0.0

    def _during(self, node: Node, values: tuple[Expression, ...]) -> Expression:
        dates = tuple(date(value.value) if isinstance(value, Constant) else value for value in values[1:])
        match values[:1], dates:
            case (Variable(edge),), (str() | None as begin, str() | None as end):
                return During(edge, begin, end)
            case _:
                reason = "during takes an edge and two dates, null where the time is open"
                return self._reading.report(node, reason, "during(r, '1990', '1995')", "during(r, '1990', null)")
