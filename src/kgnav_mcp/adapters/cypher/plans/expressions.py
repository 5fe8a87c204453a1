"""Writes the expressions of plans in Cypher, each with its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext, is_below_surrogates
from kgnav_mcp.adapters.cypher.plans.kinds import (
    BOOLEAN,
    DATES,
    FRACTION,
    NOTHING,
    NULL,
    NUMBERS,
    PLAIN,
    SEVERAL,
    TEXT,
    WHOLE,
    Kind,
    Listed,
    OfEdge,
    OfNode,
    OfPath,
    Single,
    Typed,
    common_kind,
    is_by_code_points,
    is_plain,
    member_type,
    unsupported,
)
from kgnav_mcp.adapters.cypher.session import quoted
from kgnav_mcp.plan import (
    NAME,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Compare,
    Comparison,
    ComparisonChain,
    Connective,
    Constant,
    CountOf,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import id_condition

_SIMPLE = {
    Function.LOWER: (TEXT, TEXT),
    Function.UPPER: (TEXT, TEXT),
    Function.TEXT: (TEXT | WHOLE | BOOLEAN, TEXT),
    Function.NUMBER: (NUMBERS, FRACTION),
    Function.TO_INTEGER: (WHOLE, WHOLE),
    Function.FLOOR: (NUMBERS, FRACTION),
    Function.CEILING: (NUMBERS, FRACTION),
}
"""Functions of one value: the types that they accept, and those that they return."""


def function_call(context: QueryContext, function: Function, arguments: Sequence[Typed]) -> Typed:  # noqa: C901, PLR0911, PLR0912 - one each
    """A function call.

    Raises:
        Unsupported: Cypher's function gives another result for such values.
    """
    if function is Function.COALESCE:
        kind = common_kind(each.kind for each in arguments)
        return Typed(f"coalesce({', '.join(each.text for each in arguments)})", kind)
    of, *others = arguments
    if others:
        raise unsupported(f"{function} with several arguments")
    if of.kind == NULL:
        return Typed("null", NULL)
    match function, of.kind:
        case Function.ID, OfNode():
            return context.printed_id(of.text)
        case Function.LABELS, OfNode():
            label = Typed(context.new_variable(), context.kind_of_names(context.catalogue.labels))
            labels, key = context.fill("{labels({value})}", value=of.text), context.sort_key(label)
            sorted_labels = context.builder.collected(queries.SORTED, list=labels, member=label.text, key=key)
            return Typed(f"CASE WHEN {of.text} IS NOT NULL THEN {sorted_labels} END", Listed(label.kind))
        case Function.TYPE, OfEdge():
            kind = context.kind_of_names(context.catalogue.types)
            return Typed(context.fill("{relationship_type({value})}", value=of.text), kind)
        case ((Function.START | Function.END), OfEdge()):
            return Typed(f"{function}({of.text})", OfNode())
        case Function.LENGTH, OfPath():
            return Typed(f"length({of.text})", Single(WHOLE))
        case Function.NODES, OfPath():
            return Typed(f"nodes({of.text})", Listed(OfNode()))
        case Function.EDGES, OfPath(types):
            return Typed(f"relationships({of.text})", Listed(OfEdge(types)))
        case Function.SIZE, Listed():
            return Typed(f"size({of.text})", Single(WHOLE))
        case ((Function.HEAD | Function.LAST), Listed(member)):
            return Typed(f"{function}({of.text})", member)
        case Function.YEAR, Single(types) if types == DATES:
            return Typed(f"date({of.text}).year", Single(WHOLE))
        case Function.ABS, Single(types) if types <= NUMBERS:
            return Typed(context.fill(queries.ABSOLUTE, value=of.text) if types & WHOLE else f"abs({of.text})", of.kind)
        case Function.ROUND, Single(types) if types <= NUMBERS:
            rounded = context.fill(queries.ROUNDED, value=of.text) if types & FRACTION else f"round({of.text})"
            return Typed(rounded, Single(FRACTION))
        case _, Single(types) if function in _SIMPLE and types <= _SIMPLE[function][0]:
            return Typed(f"{function}({of.text})", Single(_SIMPLE[function][1]))
        case _:
            raise unsupported(f"{function} of a value of this type")


def arithmetic_expression(context: QueryContext, left: Typed, operator: ArithmeticOperator, right: Typed) -> Typed:
    """An arithmetic expression.

    Raises:
        Unsupported: Cypher would fail, or print a number differently.
    """
    if NULL in {left.kind, right.kind}:
        return Typed("null", NULL)
    text = f"({left.text} {operator} {right.text})"
    one, other = _types(left.kind), _types(right.kind)
    if operator is ArithmeticOperator.ADD and (
        (one <= TEXT and other <= TEXT | WHOLE) or (other <= TEXT and one <= TEXT | WHOLE)
    ):
        return Typed(text, Single(TEXT))
    if not one <= NUMBERS or not other <= NUMBERS or operator is ArithmeticOperator.POWER:
        raise unsupported("arithmetic with values that may not be numbers")
    if operator in {ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER} and not FRACTION & {*one, *other}:
        template = queries.QUOTIENT if operator is ArithmeticOperator.DIVIDE else queries.REMAINDER
        text = context.fill(template, left=left.text, right=right.text)
    elif operator in {ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER} and not (
        one <= FRACTION or other <= FRACTION
    ):
        raise unsupported("a quotient of numbers that may or may not be integers")
    return Typed(text, Single(FRACTION if one <= FRACTION or other <= FRACTION else one | other))


def _types(kind: Kind) -> frozenset[str]:
    if not isinstance(kind, Single):
        raise unsupported("arithmetic with nodes, edges or lists")
    return kind.types


Scope = Mapping[str, Typed]
"""The variables of a plan that are in scope, each with its expression in the query."""
_EQUAL = frozenset((Comparison.EQUAL, Comparison.UNEQUAL))
_TRUTH = Single(BOOLEAN)
_DATE_TEXT = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a property: a single value or, with `many`, a list.

    If the property has only one key, `stored` is its value in the store, a list or a single value.
    """

    text: str
    types: frozenset[str]
    many: bool = False
    stored: str | None = None


class Expressions:
    """Writes the expressions of one query. The callback `pattern` writes a pattern inside `exists` or `count`."""

    def __init__(self, context: QueryContext, pattern: Callable[[Match, Scope, str], str]) -> None:
        self._context = context
        self._pattern = pattern

    def value(self, expression: Expression, scope: Scope) -> Typed:  # noqa: C901, PLR0911, PLR0912 - one case a word
        """An expression of a plan in Cypher, in brackets if it has an operator.

        Raises:
            Unsupported: Cypher cannot express it, or only with another meaning.
        """
        match expression:
            case Constant(value):
                return self._context.constant(value)
            case Variable(name):
                return variable(name, scope)
            case Property():
                return self._property(expression, scope)
            case Compare():
                return Typed(self._compared(expression, scope), _TRUTH)
            case ComparisonChain(values, comparisons):
                return Typed(self._chained(values, comparisons, scope), _TRUTH)
            case Case():
                return self._case(expression, scope)
            case Joined(connective, parts):
                word = {Connective.AND: " AND ", Connective.OR: " OR ", Connective.XOR: " XOR "}[connective]
                return Typed(f"({word.join(self.condition(part, scope) for part in parts)})", _TRUTH)
            case Not(condition):
                return Typed(f"(NOT {self.condition(condition, scope)})", _TRUTH)
            case IsNull(value):
                return Typed(f"({self._is_null(value, scope)})", _TRUTH)
            case HasLabel(name, labels):
                return self._has_label(variable(name, scope), labels)
            case Arithmetic(left, operator, right):
                return arithmetic_expression(self._context, self.value(left, scope), operator, self.value(right, scope))
            case ListOf(items):
                return self._list(items, scope)
            case Call(function, arguments):
                return function_call(self._context, function, [self.value(argument, scope) for argument in arguments])
            case Exists(match):
                return Typed(self._pattern(match, scope, "exists"), _TRUTH)
            case CountOf(match):
                return Typed(self._pattern(match, scope, "count"), Single(WHOLE))
            case _:
                raise unsupported("start and end dates of edges, and aggregates outside of a projection")

    def _list(self, items: Sequence[Expression], scope: Scope) -> Typed:
        """A list, never as a plain list of parameters.

        Neo4j 5 merges `x IN [$a] AND x IN [$b]` into the parameters that both lists name, whatever their values are.
        """
        constants = [item.value for item in items if isinstance(item, Constant)]
        if len(constants) == len(items):
            return self._context.constants(constants)
        values = [self.value(item, scope) for item in items]
        text = f"coalesce([{', '.join(each.text for each in values)}])"
        return Typed(text, Listed(common_kind(each.kind for each in values)))

    def _case(self, expression: Case, scope: Scope) -> Typed:
        values = [self.value(value, scope) for _, value in expression.branches]
        otherwise = self.value(expression.otherwise, scope)
        branches = " ".join(
            f"WHEN {self.condition(condition, scope)} THEN {value.text}"
            for (condition, _), value in zip(expression.branches, values, strict=True)
        )
        kind = common_kind(each.kind for each in (*values, otherwise))
        return Typed(f"(CASE {branches} ELSE {otherwise.text} END)", kind)

    def condition(self, expression: Expression, scope: Scope) -> str:
        """A condition of a plan in Cypher.

        Raises:
            Unsupported: Cypher cannot express it, or its value may be something other than true, false or null.
        """
        value = self.value(expression, scope)
        if not isinstance(value.kind, Single) or not value.kind.types & BOOLEAN:
            return "null"
        if not value.kind.types <= BOOLEAN:
            raise unsupported("a condition whose value may be something other than true, false or null")
        return value.text

    def start_condition(self, expression: Expression, scope: Scope) -> str:
        """A condition on all rows of a MATCH. If it compares a node's id, it becomes a look-up by key."""
        ids = id_condition(expression)
        if ids is None:
            return self.condition(expression, scope)
        name, texts = ids
        node = variable(name, scope)
        if not isinstance(node.kind, OfNode):
            raise unsupported("the id of an edge")
        entities = self._context.entities
        lookups = entities.lookups(filter(entities.is_printed, texts))
        return f"({' OR '.join(self._context.identified(node.text, each) for each in lookups)})" if lookups else "false"

    def values(self, expression: Property, scope: Scope) -> Values:
        """The values of a property.

        Raises:
            Unsupported: Cypher compares values of such types differently from plans.
        """
        owner = variable(expression.owner, scope)
        if owner.kind == NULL:
            return Values("null", frozenset())
        if not isinstance(owner.kind, OfNode | OfEdge):
            raise unsupported("a property of a value that is neither node nor edge")
        of_node = isinstance(owner.kind, OfNode)
        if of_node and expression.name == NAME and not expression.ids:
            return Values(self._name(owner), TEXT)
        keys = self._context.keys(expression.ids or (expression.name,), of_node=of_node)
        types = {key: self._context.types(owner.kind, key) for key in keys}
        # Other labels may use the other keys, or nothing does: Neo4j lists the keys of deleted values, too.
        keys = list(filter(types.get, keys)) or keys[:1]
        texts = [f"{owner.text}.{quoted(key)}" for key in keys]
        all_types = frozenset[str]().union(*types.values())
        if len(keys) == 1 and all_types <= PLAIN:
            return Values(texts[0], all_types)
        if len(keys) == 1 and all_types == DATES:
            return Values(f"toString({texts[0]})", all_types)
        single = frozenset(member_type(name) for name in all_types) - {NOTHING}
        if not single <= PLAIN:
            raise unsupported("dates, points and other values of Neo4j's own types")
        if len(keys) > 1 and single != all_types:
            raise unsupported("a property with lists under several keys")
        stored = texts[0] if len(keys) == 1 else None
        return Values(self._context.fill(queries.VALUES, values=", ".join(texts)), single, many=True, stored=stored)

    def _name(self, node: Typed) -> str:
        """The expression for the name of a node, chosen as `entities.NodeDecoder` does."""
        context = self._context
        own, usual = context.entities.decoder.names()
        texts: list[str] = []
        for label, key in (*own, *((None, key) for key in usual)):
            if not context.types(OfNode(((label,),)) if label else OfNode(), key) <= TEXT:
                raise unsupported("names that are not texts")
            text = context.fill(queries.NO_TEXT, value=f"{node.text}.{quoted(key)}")
            texts.append(
                text
                if label is None
                else context.fill(queries.OF_LABEL, variable=node.text, label=quoted(label), value=text)
            )
        return f"coalesce({', '.join(texts)})" if texts else "null"

    def _property(self, expression: Property, scope: Scope) -> Typed:
        values = self.values(expression, scope)
        if not values.many:
            return Typed(values.text, Single(values.types, by_code_points=bool(values.types)))
        if values.stored is not None:
            text = self._context.fill(queries.STORED, values=values.text, stored=values.stored)
            return Typed(text, Single(values.types | {SEVERAL}))
        mixed = bool(values.types & NUMBERS) and not values.types <= NUMBERS
        order = self._context.fill(queries.NUMBERS_FIRST if mixed else queries.BY_VALUE)
        distinct = self._context.builder.collected(queries.DISTINCT_VALUES, values=values.text, order=order)
        text = self._context.fill(queries.VALUES_AS_ONE, found=distinct)
        return Typed(text, Single(values.types | {SEVERAL}))

    def _is_null(self, value: Expression, scope: Scope) -> str:
        if isinstance(value, Property) and (values := self.values(value, scope)).many:
            return f"size({values.text}) = 0"
        return f"{self.value(value, scope).text} IS NULL"

    def _has_label(self, owner: Typed, names: Sequence[str]) -> Typed:
        """Whether a node has one of these labels, in a form from which Neo4j does not choose a scan.

        Neo4j 5.26 loses matches of `(n:A|B|C) WHERE NOT n:B`: 444 of 630 paths of two edges on a graph of 150 nodes.
        """
        match owner.kind:
            case OfNode():
                known = self._context.catalogue.labels
            case OfEdge():
                known = self._context.catalogue.types
            case _:
                raise unsupported("the label of a value that is neither node nor edge")
        self._context.labels(names, known)
        tests = " OR ".join(f"{owner.text}:{quoted(name)}" for name in names)
        return Typed(f"(({tests}) = true)" if names else "false", _TRUTH)

    def _compared(self, expression: Compare, scope: Scope) -> str:
        left, comparison, right = expression.left, expression.comparison, expression.right
        if comparison is Comparison.IN:
            sides = self._side(left, scope), self._side(right, scope)
            return self._membership_test(*sides, of_property=isinstance(right, Property))
        return self._chained((left, right), (comparison,), scope)

    def _chained(self, operands: Sequence[Expression], comparisons: Sequence[Comparison], scope: Scope) -> str:
        """Comparisons of adjacent operands, all true for one choice of the values of properties with several."""
        sides = [self._side(operand, scope) for operand in operands]
        if any(isinstance(one, Values) and isinstance(other, Values) for one, other in pairwise(sides)):
            raise unsupported("two properties with several values, which are compared as lists")
        if comparisons == (Comparison.UNEQUAL,) and any(isinstance(side, Values) for side in sides):
            return f"(NOT {self._chosen(sides, (), (Comparison.EQUAL,))})"
        return self._chosen(sides, (), comparisons)

    def _chosen(
        self, sides: Sequence[Typed | Values], chosen: tuple[Typed, ...], comparisons: Sequence[Comparison]
    ) -> str:
        """The comparisons of the values `chosen` and any choice of values of the remaining sides."""
        if sides:
            return self._any(sides[0], lambda one: self._chosen(sides[1:], (*chosen, one), comparisons))
        links = [_comparison(self._context, *link) for link in zip(chosen, comparisons, chosen[1:], strict=False)]
        return links[0] if len(links) == 1 else f"({' AND '.join(links)})"

    def _side(self, expression: Expression, scope: Scope) -> Typed | Values:
        """A value, or the values of a property with several; also those that a function makes of them."""
        match expression:
            case Property() if (values := self.values(expression, scope)).many:
                return values
            case Call(function, (argument,)) if isinstance(values := self._side_of_call(argument, scope), Values):
                member = self._context.new_variable()
                value = function_call(self._context, function, [Typed(member, Single(values.types))])
                if not isinstance(value.kind, Single):
                    raise unsupported(f"{function} of several values")
                text = self._context.fill(queries.EACH, list=values.text, member=member, value=value.text)
                return Values(text, value.kind.types, many=True)
            case _:
                return self.value(expression, scope)

    def _side_of_call(self, argument: Expression, scope: Scope) -> Typed | Values | None:
        """The argument of a function if it may have several values; None if it is no property."""
        return self._side(argument, scope) if isinstance(argument, Property | Call) else None

    def _membership_test(self, left: Typed | Values, right: Typed | Values, *, of_property: bool) -> str:
        context = self._context

        def tested(one: Typed) -> str:
            if isinstance(right, Values):
                _check_comparable(one.kind, Single(right.types))
                return context.fill(queries.VALUE_IN, values=right.text, value=one.text)
            if of_property:
                return _comparison(context, one, Comparison.EQUAL, right)
            if not isinstance(right.kind, Listed):
                raise unsupported("a member of a value that is not a list")
            _check_comparable(one.kind, right.kind.of)
            return f"({one.text} IN {right.text})"

        return self._any(left, tested, nothing=tested(Typed("null", NULL)))

    def _any(self, side: Typed | Values, test: Callable[[Typed], str], nothing: str = "null") -> str:
        """A test of a single value; or of a list of values, true if it holds for any, `nothing` for an empty list."""
        if isinstance(side, Typed):
            return test(side)
        member = self._context.new_variable()
        condition = test(Typed(member, Single(side.types)))
        return self._context.fill(
            queries.SOME_VALUE, values=side.text, member=member, condition=condition, nothing=nothing
        )


def variable(name: str, scope: Scope) -> Typed:
    """The expression of a variable.

    Raises:
        Unsupported: the variable is no longer in scope.
    """
    if name not in scope:
        raise unsupported("a variable that is no longer in scope")
    return scope[name]


def _is_date_comparison(date: Typed, stated: Typed) -> bool:
    """Whether a date is compared with a constant date (of a four-digit year), that is with the constant's precision."""
    is_date = isinstance(date.kind, Single) and date.kind.types == DATES
    return is_date and isinstance(stated.constant, str) and _DATE_TEXT.fullmatch(stated.constant) is not None


def _check_comparable(left: Kind, right: Kind) -> None:
    """Check that Cypher compares values of these kinds as plans do.

    Raises:
        Unsupported: it does not.
    """
    alike = isinstance(left, type(right)) and isinstance(left, OfNode | OfEdge)
    if not (alike or (is_plain(left) and is_plain(right)) or NULL in {left, right}):
        raise unsupported("a comparison of values of these kinds")


def _are_by_code_points(left: Typed, right: Typed) -> bool:
    """Whether Neo4j compares two values as plans do, should both be texts."""
    constants = [one.constant for one in (left, right) if isinstance(one.constant, str)]
    return any(map(is_below_surrogates, constants)) or (is_by_code_points(left.kind) and is_by_code_points(right.kind))


def _comparison(context: QueryContext, left: Typed, comparison: Comparison, right: Typed) -> str:
    if comparison is Comparison.MATCHES:
        raise unsupported("regular expressions, whose syntax differs between stores")
    if _is_date_comparison(left, right):
        return f"(left({left.text}, {len(str(right.constant))}) {comparison} {right.text})"
    if _is_date_comparison(right, left):
        return f"({left.text} {comparison} left({right.text}, {len(str(left.constant))}))"
    if isinstance(left.kind, Listed) and isinstance(right.kind, Listed) and comparison in _EQUAL:
        _check_comparable(left.kind.of, right.kind.of)
    else:
        _check_comparable(left.kind, right.kind)
    if comparison not in _EQUAL and not (is_plain(left.kind) and is_plain(right.kind)):
        raise unsupported("an order of nodes, edges or lists")
    if comparison not in _EQUAL and not _are_by_code_points(left, right):
        return f"({context.text_key(left.text)} {comparison} {context.text_key(right.text)})"
    return f"({left.text} {comparison} {right.text})"
