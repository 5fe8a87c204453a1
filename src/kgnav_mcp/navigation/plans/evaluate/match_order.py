"""Where a plan begins: with what it selects, be it by a pattern within a condition, and not with all nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kgnav_mcp.navigation.plans.evaluate.patterns import merged
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.plan import (
    Clause,
    Column,
    Compare,
    Comparison,
    Constant,
    CountOf,
    Exists,
    Expression,
    Match,
    NodePattern,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts, variables_of

_MIN = {Comparison.AT_LEAST: 1, Comparison.GREATER: 0, Comparison.EQUAL: 1}
"""For each comparison of a number of matches: the least constant for which there must be a match."""


def anchored(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses with a pattern in front that finds the node with which they begin, if a condition has one.

    `MATCH (p) WHERE EXISTS { (p)-[:r]->() }` begins with the nodes that have the edge, and not with all nodes.
    """
    match clauses:
        case (Match(nodes=(NodePattern(variable, labels=()) as node,), edges=(), optional=False) as first, *_):
            pass
        case _:
            return clauses
    conditions = conjuncts(first.where)
    if start_of(node, conditions).selective:
        return clauses
    for pattern in map(_required, conditions):
        if pattern is not None and any(variable in (edge.source, edge.target) for edge in pattern.edges):
            ends = Project((Column(variable, Variable(variable)),), distinct=True)
            return (replace(pattern, optional=False), ends, *clauses)
    return clauses


def begins_anywhere(match: Match, given: Collection[str]) -> bool:
    """Whether no node of a pattern is given, or selected by a label, an id or a value."""
    conditions = [(variables_of(each), each) for each in conjuncts(match.where)]
    return not any(
        name in given
        or node.labels
        or start_of(node, [one for of, one in conditions if of == frozenset((name,))]).selective
        for name, node in merged(match).items()
    )


def _required(condition: Expression) -> Match | None:
    """The pattern that has a match where a condition is true; None if the condition says nothing of the kind."""
    match condition:
        case Exists(pattern):
            return pattern
        case Compare(CountOf(pattern), comparison, Constant(int() as number)) if number >= _MIN.get(
            comparison, number + 1
        ):
            return pattern
        case _:
            return None
