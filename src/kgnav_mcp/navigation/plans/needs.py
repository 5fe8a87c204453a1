"""What the clauses behind a pattern need of its rows: where they only count them, the store may count instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Expression,
    Match,
    Pipeline,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import parts, rewritten, variables_of

_ROWS = Aggregate(AggregateFunction.COUNT, None)


@dataclass(frozen=True, slots=True)
class Needs:
    """What is needed of the rows of a pattern: these variables, and how many equal rows there are."""

    variables: frozenset[str] = frozenset()
    counted: str | None = None
    """The variable of which only the number of different ones is needed."""
    top: int | None = None
    """Only so many of the most frequent rows are needed, and those that are as frequent as the last."""


def in_rows(pipeline: Pipeline) -> tuple[Clause, ...]:
    """The clauses of a pipeline, with `count(v)` as the number of rows where `v` is never null."""
    sure: set[str] = set()
    clauses: list[Clause] = []

    def change(part: object) -> Expression | None:
        match part:
            case Aggregate(AggregateFunction.COUNT, Variable(name), distinct=False) if name in sure:
                return _ROWS
            case _:
                return None

    for clause in pipeline.clauses:
        clauses.append(rewritten(clause, change) if isinstance(clause, Project) else clause)
        if isinstance(clause, Project):
            sure.clear()
        elif isinstance(clause, Match) and not clause.optional:
            sure.update(node.variable for node in clause.nodes)
            sure.update(edge.variable for edge in clause.edges if edge.path is None)
    return tuple(clauses)


def needs_after(clauses: Sequence[Clause]) -> Needs:
    """What the clauses behind a pattern need of it, up to the first projection."""
    needed: set[str] = set()
    for clause in clauses:
        needed |= variables_of(clause)
        if isinstance(clause, Project):
            break
    return Needs(frozenset(needed))


def summary(match: Match, project: Project) -> tuple[Needs, Project] | None:
    """What a projection needs that counts rows of the pattern before it, and the projection over these counts.

    None: it needs the rows themselves.
    """
    own = {node.variable for node in match.nodes}
    found = {
        one for column in (*project.columns, *project.order) for one in parts(column) if isinstance(one, Aggregate)
    }
    if match.optional or len(found) != 1:
        return None
    (one,) = found
    counted = None
    if isinstance(one.of, Variable) and one == Aggregate(AggregateFunction.COUNT, one.of, distinct=True):
        counted = one.of.name
    elif one != _ROWS:
        return None
    counts = rewritten(project, lambda part: _ROWS if part == one else None)
    needed = variables_of(counts)
    groups = {column.value.name for column in counts.columns if isinstance(column.value, Variable)}
    if counted is not None and (counted not in own or counted in needed):
        return None
    if not needed & variables_of(match) <= groups & own:
        return None  # rows that differ in these would be one group
    return Needs(needed, counted, _top(counts)), counts


def _top(project: Project) -> int | None:
    """How many rows are wanted of those that were sorted by their number, the largest first."""
    if project.limit is None or project.distinct or not project.order or not project.order[0].descending:
        return None
    by = project.order[0].by
    columns = {column.name: column.value for column in project.columns}
    value = columns.get(by.name, by) if isinstance(by, Variable) else by
    return max(project.skip + project.limit, 1) if value == _ROWS else None
