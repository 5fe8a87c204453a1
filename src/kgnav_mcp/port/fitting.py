"""Patterns that a store fits by itself: what it is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.plan import (
    Call,
    Compare,
    Comparison,
    Constant,
    Expression,
    Function,
    ListOf,
    Match,
    Property,
    Scalar,
    Variable,
)

_MIRRORED = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}
"""Comparisons of numbers, with those that say the same from the other side."""
_EXACT = 2**53
"""Whole numbers below are the same to stores that calculate with fractions."""


@dataclass(frozen=True, slots=True)
class QualifierAsked:
    """A property of an edge, one of whose values equals one of some constants, or a node's id."""

    owned: Property
    values: tuple[Scalar, ...] = ()
    """Texts and numbers."""
    node: str | None = None
    """The variable of the node; then there are no constants."""


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """Around which nodes a pattern fits, and how many times around each.

    The pattern is of a checked plan: no named paths, not optional, no path of edges but REACHABLE, its nodes joined
    by edges or given, or a single one with a label. Its `where` is made by AND, OR and NOT of what nodes are
    (`ids_asked`, `a = b`, `a <> b`, HasLabel) and of Exists, whose pattern is made so, too; by AND and OR alone also of
    `number_asked`.
    """

    match: Match
    variables: tuple[str, ...]
    """The nodes of the pattern that are told, beside those that are given."""
    given: tuple[str, ...] = ()
    """Nodes that are known, which the pattern or its conditions name."""
    rows: tuple[tuple[str, ...], ...] = ((),)
    """Their ids: the pattern is fitted around each of these rows, which differ."""
    counted: str | None = None
    """The node whose different ones are counted, instead of the times that the pattern fits."""
    top: int | None = None
    """Only those with the largest numbers are wanted: so many at least, and all with the number of the last.

    Others may be told, too.
    """
    qualifiers: tuple[QualifierAsked, ...] = ()
    """Properties of the pattern's edges, by which a store finds edges without reading all of a relation.

    They only narrow: a store may leave out those with constants that it has no words for (not all of them), or take
    them more widely, so that some of what it tells may not fit.
    """


@dataclass(frozen=True, slots=True)
class Fit:
    """The ids of nodes, first of those given, then of `variables`, and how many times the pattern fits around them.

    It does so once at least.
    """

    nodes: tuple[str, ...]
    number: int


def ids_asked(condition: Expression) -> tuple[str, tuple[str, ...]] | None:
    """The node that a condition is about, and the ids of which it has one; None: it is no such condition."""
    match condition:
        case Compare(Call(Function.ID, (Variable(name),)), Comparison.IN, ListOf(items)):
            ids = tuple(item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str))
            return (name, ids) if len(ids) == len(items) else None
        case _:
            return None


def number_asked(condition: Expression) -> tuple[Property, Comparison, float] | None:
    """A property one of whose values is so compared with a number; None: the condition is no such one."""
    match condition:
        case Compare(Property() as owned, comparison, Constant(value)) if comparison in _MIRRORED:
            pass
        case Compare(Constant(value), comparison, Property() as owned) if comparison in _MIRRORED:
            comparison = _MIRRORED[comparison]
        case _:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not owned.ids:
        return None
    return (owned, comparison, float(value)) if abs(value) < _EXACT else None


def qualifier_asked(condition: Expression) -> QualifierAsked | None:
    """What a property is equal to; None: the condition is no such one. Whose property it is, the caller knows."""
    match condition:
        case Compare(Property() as owned, Comparison.EQUAL, value) | Compare(
            value, Comparison.EQUAL, Property() as owned
        ):
            values = (value,)
        case Compare(Property() as owned, Comparison.IN, ListOf(values)):
            pass
        case _:
            return None
    match values:
        case (Call(Function.ID, (Variable(name),)),):
            return QualifierAsked(owned, node=name)
        case _:
            constants = tuple(one.value for one in values if isinstance(one, Constant))
    sendable = len(constants) == len(values) and not any(isinstance(one, bool) for one in constants)
    return QualifierAsked(owned, tuple(one for one in constants if one is not None)) if sendable else None
