"""Which patterns, and which of their conditions, a store is asked to fit: those that `FitQuestion` names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kgnav_mcp.navigation.plans.patterns import merged
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Connective,
    EdgePattern,
    Exists,
    Expression,
    HasLabel,
    Joined,
    Match,
    Not,
    PathKind,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts
from kgnav_mcp.port import QualifierAsked, ids_asked, number_asked, qualifier_asked

Conditions = tuple[Expression, ...]


def is_plain(match: Match, given: Collection[str], qualifiers: Sequence[QualifierAsked] = ()) -> bool:
    """Whether a pattern is made of edges that join all its nodes and those given, or is one node with a label.

    What nothing joins would be a product of whole sets. A property of an edge joins this edge with a node.
    """
    variables = [edge.variable for edge in match.edges]
    if match.paths or len(set(variables)) < len(variables) or not all(map(_tells_ends, match.edges)):
        return False
    nodes = merged(match)
    if not match.edges:
        return len(nodes) == 1 and not any(name in given or not node.labels for name, node in nodes.items())
    if all(edge.path for edge in match.edges) and not _begins(match, given):
        return False
    ties = [{edge.source, edge.target} for edge in match.edges]
    for edge, tie in zip(match.edges, ties, strict=True):
        tie |= {one.node for one in qualifiers if one.owned.owner == edge.variable and one.node is not None}
    joined = {name for name in nodes if name in given} or ties[0]
    for _ in ties:
        for tie in ties:
            if joined & tie:
                joined |= tie
    return joined >= nodes.keys()


def qualifiers_asked(match: Match) -> tuple[QualifierAsked, ...]:
    """The properties of a pattern's edges, not of its paths, that must equal a constant or a node's id."""
    edges = {edge.variable for edge in match.edges if edge.path is None}
    found = (qualifier_asked(condition) for condition in conjuncts(match.where))
    return tuple(one for one in found if one is not None and one.owned.owner in edges)


def _begins(match: Match, given: Collection[str]) -> bool:
    """Whether something says where the paths of a pattern begin or end: each node of the graph leads to itself."""
    ids = any(ids_asked(condition) for condition in conjuncts(match.where))
    return ids or any(node.labels or node.variable in given for node in match.nodes)


def _tells_ends(edge: EdgePattern) -> bool:
    """Whether it is an edge, or a path of any length of which only the ends are told."""
    return edge.path is None or (edge.path.kind is PathKind.REACHABLE and edge.path.longest is None)


def split(match: Match, known: frozenset[str], *, values: bool) -> tuple[Conditions, Conditions]:
    """The conditions that the store is asked for, those of values among them where it is to be, and the others."""
    conditions = conjuncts(match.where)
    said = tuple(one for one in conditions if _has_words(one, known, values=values))
    return said, tuple(one for one in conditions if one not in said)


def _has_words(condition: Expression, known: frozenset[str], *, values: bool) -> bool:
    """Whether a condition is one of those that `FitQuestion` names, about nodes that are known.

    A comparison with a missing value does not hold, and neither does its opposite: with NOT it is no such one.
    """
    match condition:
        case Joined(Connective.AND | Connective.OR, parts):
            return all(_has_words(part, known, values=values) for part in parts)
        case Not(opposite):
            return _has_words(opposite, known, values=values and isinstance(opposite, Exists))
        case Compare(Variable(one), Comparison.EQUAL | Comparison.UNEQUAL, Variable(other)):
            return {one, other} <= known
        case HasLabel(variable):
            return variable in known
        case Exists(match):
            edges = {edge.variable for edge in match.edges}
            inner = known.union(merged(match))
            conditions = conjuncts(match.where)
            plain = is_plain(match, known) and not edges & known
            return plain and all(_has_words(one, inner, values=values) for one in conditions)
        case _:
            return _is_of_node(condition, known, values=values)


def _is_of_node(condition: Expression, known: frozenset[str], *, values: bool) -> bool:
    ids, number = ids_asked(condition), number_asked(condition) if values else None
    return ids[0] in known if ids is not None else number is not None and number[0].owner in known
