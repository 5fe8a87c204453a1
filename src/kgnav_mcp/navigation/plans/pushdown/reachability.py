"""Finds paths of any length of which only distinct ends matter, so that they need not be listed.

The number of paths grows exponentially with their length, the number of ends does not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    CountOf,
    EdgePattern,
    Exists,
    Match,
    PathKind,
    PathLength,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import parts, rewritten

_LONGEST_ANY = 1
"""Paths of at least so many edges, or of fewer, have the same ends whether or not edges may be repeated."""
_EXTREMES = (AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM)


def with_reachability(plan: Plan) -> Plan:
    """The same question with reachability in place of unbounded paths whose number does not change the answer."""
    used = _used(plan)
    united = len(plan.pipelines) > 1 and not plan.keep_duplicates
    pipelines = tuple(_pipeline(one, used, distinct=united or plan.only_exists) for one in plan.pipelines)
    return replace(plan, pipelines=pipelines)


def has_unbounded_paths(plan: Plan) -> bool:
    """Whether every path of any length is a row of its own somewhere in the plan."""
    return any(_is_unbounded(part) for part in parts(plan, patterns=True) if isinstance(part, EdgePattern))


def _pipeline(pipeline: Pipeline, used: Counter[str], *, distinct: bool) -> Pipeline:
    clauses: list[Clause] = []
    for clause in reversed(pipeline.clauses):
        if isinstance(clause, Project):
            distinct = _ignores_duplicates(clause, after=distinct)
        elif isinstance(clause, Match) and distinct:
            clause = _reached(clause, used)  # noqa: PLW2901 - the clause is replaced
        clauses.append(rewritten(clause, lambda part: _condition(part, used)))
    return replace(pipeline, clauses=tuple(reversed(clauses)))


def _condition(part: object, used: Counter[str]) -> object | None:
    """The replacement of a pattern in a condition. COUNT needs the number of its matches, EXISTS does not."""
    match part:
        case Exists(match):
            return Exists(rewritten(_reached(match, used), lambda inner: _condition(inner, used)))
        case CountOf(match):
            return CountOf(rewritten(match, lambda inner: _condition(inner, used)))
        case _:
            return None


def _ignores_duplicates(project: Project, *, after: bool) -> bool:
    """Whether equal rows before a projection change nothing. `after`: whether they change nothing behind it."""
    values = (*(column.value for column in project.columns), *(order.by for order in project.order))
    found = [part for part in parts(values) if isinstance(part, Aggregate)]
    if found:
        return all(each.distinct or each.function in _EXTREMES for each in found)
    return project.distinct or (after and not project.skip and project.limit is None)


def _reached(match: Match, used: Counter[str]) -> Match:
    edges = tuple(
        replace(edge, path=replace(edge.path, kind=PathKind.REACHABLE))
        if edge.path is not None and _is_unbounded(edge) and _only_ends_matter(edge, match, used)
        else edge
        for edge in match.edges
    )
    return match if edges == match.edges else replace(match, edges=edges)


def _only_ends_matter(edge: EdgePattern, match: Match, used: Counter[str]) -> bool:
    """Whether a path is only used for its ends, and no other edge of the pattern may be one of its edges."""
    if edge.path is None or edge.path.shortest > _LONGEST_ANY or used[edge.variable] != 1:
        return False
    return not match.edges_differ or not any(
        _may_share(edge, other) for other in match.edges if other is not edge and _takes_edges(other)
    )


def _may_share(edge: EdgePattern, other: EdgePattern) -> bool:
    return not edge.relations or not other.relations or not set(edge.relations).isdisjoint(other.relations)


def _takes_edges(edge: EdgePattern) -> bool:
    return edge.path is None or edge.path.kind in {PathKind.TRAILS, PathKind.REACHABLE}


def _is_unbounded(edge: EdgePattern) -> bool:
    match edge.path:
        case PathLength(PathKind.TRAILS, _, None):
            return True
        case _:
            return False


def _used(plan: Plan) -> Counter[str]:
    """How often each variable occurs: that of an edge once, if only its pattern has it."""
    used = Counter[str]()
    for part in parts(plan, patterns=True):
        match part:
            case EdgePattern(name) | Variable(name):
                used[name] += 1
            case PathPattern(elements=elements):
                used.update(elements)
            case _:
                pass
    return used
