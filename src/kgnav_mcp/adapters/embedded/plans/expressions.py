"""Compiles values and conditions over the variables of a plan.

A condition becomes two SQL expressions: one for when it is true, one for when it is false. SQL's three-valued logic is
not enough, because the algebra has its own rules for properties with several values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kgnav_mcp.adapters.embedded.plans.calls import compile_arithmetic, compile_call, compile_list, during
from kgnav_mcp.adapters.embedded.plans.comparisons import NEVER, Truth, constant, negated
from kgnav_mcp.adapters.embedded.plans.conditions import compile_chain, compile_compare, joined
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.properties import Properties, rows_of
from kgnav_mcp.adapters.embedded.plans.statement import Scope, Statement, Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import (
    Aggregate,
    Arithmetic,
    Call,
    Compare,
    ComparisonChain,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Variable,
)


class Fits(Protocol):
    """Returns queries with one row for each match of a pattern, given the variables of a scope."""

    def __call__(self, match: Match, scope: Scope) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class ExpressionCompiler:
    """Compiles expressions over the variables of one scope."""

    statement: Statement
    words: NameResolver
    scope: Scope
    fits: Fits
    aggregated: Callable[[Aggregate], Term] | None = None
    """Compiles the aggregates of a projection; None outside of projections."""
    known: Mapping[Expression, Term] = field(default_factory=dict[Expression, Term])
    """Expressions that the rows already have as columns."""

    def holds(self, expression: Expression) -> str:
        """Returns the SQL for when a condition is true."""
        return self.truth(expression)[0]

    def truth(self, expression: Expression) -> Truth:  # noqa: C901, PLR0911 - one for each kind
        """Returns the SQL for when a condition is true and for when it is false."""
        match expression:
            case Compare():
                return compile_compare(self, expression)
            case ComparisonChain(values, comparisons):
                return compile_chain(self, values, comparisons)
            case Joined(connective, parts):
                return joined(connective, [self.truth(part) for part in parts])
            case Not(condition):
                return negated(self.truth(condition))
            case IsNull(value):
                return self._missing(value)
            case HasLabel(variable, labels):
                return self._has_label(self.variable(variable), labels)
            case During():
                return during(self, expression)
            case Exists(match):
                found = " OR ".join(f"EXISTS ({query})" for query in self.fits(match, self.scope))
                return f"({found})", f"NOT ({found})"
            case _:
                term = self.value(expression)
                if term.kind is TermKind.TRUTH:
                    return f"({term.one}) = 1", f"({term.one}) = 0"
                if term.kind is TermKind.VALUE:
                    return f"({term.one}) = x'6231'", f"({term.one}) = x'6230'"
                return NEVER

    def value(self, expression: Expression) -> Term:  # noqa: C901, PLR0911 - one for each kind
        """Returns the term of an expression."""
        if expression in self.known:
            return self.known[expression]
        match expression:
            case Constant(value):
                return constant(self.statement, value)
            case Variable(name):
                return self.variable(name)
            case Property():
                return self.properties.first(self.variable(expression.owner), expression)
            case Call(function, arguments):
                return compile_call(self, function, arguments)
            case Arithmetic():
                return compile_arithmetic(self, expression)
            case ListOf():
                return compile_list(self, expression)
            case CountOf(match):
                counts = [pieces.NUMBER.format(rows=f"({query})") for query in self.fits(match, self.scope)]
                return Term(TermKind.NUMBER, (" + ".join(counts),))
            case Aggregate() if self.aggregated is not None:
                return self.aggregated(expression)
            case Compare() | ComparisonChain() | Joined() | Not() | IsNull() | HasLabel() | Exists() | During():
                holds, fails = self.truth(expression)
                return Term(TermKind.TRUTH, (f"CASE WHEN {holds} THEN 1 WHEN {fails} THEN 0 END",))
            case Aggregate():
                raise TypeError("an aggregate stands in what is projected only")
            case _:
                raise unsupported("parts of lists, conditions on their members, and CASE")

    def variable(self, name: str) -> Term:
        """Returns the term of a variable."""
        return self.scope[name]

    @property
    def properties(self) -> Properties:
        """Compiles reads of properties."""
        return Properties(self.statement, self.words)

    def _missing(self, value: Expression) -> Truth:
        if isinstance(value, Property):
            found = self.properties.values(self.variable(value.owner), value)
            if found is not None:
                some = " OR ".join(pieces.ANY.format(rows=rows_of([each])) for each in found) or "0"
                return f"NOT ({some})", f"({some})"
        term = self.value(value)
        if term.kind is TermKind.HIDDEN:
            raise unsupported("whether a path is missing")
        return f"({term.one}) IS NULL", f"({term.one}) IS NOT NULL"

    def _has_label(self, owner: Term, labels: tuple[str, ...]) -> Truth:
        if owner.kind is TermKind.NODE:
            test = self.labelled(owner.one, labels)
            return test, f"{owner.one} IS NOT NULL AND NOT ({test})"
        if owner.kind is TermKind.EDGE:
            test = pieces.AMONG.format(value=f"kg_relation({owner.sql[1]})", values=self.statement.numbers(labels))
            return f"{owner.one} IS NOT NULL AND {test}", f"{owner.one} IS NOT NULL AND NOT ({test})"
        return NEVER

    def labelled(self, node: str, group: tuple[str, ...]) -> str:
        """Returns the SQL test that a node has one of these labels."""
        numbers = [entry.id for entry in self.words.labels(group)]
        if not numbers:
            return "0"
        if len(numbers) == 1:
            return pieces.HAS_LABEL.format(node=node, label=numbers[0])
        return pieces.HAS_ONE_LABEL.format(node=node, labels=self.statement.numbers(numbers))

    def key(self, node: str) -> str:
        """Returns the SQL of a node's printed id."""
        key = pieces.KEY.format(node=node)
        if not self.words.builder.prefixes.namespaces:
            return f"+{key}"
        return f"CASE WHEN {node} IS NOT NULL THEN kg_short({key}) END"
