"""Patterns of plans that a store matches itself: argument and result of `GraphAdapter.match_pattern`."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.model import Node
from kgnav_mcp.plan import (
    Call,
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    Expression,
    Function,
    ListOf,
    Match,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.plan.expressions import MIRRORED

_OF_BOUNDS = MIRRORED.keys() - {Comparison.UNEQUAL}
_EXACT = 2**53
"""Integers below this are exact also in stores that calculate with floating-point numbers."""


@dataclass(frozen=True, slots=True)
class QualifierCondition:
    """The condition that one of the values of an edge's property equals one of some constants, or a node's id."""

    owned: Property
    values: tuple[Scalar, ...] = ()
    """The constants: texts and numbers."""
    node: str | None = None
    """The variable of the node; if it is set, there are no constants."""


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """A query for the nodes that match a pattern, with the number of matches of each combination of nodes.

    The pattern is from a checked plan. It has no named paths, is not optional, and its only paths of variable length
    are REACHABLE. Its nodes are joined by edges or given, or it is a single node with a label. Its `where` combines by
    AND, OR and NOT conditions on what a node is (`id_condition`, `a = b`, `a <> b`, HasLabel) and Exists, whose pattern
    follows the same rules. Conditions of `number_condition` are combined by AND and OR only.
    """

    match: Match
    variables: tuple[str, ...]
    """The nodes to return, in addition to the given ones."""
    given: tuple[str, ...] = ()
    """Nodes of the pattern or its conditions whose ids are known."""
    rows: tuple[tuple[str, ...], ...] = ((),)
    """Ids of the given nodes. The pattern is matched once for each of these distinct rows."""
    counted: str | None = None
    """The node whose distinct ids are counted; None counts matches of the pattern."""
    top: int | None = None
    """Only the matches with the largest numbers are wanted: at least this many, and all ties with the last of them.

    Others may be returned, too.
    """
    qualifiers: tuple[QualifierCondition, ...] = ()
    """Properties of the pattern's edges, by which a store finds edges without reading a whole relation.

    They are a hint: a store may ignore some (not all) of those with constants, or apply them loosely. So the caller
    has to test the matches again.
    """
    properties: tuple[tuple[str, str], ...] = ()
    """Nodes of `variables`, each with a relation whose far ends are wanted as values of the match.

    They are a hint: a store may ignore them.
    """


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """Ids of the nodes of a match, given ones first, then `variables`; and the number of matches, at least one."""

    nodes: tuple[str, ...]
    number: int
    values: tuple[tuple[Node, ...], ...] = ()
    """The values of each of the `properties`, those that rows of `neighbours` have. Empty if they were not read."""


Bound = tuple[Comparison, float]
"""A comparison with a number on its right."""


def number_condition(condition: Expression) -> tuple[Property, tuple[Bound, ...]] | None:
    """The property and the bounds of a condition that compares it with numbers; None for any other condition.

    One value of the property has to be within all of the bounds: two of a chain, otherwise one.
    """
    match condition:
        case Compare():
            links = (condition,)
        case ComparisonChain((Constant(), Property(), Constant())):
            links = condition.links
        case _:
            return None
    bounds = [_bound(link) for link in links]
    found = [bound for bound in bounds if bound is not None]
    if len(found) < len(bounds):
        return None
    return found[0][0], tuple(bound for _, bound in found)


def _bound(link: Compare) -> tuple[Property, Bound] | None:
    """The property of a comparison with a number, and its bound."""
    match link:
        case Compare(Property() as owned, comparison, Constant(value)) if comparison in _OF_BOUNDS:
            pass
        case Compare(Constant(value), comparison, Property() as owned) if comparison in _OF_BOUNDS:
            comparison = MIRRORED[comparison]
        case _:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not owned.ids:
        return None
    return (owned, (comparison, float(value))) if abs(value) < _EXACT else None


def qualifier_condition(condition: Expression) -> QualifierCondition | None:
    """The constants or the node that a property is equal to; None for any other condition.

    That the property is an edge's, the caller has checked.
    """
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
            return QualifierCondition(owned, node=name)
        case _:
            constants = tuple(one.value for one in values if isinstance(one, Constant))
    only_constants = len(constants) == len(values) and not any(isinstance(one, bool) for one in constants)
    return QualifierCondition(owned, tuple(one for one in constants if one is not None)) if only_constants else None
