"""Leaves equalities of two large sets to the evaluator: SQL tests them for every pair of values, it looks them up."""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.start_nodes import start_of
from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.plan import ListOf, Match, Pipeline, Project, Unwind
from kgnav_mcp.plan.walking import aggregates, conjuncts, equality_sides, node_patterns, variables_of

_MAX_PAIRS = 20_000
"""Pairs of values that SQL may test: 4 us each, or more for names."""
_MAX_SIZE = 100_000
"""Nodes that are read for a look-up at most."""
_UNKNOWN_LENGTH = 100
"""The assumed length of a list that is not written in the plan."""


def leave_value_joins(compiler: ExpressionCompiler, pipeline: Pipeline) -> None:
    """Check that no pattern is tied to the rows before it by an equality alone, if it makes many pairs with them.

    Raises:
        Unsupported: one is.
    """
    rows, bound = 1, set[str]()
    if pipeline.given is not None:
        rows, bound = len(pipeline.given.rows), {*pipeline.given.variables}
    for clause in pipeline.clauses:
        match clause:
            case Unwind(of, variable):
                rows *= len(of.items) if isinstance(of, ListOf) else _UNKNOWN_LENGTH
                bound.add(variable)
            case Project(columns):
                rows = 1 if all(any(aggregates(column.value)) for column in columns) else rows
                bound = {column.name for column in columns}
            case Match():
                for names in _components(clause):
                    if names.isdisjoint(bound):
                        size = _size(compiler, clause, names)
                        is_join = any(equality_sides(one, names, bound) for one in conjuncts(clause.where))
                        if is_join and rows * size > _MAX_PAIRS and max(rows, size) <= _MAX_SIZE:
                            raise unsupported("an equality of this many pairs of values")
                        rows *= size
                    bound |= names


def _components(match: Match) -> Iterator[set[str]]:
    """The nodes of a pattern, in sets that its edges connect."""
    sets = [{name} for name in node_patterns(match)]
    for edge in match.edges:
        joined = [names for names in sets if not names.isdisjoint((edge.source, edge.target))]
        sets = [names for names in sets if names not in joined] + [{*joined[0].union(*joined)}]
    yield from sets


def _size(compiler: ExpressionCompiler, match: Match, names: set[str]) -> int:
    """The estimated number of matches of some connected nodes: those of the smallest set among them."""
    nodes = node_patterns(match)
    conditions = [(variables_of(one), one) for one in conjuncts(match.where)]
    return min(
        start_of(compiler, nodes[name], [one for of, one in conditions if of == frozenset((name,))]).size
        for name in names
    )
