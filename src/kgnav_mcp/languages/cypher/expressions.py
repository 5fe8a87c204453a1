"""Converts the syntax trees of values, conditions and function calls to expressions of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import isfinite
from typing import Final

from lark import Token, Tree

from kgnav_mcp.languages.cypher.reader import (
    MAX_PROBLEMS,
    UNREADABLE,
    Context,
    Reading,
    Scope,
    has_token,
    name_of,
    nearest,
    subtrees,
    text_value,
    tokens,
    unsupported_form,
)
from kgnav_mcp.languages.cypher.syntax import Node
from kgnav_mcp.languages.parameters import date
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
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
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Quantified,
    Quantifier,
    Reduction,
    Slice,
    Variable,
)
from kgnav_mcp.values.aggregates import AGGREGATE_NAMES, AGGREGATES
from kgnav_mcp.values.functions import FUNCTION_NAMES, FUNCTIONS

DATES: Final = frozenset({"date", "datetime", "localdatetime", "zoned_datetime", "local_datetime", "time", "localtime"})
"""Functions that make a date from a text. Dates are compared as text."""
DURING: Final = "during"
"""Condition that an edge was valid in a period: `during(r, "1990", "1995")`, null for an open end."""

REPLACEMENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(DATES, ("a date as text: '2020-01-31'",)),
    "degree": ("COUNT { (n)--() }",),
    "timestamp": ("a date as text: '2020-01-31'",),
    "duration": ("year(b) - year(a)",),
}
"""Replacements for functions that plans do not support."""


FUNCTION_LIST: Final = "docs/plans.md lists all under Functions"
"""Where a reader finds the functions if none has a similar name."""
_MAX_SIMILAR = 3
_MIN_SIMILARITY = 0.76
"""Similarity of suggested names: `tolwer` and `toLower` have 0.92, `foo` and `floor` 0.75, `soundex`, `round` 0.67."""


def similar_functions(name: str, functions: Iterable[str]) -> tuple[str, ...]:
    """The functions whose names are similar to a misspelt one."""
    names = {function.casefold(): function for function in functions}
    return tuple(
        names[function] for function in get_close_matches(name.casefold(), names, _MAX_SIMILAR, _MIN_SIMILARITY)
    )


def accepted_call(function: Function) -> str:
    """An example of a call that is accepted."""
    return FUNCTIONS[function].example or f"{function}(x)"


class Calls:
    """Converts the function calls of one text."""

    def __init__(self, reading: Reading, expressions: Expressions) -> None:
        self._reading = reading
        self._expressions = expressions

    def read(self, node: Node, context: Context) -> Expression:
        """The expression of a function call or an aggregate."""
        named, *arguments = subtrees(node)
        name = name_of(named)
        lower_name = name.lower()
        if lower_name in AGGREGATE_NAMES:
            return self._aggregate(node, AGGREGATE_NAMES[lower_name], arguments, context)
        if has_token(node, "STAR") or has_token(node, "DISTINCT"):
            return self._reading.report(
                node, f"{name} is not an aggregate", *(aggregate.value for aggregate in AGGREGATES)
            )
        if len(arguments) == 1 and arguments[0].data == "pattern_predicate" and lower_name in {"exists", "size"}:
            read_pattern = self._expressions.exists if lower_name == "exists" else self._expressions.count_of
            return read_pattern(arguments[0], context)
        values = tuple([self._expressions.read(argument, context) for argument in arguments])
        return self._special_form(node, lower_name, values) or self._function(node, name, values)

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
            names = dict.fromkeys(entry.value for entry in (*FUNCTIONS, *AGGREGATES))
            instead = REPLACEMENTS.get(name.lower()) or similar_functions(name, names)
            reason = f"unknown function {name}"
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
                return self._reading.report(node, f"{function} needs a value; only count takes *")
            return Aggregate(function, None)
        takes_share = AGGREGATES[function].takes_share
        if len(of) != 1 + takes_share:
            example = f"{function}(n.value{', 0.5' if takes_share else ''})"
            return self._reading.report(
                node, f"{function} takes {'two values' if takes_share else 'one value'}", example
            )
        inner = replace(context, aggregate_refusal="an aggregate cannot contain another one")
        value = self._expressions.read(of[0], inner)
        share = self._share(of[1], function, inner) if takes_share else None
        return Aggregate(function, value, has_token(node, "DISTINCT"), share)

    def _share(self, node: Node, function: AggregateFunction, context: Context) -> float:
        """The share of a percentile. Anything but a number from 0 to 1 is a problem."""
        match self._expressions.read(node, context):
            case Constant(int() | float() as share) if not isinstance(share, bool) and 0 <= share <= 1:
                return float(share)
            case _:
                reason = f"the second argument of {function} must be a number from 0 to 1"
                self._reading.report(node, reason, f"{function}(n.value, 0.5)")
                return 0.0

    def _during(self, node: Node, values: tuple[Expression, ...]) -> Expression:
        dates = tuple(date(value.value) if isinstance(value, Constant) else value for value in values[1:])
        match values[:1], dates:
            case (Variable(edge),), (str() | None as begin, str() | None as end):
                return During(edge, begin, end)
            case _:
                reason = "during takes an edge and two dates; null means an open end"
                return self._reading.report(node, reason, "during(r, '1990', '1995')", "during(r, '1990', null)")


LARGEST: Final = 2**63 - 1
SMALLEST: Final = -(2**63)
"""The largest and the smallest whole number: 64 bits."""

_COMPARISONS: Final = {"in": Comparison.IN, "contains": Comparison.CONTAINS, "matches": Comparison.MATCHES} | {
    "starts_with": Comparison.STARTS_WITH,
    "ends_with": Comparison.ENDS_WITH,
}
_BOUNDS: Final = frozenset({Comparison.LESS, Comparison.AT_MOST, Comparison.GREATER, Comparison.AT_LEAST})
"""The comparisons of a chain that is a range."""
_NO_AGGREGATE: Final = "an expression about members of a list cannot contain an aggregate"
_QUANTIFIERS: Final = frozenset(Quantifier)
_PARTS_OF_DATES: Final = frozenset({"year", "month", "day"})
Subquery = Callable[[Node, Scope], Match | None]
"""Converts the pattern of EXISTS { }, COUNT { } or a condition; None if it is not supported."""


class Expressions:
    """Converts the expressions of one text."""

    def __init__(self, reading: Reading, subquery: Subquery) -> None:
        self._reading = reading
        self._subquery = subquery
        self._calls = Calls(reading, self)
        self._readers: dict[str, Callable[[Node, Context], Expression]] = {
            "literal": self._literal,
            "variable": self._variable,
            "property": self._property,
            "index": self._index,
            "slice": self._slice,
            "case": self._case,
            "comprehension": self._comprehension,
            "quantified": self._quantified,
            "reduction": self._reduction,
            "parameter": self._parameter,
            "has_label": self._has_label,
            "comparison": self._comparison,
            "is_null": self._is_null,
            "arithmetic": self._arithmetic,
            "minus": self._minus,
            "plus": self._inner,
            "list": self._list,
            "not": self._not,
            "and": self._joined,
            "or": self._joined,
            "xor": self._joined,
            "call": self._calls.read,
            "pattern_predicate": self.exists,
            "exists": self.exists,
            "count_of": self.count_of,
        } | dict.fromkeys(_COMPARISONS, self._predicate)

    def read(self, node: Node, context: Context) -> Expression:
        """The expression of a tree."""
        reader = self._readers.get(node.data)
        if reader is None:
            return self._reading.report(node, *unsupported_form(self._reading, node))
        return reader(node, context)

    def _all(self, node: Node, context: Context) -> tuple[Expression, ...]:
        return tuple([self.read(part, context) for part in subtrees(node)])

    def _inner(self, node: Node, context: Context) -> Expression:
        return self.read(next(subtrees(node)), context)

    def _list(self, node: Node, context: Context) -> Expression:
        """A list. `[x IN list]` is a list comprehension, but `[(x IN list)]` has a condition as its member."""
        items = list(subtrees(node))
        if len(items) == 1 and self._member(items[0]) and self._reading.source_text(node)[1:].lstrip()[:1] != "(":
            return self._comprehension(node, context)
        return ListOf(self._all(node, context))

    def _not(self, node: Node, context: Context) -> Expression:
        return Not(self._inner(node, context))

    def _joined(self, node: Node, context: Context) -> Expression:
        return Joined(Connective(node.data.upper()), self._all(node, context))

    def _literal(self, node: Node, _context: Context) -> Expression:
        token = next(tokens(node))
        match token.type:
            case "STRING":
                return Constant(text_value(token))
            case "INTEGER":
                return self.whole_number(token, node)
            case "FLOAT":
                number = float(token)
                return (
                    Constant(number) if isfinite(number) else self._reading.report(node, "the number exceeds 64 bits")
                )
            case kind:
                return Constant({"TRUE": True, "FALSE": False}.get(kind))

    def whole_number(self, token: Token, node: Node, *, sign: int = 1) -> Expression:
        """A decimal, octal or hexadecimal number. A number over 64 bits is a problem."""
        base = {"0x": 16, "0o": 8}.get(token[:2], 10)
        if len(token) > 24 or not SMALLEST <= (number := sign * int(token, base)) <= LARGEST:
            return self._reading.report(node, "the number exceeds 64 bits")
        return Constant(number)

    def _variable(self, node: Node, context: Context) -> Expression:
        named = next(subtrees(node))
        return Variable(self.known_variable(named, context.scope, f"'{name_of(named)}' in quotes for a text"))

    def known_variable(self, node: Node, scope: Scope, *or_else: str) -> str:
        """The name of a variable. An unknown variable is a problem."""
        name = name_of(node)
        unknown = self._reading.unknown
        if name not in scope and name not in unknown and len(unknown) < MAX_PROBLEMS:
            unknown.add(name)
            self._reading.report(node, f"unknown variable {name}", *nearest(name, scope), *or_else)
        return self._reading.renamed.get(name, name)

    def _property(self, node: Node, context: Context) -> Expression:
        owner, names = _owner_of(node)
        if owner.data != "variable":
            owner_text = self._reading.source_text(owner)
            self.read(owner, context)
            return self._reading.report(
                node,
                f"{owner_text} is not a variable, so it has no property {names[0]}",
                *_naming_suggestions(owner_text, ".".join(names)),
            )
        variable = self.known_variable(next(subtrees(owner)), context.scope)
        if len(names) > 1 and names[-1] in _PARTS_OF_DATES:
            date_property = f"{variable}.{'.'.join(names[:-1])}"
            reason = f".{names[-1]} of a date is not supported"
            return self._reading.report(node, reason, f"year({date_property})", f"{date_property} >= '2000'")
        return Property(variable, ".".join(names))

    def _index(self, node: Node, context: Context) -> Expression:
        of, index = subtrees(node)
        position = self.read(index, context)
        if isinstance(position, Constant):
            if isinstance(position.value, str) and of.data == "variable":
                return Property(self.known_variable(next(subtrees(of)), context.scope), position.value)
            if position.value in (0, -1) and not isinstance(position.value, bool | float):
                return Call(Function.LAST if position.value else Function.HEAD, (self.read(of, context),))
        return Element(self.read(of, context), position)

    def _slice(self, node: Node, context: Context) -> Expression:
        of, *bounds = subtrees(node)
        # `index` would compare trees, and so confuse the bounds of [1..1].
        has_first = isinstance(node.children[1], Tree)
        first = self.read(bounds.pop(0), context) if has_first else None
        end = self.read(bounds[0], context) if bounds else None
        return Slice(self.read(of, context), first, end)

    def _case(self, node: Node, context: Context) -> Expression:
        """`CASE WHEN condition THEN value ... END`, or `CASE value WHEN other THEN ...`, which compares with `=`."""
        parts = [self.read(part, context) for part in subtrees(node)]
        otherwise = parts.pop() if has_token(node, "ELSE") else Constant(None)
        compared = parts.pop(0) if len(parts) % 2 else None
        conditions = parts[::2]
        if compared is not None:
            conditions = [Compare(compared, Comparison.EQUAL, condition) for condition in conditions]
        return Case(tuple(zip(conditions, parts[1::2], strict=True)), otherwise)

    def _member(self, source: Node) -> tuple[str, Node] | None:
        """The variable and the list of `x IN list`; None for anything else."""
        parts = list(subtrees(source))
        if source.data != "in" or has_token(source, "NOT") or parts[0].data != "variable":
            return None
        return name_of(next(subtrees(parts[0]))), parts[1]

    def _inner_of(self, node: Node, context: Context, names: Mapping[str, str]) -> Expression:
        """An expression in which these names stand for members of a list."""
        scope = {**context.scope, **dict.fromkeys(names, "value")}
        with self._reading.naming(names):
            return self.read(node, replace(context, scope=scope, aggregate_refusal=_NO_AGGREGATE))

    def _comprehension(self, node: Node, context: Context) -> Expression:
        source, *rest = subtrees(node)
        member = self._member(source)
        if member is None:
            return self._reading.report(node, *unsupported_form(self._reading, node))
        name, values = member
        variable = self._reading.member_name(name, context.scope)
        where = self._inner_of(rest.pop(0), context, {name: variable}) if has_token(node, "WHERE") else None
        value = self._inner_of(rest[0], context, {name: variable}) if rest else None
        return Comprehension(variable, self.read(values, context), where, value)

    def _quantified(self, node: Node, context: Context) -> Expression:
        named, source, condition = subtrees(node)
        member, word = self._member(source), name_of(named).lower()
        if member is None or word not in _QUANTIFIERS:
            return self._reading.report(node, *unsupported_form(self._reading, node))
        name, values = member
        variable = self._reading.member_name(name, context.scope)
        where = self._inner_of(condition, context, {name: variable})
        return Quantified(Quantifier(word), variable, self.read(values, context), where)

    def _reduction(self, node: Node, context: Context) -> Expression:
        named, start, source, value = subtrees(node)
        begun, member = _assigned(start), self._member(source)
        if name_of(named).lower() != "reduce" or begun is None or member is None:
            return self._reading.report(node, *unsupported_form(self._reading, node))
        (result, initial), (name, values) = begun, member
        own_result = self._reading.member_name(result, context.scope)
        variable = self._reading.member_name(name, {**context.scope, own_result: ""})
        inner = self._inner_of(value, context, {result: own_result, name: variable})
        return Reduction(own_result, self.read(initial, context), variable, self.read(values, context), inner)

    def _parameter(self, node: Node, _context: Context) -> Expression:
        """The value that is given for `$name`."""
        return self._reading.parameter(node)

    def _has_label(self, node: Node, context: Context) -> Expression:
        of, labels = subtrees(node)
        owner, names = _owner_of(of)
        if owner.data != "variable":
            return self._reading.report(node, f"{self._reading.source_text(of)} is not a variable, so it has no label")
        variable = self.known_variable(next(subtrees(owner)), context.scope)
        if not names:
            return self.label_condition(variable, labels)
        if labels.data != "label":
            return self._reading.report(node, f"{self._reading.source_text(of)} is not a variable, so it has no label")
        return Property(variable, f"{'.'.join(names)}:{name_of(labels)}")  # an id with its prefix: n.wdt:P577

    def label_condition(self, variable: str, labels: Node) -> Expression:
        """A label expression as a condition."""
        parts = list(subtrees(labels))
        match labels.data:
            case "label":
                return HasLabel(variable, (name_of(labels),))
            case "any_of" if all(part.data == "label" for part in parts):
                return HasLabel(variable, tuple([name_of(part) for part in parts]))
            case "any_of" | "all_of":
                connective = Connective.OR if labels.data == "any_of" else Connective.AND
                return Joined(connective, tuple([self.label_condition(variable, part) for part in parts]))
            case "not_label":
                return Not(self.label_condition(variable, parts[0]))
            case _:
                return self._reading.report(labels, "% for any label is not supported", f"size(labels({variable})) > 0")

    def _comparison(self, node: Node, context: Context) -> Expression:
        parts = list(subtrees(node))
        values = [self.read(part, context) for part in parts[::2]]
        signs = [str(part.children[0]).replace("!=", "<>") for part in parts[1::2]]
        chain = ComparisonChain(tuple(values), tuple(map(Comparison, signs)))
        if len(signs) == 1:
            return chain.links[0]
        return chain if _BOUNDS.issuperset(signs) else Joined(Connective.AND, chain.links)

    def _predicate(self, node: Node, context: Context) -> Expression:
        left, right = self._all(node, context)
        condition = Compare(left, _COMPARISONS[node.data], right)
        return Not(condition) if has_token(node, "NOT") else condition

    def _is_null(self, node: Node, context: Context) -> Expression:
        condition = IsNull(self._inner(node, context))
        return Not(condition) if has_token(node, "NOT") else condition

    def _arithmetic(self, node: Node, context: Context) -> Expression:
        left, right = self._all(node, context)
        sign = next(tokens(node, "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "CIRCUMFLEX", "JOIN"))
        return Arithmetic(left, ArithmeticOperator(sign.replace("||", "+")), right)

    def _minus(self, node: Node, context: Context) -> Expression:
        of = next(subtrees(node))
        if of.data == "literal" and (number := next(tokens(of))).type == "INTEGER":
            return self.whole_number(number, of, sign=-1)
        value = self.read(of, context)
        if isinstance(value, Constant) and isinstance(value.value, float):
            return Constant(-value.value)
        return Arithmetic(Constant(0), ArithmeticOperator.SUBTRACT, value)

    def exists(self, node: Node, context: Context) -> Expression:
        """The condition that the pattern of a tree has a match."""
        match = self._pattern(node, context)
        return Exists(match) if match else UNREADABLE

    def count_of(self, node: Node, context: Context) -> Expression:
        """The number of matches of the pattern of a tree."""
        match = self._pattern(node, context)
        return CountOf(match) if match else UNREADABLE

    def _pattern(self, node: Node, context: Context) -> Match | None:
        """The pattern of a tree. A member of a list with the name of another variable is a problem in it."""
        written = {name_of(name_node) for name_node in node.find_data("name")}
        for name, variable in self._reading.renamed.items():
            if name != variable and name in written:
                self._reading.report(
                    node, f"{name} is already a variable of the plan: choose another name for the member", variable
                )
        return self._subquery(node, context.scope)


def _assigned(node: Node) -> tuple[str, Node] | None:
    """The name and the value of `name = value`; None for anything else."""
    match list(subtrees(node)):
        case [named, sign, value] if node.data == "comparison" and named.data == "variable":
            return (name_of(next(subtrees(named))), value) if sign.children[0] == "=" else None
        case _:
            return None


def _owner_of(node: Node) -> tuple[Node, list[str]]:
    """The owner of a property, and the parts of the property's name between dots."""
    names: list[str] = []
    while node.data == "property":
        node, name = subtrees(node)
        names.insert(0, name_of(name))
    return node, names


def _naming_suggestions(owner: str, name: str) -> tuple[str, ...]:
    """Suggestions for reading a property of an unnamed value: name a node in the pattern, or use WITH."""
    function, _, rest = owner.partition("(")
    edge = rest.rstrip(")").strip()
    if function.strip().lower() == "startnode":
        return (f"MATCH (s)-[{edge}]->(), then s.{name}",)
    if function.strip().lower() == "endnode":
        return (f"MATCH ()-[{edge}]->(e), then e.{name}",)
    return (f"WITH {owner} AS x, then x.{name}",)
