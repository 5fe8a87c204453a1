"""The order of a sorted `WITH` is kept by what follows, as readers expect: `WITH ... ORDER BY n LIMIT 3 RETURN ...`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from kgnav_mcp.plan import Order, Pipeline, Project, Variable
from kgnav_mcp.plan.walking import aggregates, variables_of


def keeping_order(pipeline: Pipeline) -> Pipeline:
    """The pipeline, with the order of its last sorted projection for the result.

    It stays as it is if the result is sorted itself, or if its rows are no longer those that were sorted, or not by
    variables that it still has.
    """
    *before, last = pipeline.clauses
    if not isinstance(last, Project) or last.order or not _keeps_rows(last):
        return pipeline
    renamed = {column.name for column in last.columns if column.value != Variable(column.name)}
    for place, clause in reversed(list(enumerate(before))):
        if isinstance(clause, Project) and clause.order:
            between = [one for one in before[place + 1 :] if isinstance(one, Project)]
            kept = {column.name for column in clause.columns}.intersection(*map(_unchanged, between)) - renamed
            order = takewhile(lambda one: variables_of(one.by) <= kept, _order_behind(clause))  # noqa: B023 - used here
            return Pipeline((*before, replace(last, order=tuple(order))))
        if isinstance(clause, Project) and not _keeps_rows(clause):
            return pipeline
    return pipeline


def _unchanged(clause: Project) -> set[str]:
    """The variables that a projection keeps as they are."""
    return {column.name for column in clause.columns if column.value == Variable(column.name)}


def _order_behind(clause: Project) -> Iterator[Order]:
    """What a projection is sorted by, as the clauses behind it write it."""
    for one in clause.order:
        column = next((column for column in clause.columns if column.value == one.by), None)
        yield one if column is None else replace(one, by=Variable(column.name))


def _keeps_rows(clause: Project) -> bool:
    """Whether each row of a projection is one of the rows before it."""
    return not clause.distinct and not any(aggregates(column.value) for column in clause.columns)
