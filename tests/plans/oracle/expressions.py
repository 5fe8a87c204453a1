"""What an expression is, asked of a row."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product

from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    Arithmetic,
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
from tests.plans.graph import Edge, Graph, Node
from tests.plans.oracle.aggregates import aggregated
from tests.plans.oracle.functions import arithmetic, call, properties, several
from tests.plans.oracle.matching import Row, fits
from tests.plans.oracle.values import RefusedError, Several, Value, any_of, compared, member, moment

SIZED: ContextVar[dict[Expression, bool]] = ContextVar("SIZED")
"""Arguments of `size` in the plan that is answered: whether they were several values of a property."""


@dataclass(frozen=True)
class Asked:
    """A row, and, where it stands for many, these."""

    graph: Graph
    row: Row
    group: tuple[Row, ...] = ()
    in_order: bool = False
    """Whether the clause before sorted the group."""

    def value(self, expression: Expression) -> Value:  # noqa: C901, PLR0911, PLR0912 - one for each kind
        """What it is."""
        match expression:
            case Constant(value):
                return value
            case Variable(name):
                return self.row[name]
            case Property():
                return several(self._values(expression))
            case Compare():
                left, right = self.value(expression.left), self.value(expression.right)
                if expression.comparison is Comparison.IN:
                    return member(left, right)
                return compared(left, expression.comparison, right)
            case ComparisonChain():
                return self._chained(expression)
            case Joined(connective, parts):
                return _joined(connective, [_truth(self.value(part)) for part in parts])
            case Not(condition):
                truth = _truth(self.value(condition))
                return None if truth is None else not truth
            case IsNull(value):
                return self.value(value) is None
            case HasLabel(variable, labels):
                owner = self.row[variable]
                own = owner.labels if isinstance(owner, Node) else {owner.relation} if isinstance(owner, Edge) else None
                return None if own is None else any(label in own for label in labels)
            case Arithmetic(left, operator, right):
                return arithmetic(self.value(left), operator, self.value(right))
            case ListOf(items):
                return tuple(self.value(item) for item in items)
            case Call(function, arguments):
                return self._called(function, arguments)
            case During():
                return self._held(expression)
            case Exists(match):
                return bool(self._found(match))
            case CountOf(match):
                return len(self._found(match))
            case Aggregate(function, of, distinct, share):
                values = [1 if of is None else Asked(self.graph, row).value(of) for row in self.group]
                return aggregated(function, values, distinct=distinct, in_order=self.in_order, share=share)
            case Case(branches, otherwise):
                return self.value(next((value for test, value in branches if self.value(test) is True), otherwise))
            case Element() | Slice():
                return self._part(expression)
            case Comprehension() | Quantified() | Reduction():
                return self._over_members(expression)

    def _part(self, asked: Element | Slice) -> Value:
        of = self.value(asked.of)
        members = of if isinstance(of, tuple) else () if of is None else (of,)
        if isinstance(asked, Element):
            place = self.value(asked.index)
            if isinstance(place, bool) or not isinstance(place, int):
                return None
            place = place + len(members) if place < 0 else place
            return next((one for at, one in enumerate(members) if at == place), None)
        bounds = [0 if asked.first is None else self.value(asked.first)]
        bounds.append(len(members) if asked.end is None else self.value(asked.end))
        whole = [bound for bound in bounds if isinstance(bound, int) and not isinstance(bound, bool)]
        if of is None or len(whole) < len(bounds):
            return None
        first, end = (bound + len(members) if bound < 0 else bound for bound in whole)
        return tuple(one for place, one in enumerate(members) if first <= place < end)

    def _over_members(self, asked: Comprehension | Quantified | Reduction) -> Value:
        of = self.value(asked.of)
        if of is None:
            return None
        rows = [self.row | {asked.variable: one} for one in (of if isinstance(of, tuple) else (of,))]
        match asked:
            case Comprehension(variable, _, where, value):
                kept = [Asked(self.graph, row) for row in rows if Asked(self.graph, row).holds(where)]
                return tuple(each.row[variable] if value is None else each.value(value) for each in kept)
            case Quantified(quantifier, _, _, where):
                return _quantified(quantifier, [_truth(Asked(self.graph, row).value(where)) for row in rows])
            case Reduction(accumulator, initial, _, _, value):
                result = self.value(initial)
                for row in rows:
                    result = Asked(self.graph, row | {accumulator: result}).value(value)
                return result

    def holds(self, condition: Expression | None) -> bool:
        """Whether a condition is true; none is."""
        return condition is None or self.value(condition) is True

    def _found(self, match: Match) -> list[Row]:
        return [row for row in fits(self.graph, match, self.row) if Asked(self.graph, row).holds(match.where)]

    def _values(self, asked: Property) -> list[Value]:
        owner = self.row[asked.owner]
        if isinstance(owner, Node) and asked.name == NAME and not asked.ids:
            return [] if owner.name is None else [owner.name]
        return properties(owner, asked.ids)

    def _chained(self, chain: ComparisonChain) -> bool | None:
        """Whether it holds for one choice of the values of properties."""
        values = [self.value(each) for each in chain.values]
        choices: list[tuple[Value, ...]] = []
        for place, value in enumerate(values):
            beside = [values[near] for near in (place - 1, place + 1) if 0 <= near < len(values)]
            alone = isinstance(value, Several) and not any(isinstance(each, tuple) for each in beside)
            choices.append(value if alone and isinstance(value, Several) else (value,))
        return any_of(
            [
                _joined(
                    Connective.AND,
                    [compared(*link) for link in zip(chosen, chain.comparisons, chosen[1:], strict=False)],
                )
                for chosen in product(*choices)
            ]
        )

    def _called(self, function: Function, arguments: tuple[Expression, ...]) -> Value:
        values: list[Value] = [self.value(argument) for argument in arguments]
        if function is Function.SIZE and values[0] is not None:
            is_list = isinstance(values[0], Several)
            if SIZED.get().setdefault(arguments[0], is_list) is not is_list:
                raise RefusedError
        return call(self.graph, function, values)

    def _held(self, asked: During) -> bool | None:
        edge = self.row[asked.edge]
        if not isinstance(edge, Edge):
            return None
        since, till = _moments(properties(edge, asked.from_ids)), _moments(properties(edge, asked.to_ids))
        begin, end = _moments([asked.begin]), _moments([asked.end])
        return _not_after(since, end) and _not_after(begin, till)


def _quantified(quantifier: Quantifier, found: list[bool | None]) -> bool | None:
    true, false, unknown = (found.count(each) for each in (True, False, None))
    match quantifier:
        case Quantifier.ALL:
            return False if false else None if unknown else True
        case Quantifier.ANY:
            return True if true else None if unknown else False
        case Quantifier.NONE:
            return False if true else None if unknown else True
        case Quantifier.SINGLE:
            return False if true > 1 else None if unknown else true == 1


def _moments(values: list[Value]) -> list[tuple[float, ...]]:
    texts = [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    return [found for text in texts if (found := moment(text)) is not None]


def _not_after(begins: list[tuple[float, ...]], ends: list[tuple[float, ...]]) -> bool:
    """Whether one of the first is not after one of the others, by the precision of both; where none is told, it is."""
    if not begins or not ends:
        return True
    return any(
        begin[: min(len(begin), len(end))] <= end[: min(len(begin), len(end))] for begin in begins for end in ends
    )


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


def _joined(connective: Connective, parts: list[bool | None]) -> bool | None:
    if connective is Connective.XOR:
        return None if None in parts else sum(part is True for part in parts) % 2 == 1
    decisive = connective is Connective.OR
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive
