"""Counts the matches of a pattern by their labels before these are unwound: lists of labels are few."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Clause,
    Column,
    Expression,
    Function,
    Match,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, node_patterns, parts, rewritten, variables_of

_LABELS, _NUMBER = "@labels", "@number"


def counted_before_unwinding(clauses: Sequence[Clause]) -> Sequence[Clause] | None:
    """The same rows by clauses that count each list of labels first, and then add the counts; None if there are none.

    `MATCH (a)-[:r]->(b) UNWIND labels(b) AS label RETURN label, count(*)` is
    `MATCH (a)-[:r]->(b) WITH labels(b) AS labels, count(*) AS n UNWIND labels AS label RETURN label, sum(n)`.
    """
    match clauses:
        case (
            Match(optional=False) as match,
            Unwind(Call(Function.LABELS) as labels, label),
            Project() as project,
            *more,
        ) if _only_counts(project, {*node_patterns(match), label}):
            pass
        case _:
            return None
    values = [column.value for column in project.columns if not aggregates(column.value)]
    keys = [value for value in values if value != Variable(label)]
    if any(label in variables_of(key) for key in keys):
        return None
    named = {key: f"@{place}" for place, key in enumerate(keys)}
    counted = Project(
        (
            *(Column(name, key) for key, name in named.items()),
            Column(_LABELS, labels),
            Column(_NUMBER, Aggregate(AggregateFunction.COUNT, None)),
        )
    )

    def change(part: object) -> Expression | None:
        if isinstance(part, Aggregate):
            return Aggregate(AggregateFunction.SUM, Variable(_NUMBER))
        return Variable(named[part]) if part in named else None  # pyright: ignore[reportArgumentType]

    return [match, counted, Unwind(Variable(_LABELS), label), rewritten(project, change), *more]


def _only_counts(project: Project, variables: set[str]) -> bool:
    """Whether a projection makes groups and only counts their rows, or variables that are never null."""
    found = [one for one in parts(project) if isinstance(one, Aggregate)]
    return bool(found) and all(
        one.function is AggregateFunction.COUNT
        and not one.distinct
        and (one.of is None or (isinstance(one.of, Variable) and one.of.name in variables))
        for one in found
    )
