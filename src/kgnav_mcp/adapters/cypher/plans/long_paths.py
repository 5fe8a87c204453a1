"""Finds out whether a plan has paths that are too long for the store to list.

Neo4j copies a path for each edge that it adds, and compares that edge with all before: a chain of 20,000 edges takes it
hours, during which it does not check its time limit. One path of a given length, if there is one, is found at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kgnav_mcp.plan import (
    Column,
    Constant,
    EdgePattern,
    Match,
    NodePattern,
    PathKind,
    PathLength,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction, conjuncts, variables_of

LONG, TOO_LONG = 200, 1_000
"""Lengths in edges of a path that is found within some ten milliseconds, and of one that takes about a second."""


def plans_of_one_path(plan: Plan, length: int) -> Iterator[tuple[EdgePattern, Plan]]:
    """For each path that a plan lists and that may be too long, the plans that find one path of this length.

    There is one plan for each end of the path from which the store may start.
    """
    for pipeline in plan.pipelines:
        for place, clause in enumerate(pipeline.clauses):
            before = pipeline.clauses[:place]
            bound = frozenset[str]().union(*map(variables_of, before))
            for edge in clause.edges if isinstance(clause, Match) else ():
                if isinstance(clause, Match) and _may_be_too_long(edge):
                    for end, around in _ends(clause, edge, bound):
                        # WITH between the patterns makes the store begin at this end
                        begin = Project((Column(end, Variable(end)),))
                        path = Match((), (_onward(edge, end, length),))
                        found = Project((Column("found", Constant(value=True)),))
                        clauses = (*before, around, begin, path, found)
                        yield edge, Plan((replace(pipeline, clauses=clauses),), in_any_order=True)


def _may_be_too_long(edge: EdgePattern) -> bool:
    path = edge.path
    return path is not None and path.kind is PathKind.TRAILS and (path.longest is None or path.longest > TOO_LONG)


def _onward(edge: EdgePattern, end: str, length: int) -> EdgePattern:
    """A path of this length from this end of an edge to any node."""
    far = f"{edge.variable}\0far"
    one_path = replace(edge, path=PathLength(PathKind.TRAILS, length, length))
    return replace(one_path, target=far) if end == edge.source else replace(one_path, source=far)


def _ends(match: Match, edge: EdgePattern, bound: frozenset[str]) -> list[tuple[str, Match]]:
    """The ends of a path with a condition, and the pattern around each; if there is none, the source."""
    ends = [(end, _around(match, edge, end)) for end in dict.fromkeys((edge.source, edge.target))]
    restricted = [
        (end, around)
        for end, around in ends
        if around.where is not None or any(node.variable in bound for node in around.nodes)
    ]
    return restricted or ends[:1]


def _around(match: Match, edge: EdgePattern, end: str) -> Match:
    """The nodes, single edges and conditions of a pattern on this side of a path."""
    other = edge.target if end == edge.source else edge.source
    near, kept = {end}, list[EdgePattern]()
    for _ in match.edges:
        for one in match.edges:
            ends = {one.source, one.target}
            if one.path is None and one not in kept and other not in ends - {end} and not near.isdisjoint(ends):
                kept.append(one)
                near |= ends
    known = near.union(one.variable for one in kept)
    own = {name for one in match.edges for name in (one.variable, one.source, one.target)}
    own.update(node.variable for node in match.nodes)
    conditions = [each for each in conjuncts(match.where) if variables_of(each) & own <= known]
    nodes = [node for node in match.nodes if node.variable in near] or [NodePattern(end)]
    return Match(tuple(nodes), tuple(kept), (), conjunction(conditions), edges_differ=match.edges_differ)
