"""Values and conditions over the variables of a plan, as SQL.

A condition is two expressions: where it is true, and where it is false. SQL's own three values would not do: the two
say of a property with several values what the algebra says, and need no third.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kgnav_mcp.adapters.embedded.plans.comparing import NEVER, Truth, compared, constant, encoded, opposite, single
from kgnav_mcp.adapters.embedded.plans.functions import empty_list
from kgnav_mcp.adapters.embedded.plans.properties import Properties, Values, rows_of
from kgnav_mcp.adapters.embedded.plans.statement import NULL, Kind, Scope, Statement, Term, refused
from kgnav_mcp.adapters.embedded.plans.words import Words
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import (
    Aggregate,
    Call,
    Compare,
    Comparison,
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

_MOST_ITEMS = 20
"""Members of a list of values of several kinds; of ids, texts or whole numbers there may be any number."""


class Fits(Protocol):
    """The queries that give a row for each way in which a pattern fits around variables."""

    def __call__(self, match: Match, scope: Scope) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Asking:
    """Writes expressions of the variables of one scope."""

    statement: Statement
    words: Words
    scope: Scope
    fits: Fits
    aggregated: Callable[[Aggregate], Term] | None = None
    """Writes the aggregates of a projection."""

    def holds(self, expression: Expression) -> str:
        """Where a condition is true."""
        return self.truth(expression)[0]

    def truth(self, expression: Expression) -> Truth:  # noqa: PLR0911 - one for each kind
        """Where a condition is true, and where it is false."""
        match expression:
            case Compare():
                return self._compared(expression)
            case Joined(connective, parts):
                return _joined(connective, [self.truth(part) for part in parts])
            case Not(condition):
                return opposite(self.truth(condition))
            case IsNull(value):
                return self._missing(value)
            case HasLabel(variable, labels):
                return self._has_label(self.variable(variable), labels)
            case Exists(match):
                found = " OR ".join(f"EXISTS ({query})" for query in self.fits(match, self.scope))
                return f"({found})", f"NOT ({found})"
            case _:
                term = self.value(expression)
                if term.kind is Kind.TRUTH:
                    return f"({term.one}) = 1", f"({term.one}) = 0"
                if term.kind is Kind.VALUE:
                    return f"({term.one}) = x'6231'", f"({term.one}) = x'6230'"
                return NEVER

    def value(self, expression: Expression) -> Term:  # noqa: PLR0911 - one for each kind
        """The value of an expression."""
        match expression:
            case Constant(value):
                return constant(self.statement, value)
            case Variable(name):
                return self.variable(name)
            case Property():
                return self._properties.first(self.variable(expression.owner), expression)
            case Call(function, arguments):
                return self._called(function, arguments)
            case CountOf(match):
                counts = [f"(SELECT count(*) FROM ({query}))" for query in self.fits(match, self.scope)]
                return Term(Kind.NUMBER, (" + ".join(counts),))
            case Aggregate() if self.aggregated is not None:
                return self.aggregated(expression)
            case Compare() | Joined() | Not() | IsNull() | HasLabel() | Exists():
                holds, fails = self.truth(expression)
                return Term(Kind.TRUTH, (f"CASE WHEN {holds} THEN 1 WHEN {fails} THEN 0 END",))
            case _:
                raise refused(type(expression).__name__)

    def variable(self, name: str) -> Term:
        """What a variable is."""
        return self.scope[name]

    @property
    def _properties(self) -> Properties:
        return Properties(self.statement, self.words)

    def _values(self, owned: Property, *, plain: bool) -> list[Values] | None:
        return self._properties.values(self.variable(owned.owner), owned, plain=plain)

    def _compared(self, expression: Compare) -> Truth:
        ids = self._of_ids(expression)
        if ids is not None:
            return ids
        comparison, right = expression.comparison, expression.right
        if comparison is Comparison.IN:
            return self._among(expression.left, right)
        # Beside anything but a text that is no date, what may be a date is looked at.
        plain = [not self._no_date(each) for each in (expression.right, expression.left)]
        sides = [
            self._values(each, plain=dates) if isinstance(each, Property) else None
            for each, dates in zip((expression.left, right), plain, strict=True)
        ]
        terms = [
            None if side is not None else self.value(each)
            for each, side in zip((expression.left, right), sides, strict=True)
        ]
        if any(plain) and any(term is not None and term.kind is Kind.VALUE and term.dated for term in terms):
            raise refused("a comparison of dates")
        tests: list[tuple[str, Truth]] = []
        for one in sides[0] if sides[0] is not None else [None]:
            for other in sides[1] if sides[1] is not None else [None]:
                left = one.term if one is not None else terms[0] or NULL
                far = other.term if other is not None else terms[1] or NULL
                rows = rows_of([each for each in (one, other) if each is not None])
                tests.append((rows, compared(left, comparison, far)))
        return _some(tests)

    def _no_date(self, expression: Expression) -> bool:
        """Whether it is certainly not written as a date."""
        return isinstance(expression, Constant) and not constant(Statement(), expression.value).dated

    def _of_ids(self, expression: Compare) -> Truth | None:
        """A comparison of a node's id with ids that the plan states; None: it is none."""
        match expression:
            case Compare(Call(Function.ID, (Variable(name),)), comparison, Constant(str() as value)):
                texts, wanted = [value], comparison
            case Compare(Constant(str() as value), comparison, Call(Function.ID, (Variable(name),))):
                texts, wanted = [value], comparison
            case Compare(Call(Function.ID, (Variable(name),)), Comparison.IN, ListOf(items)) if all(
                isinstance(item, Constant) and isinstance(item.value, str) for item in items
            ):
                texts = [str(item.value) for item in items if isinstance(item, Constant)]
                if not texts:
                    return "0", "1"
                wanted = Comparison.EQUAL
            case _:
                return None
        owner = self.variable(name)
        if owner.kind is not Kind.NODE or wanted not in {Comparison.EQUAL, Comparison.UNEQUAL}:
            return None
        numbers = self.words.nodes(texts)
        test = f"{owner.one} IN (SELECT value FROM json_each({self.statement.numbers(numbers)}))"
        truth = test, f"{owner.one} IS NOT NULL AND NOT ({test})"
        return truth if wanted is Comparison.EQUAL else opposite(truth)

    def _among(self, left: Expression, right: Expression) -> Truth:
        """Whether a value is a member of a list that the plan states."""
        if not isinstance(right, ListOf):
            raise refused("membership of a list that is not written out")
        if not right.items:
            return "0", "1"
        if not all(isinstance(item, Constant) and item.value is not None for item in right.items):
            raise refused("a list of anything but values")
        items = [item for item in right.items if isinstance(item, Constant)]
        plain = not all(map(self._no_date, items))
        sides = self._values(left, plain=plain) if isinstance(left, Property) else None
        ones = [("", self.value(left))] if sides is None else [(rows_of([side]), side.term) for side in sides]
        return _some([(rows, self._member(term, items)) for rows, term in ones])

    def _member(self, term: Term, items: list[Constant]) -> Truth:
        kinds = {type(item.value) for item in items}
        if term.kind in {Kind.VALUE, Kind.TEXT, Kind.NUMBER} and kinds in ({str}, {int}):
            kind = Kind.TEXT if kinds == {str} else Kind.NUMBER
            for item in items:
                compared(term, Comparison.EQUAL, constant(Statement(), item.value))  # refuses what may be a date
            if term.kind in {kind, Kind.VALUE}:
                values = self.statement.numbers(item.value for item in items)
                test = f"({single(term)}) IN (SELECT value FROM json_each({values}))"
                return test, f"NOT ({test})"
        if len(items) > _MOST_ITEMS:
            raise refused("so long a list of such values")
        return _joined(Connective.OR, [compared(term, Comparison.EQUAL, self.value(item)) for item in items])

    def _missing(self, value: Expression) -> Truth:
        if isinstance(value, Property):
            found = self._values(value, plain=False)
            if found is not None:
                some = " OR ".join(f"EXISTS (SELECT 1 FROM {rows_of([each])})" for each in found) or "0"
                return f"NOT ({some})", f"({some})"
        term = self.value(value)
        if term.kind is Kind.HIDDEN:
            raise refused("whether a path is missing")
        return f"({term.one}) IS NULL", f"({term.one}) IS NOT NULL"

    def _has_label(self, owner: Term, labels: tuple[str, ...]) -> Truth:
        if owner.kind is Kind.NODE:
            test = self.labelled(owner.one, labels)
            return test, f"{owner.one} IS NOT NULL AND NOT ({test})"
        if owner.kind is Kind.EDGE:
            test = f"kg_relation({owner.sql[1]}) IN (SELECT value FROM json_each({self.statement.numbers(labels)}))"
            return f"{owner.one} IS NOT NULL AND {test}", f"{owner.one} IS NOT NULL AND NOT ({test})"
        return NEVER

    def labelled(self, node: str, group: tuple[str, ...]) -> str:
        """Where a node has one of some labels."""
        numbers = [entry.id for entry in self.words.labels(group)]
        if not numbers:
            return "0"
        if len(numbers) == 1:
            return pieces.HAS_LABEL.format(node=node, label=numbers[0])
        return pieces.HAS_ONE_LABEL.format(node=node, labels=self.statement.numbers(numbers))

    def _called(self, function: Function, arguments: tuple[Expression, ...]) -> Term:  # noqa: PLR0911 - one for each word
        if function is Function.COALESCE:
            terms = [self.value(argument) for argument in arguments]
            if len(terms) < 2 or any(term.kind in {Kind.NODE, Kind.EDGE, Kind.HIDDEN} for term in terms):
                raise refused("coalesce of nodes or edges")
            sql = f"coalesce({', '.join(f'({encoded(term)})' for term in terms)})"
            return Term(Kind.VALUE, (sql,), dated=any(term.dated for term in terms))
        term = self.value(arguments[0])
        match term.kind, function:
            case Kind.NODE, Function.ID:
                return Term(Kind.TEXT, (self.key(term.one),), dated=True)
            case Kind.NODE, Function.LABELS:
                names = f"coalesce({pieces.LABELS.format(node=term.one)}, {empty_list()})"
                return Term(Kind.VALUE, (f"CASE WHEN {term.one} IS NOT NULL THEN {names} END",))
            case Kind.EDGE, Function.TYPE:
                return Term(Kind.TEXT, (f"kg_relation({term.sql[1]})",), dated=True)
            case Kind.EDGE, Function.START:
                return Term(Kind.NODE, (term.sql[0],))
            case Kind.EDGE, Function.END:
                return Term(Kind.NODE, (term.sql[2],))
            case Kind.TEXT | Kind.VALUE, Function.LOWER | Function.UPPER:
                return Term(
                    Kind.TEXT, (f"kg_{'lower' if function is Function.LOWER else 'upper'}({term.one})",), dated=True
                )
            case _:
                raise refused(f"the function {function}")

    def key(self, node: str) -> str:
        """The printed id of a node."""
        key = pieces.KEY.format(node=node)
        if not self.words.builder.prefixes.namespaces:
            return f"+{key}"
        return f"CASE WHEN {node} IS NOT NULL THEN kg_short({key}) END"


def _joined(connective: Connective, parts: list[Truth]) -> Truth:
    holds = [f"({part[0]})" for part in parts]
    fails = [f"({part[1]})" for part in parts]
    match connective:
        case Connective.AND:
            return " AND ".join(holds), " OR ".join(fails)
        case Connective.OR:
            return " OR ".join(holds), " AND ".join(fails)
        case Connective.XOR:
            odd = parts[0]
            for part in parts[1:]:
                odd = (
                    f"({odd[0]}) AND ({part[1]}) OR ({odd[1]}) AND ({part[0]})",
                    f"({odd[0]}) AND ({part[0]}) OR ({odd[1]}) AND ({part[1]})",
                )
            return odd


def _some(tests: list[tuple[str, Truth]]) -> Truth:
    """A comparison that holds where it holds for one of several values, and fails where it fails for all there are."""
    if len(tests) == 1 and not tests[0][0]:
        return tests[0][1]
    if not tests:
        return NEVER
    holds = [f"EXISTS (SELECT 1 FROM {rows} AND ({test[0]}))" for rows, test in tests]
    there = [f"EXISTS (SELECT 1 FROM {rows})" for rows, _ in tests]
    other = [f"NOT EXISTS (SELECT 1 FROM {rows} AND NOT coalesce(({test[1]}), 0))" for rows, test in tests]
    return " OR ".join(holds), f"({' OR '.join(there)}) AND {' AND '.join(other)}"
