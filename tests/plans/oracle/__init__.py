"""What a plan answers, found by trying everything: the second evaluator of the algebra.

It is written from the docstrings of `kgnav_mcp.plan` and from Cypher's semantics, shares no code with the first, and
reads a graph in memory by plain loops. Slow, and simple enough to be believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import cast

from kgnav_mcp.plan import Aggregate, Clause, Match, Pipeline, Plan, Project, Unwind
from tests.plans.graph import Graph
from tests.plans.oracle.expressions import SIZED, Asked
from tests.plans.oracle.matching import Row, fits
from tests.plans.oracle.values import Key, RefusedError, Several, Value, key, row_key, same

__all__ = ["RefusedError", "TooMuchError", "answer"]

Cells = tuple[Value, ...]


class TooMuchError(Exception):
    """A table has more rows than are worth waiting for."""


def answer(graph: Graph, plan: Plan, most: int = 1_000_000) -> list[Cells]:
    """The rows of a plan, in their order.

    Raises:
        TooMuchError: there are more than `most` on the way.
        RefusedError: it needs one value where a property has several.
    """
    SIZED.set({})
    rows = [row for pipeline in plan.pipelines for row in _rows(graph, pipeline, plan.columns, most)]
    if len(plan.pipelines) > 1:
        rows.sort(key=row_key)
        if not plan.keep_duplicates:
            rows = list({same(row): row for row in reversed(rows)}.values())[::-1]
    return rows[:1] if plan.only_exists else rows


def _rows(graph: Graph, pipeline: Pipeline, columns: tuple[str, ...], most: int) -> list[Cells]:
    table: list[Row] = [{}]
    in_order = False
    for clause in pipeline.clauses:
        table = list(islice(_next(graph, clause, table, most, in_order=in_order), most + 1))
        if len(table) > most:
            raise TooMuchError
        in_order = isinstance(clause, Project) and bool(clause.order)
    names = [column.name for column in pipeline.result.columns]
    assert len(names) == len(columns)
    return [tuple(row[name] for name in names) for row in table]


def _next(graph: Graph, clause: Clause, table: list[Row], most: int, *, in_order: bool) -> Iterator[Row]:
    match clause:
        case Match():
            for row in table:
                yield from _matched(graph, clause, row, most)
        case Unwind(of, variable):
            for row in table:
                value = Asked(graph, row).value(of)
                for each in value if isinstance(value, tuple) else [] if value is None else [value]:
                    yield {**row, variable: each}
        case Project():
            yield from _projected(graph, clause, table, in_order=in_order)


def _matched(graph: Graph, match: Match, row: Row, most: int) -> list[Row]:
    fitting = list(islice(fits(graph, match, row), most + 1))
    if len(fitting) > most:
        raise TooMuchError
    found = [each for each in fitting if Asked(graph, each).holds(match.where)]
    if found or not match.optional:
        return found
    ends = [end for edge in match.edges for end in (edge.source, edge.target)]
    parts_of_it = [part.variable for part in (*match.nodes, *match.edges, *match.paths)]
    return [{**dict.fromkeys([*ends, *parts_of_it]), **row}]


def _projected(graph: Graph, clause: Project, table: list[Row], *, in_order: bool) -> Iterator[Row]:
    """The old rows with their new ones, then only the new ones."""
    names = [column.name for column in clause.columns]
    if any(_has_aggregate(column.value) for column in clause.columns):
        pairs = [(Row(), row) for row in _grouped(graph, clause, table, in_order=in_order)]
    else:
        pairs = [
            (row, {column.name: Asked(graph, row).value(column.value) for column in clause.columns}) for row in table
        ]
    if clause.distinct:
        pairs = list({tuple(same(new[name]) for name in names): (Row(), new) for _, new in reversed(pairs)}.values())
    pairs.sort(key=lambda pair: row_key(tuple(pair[1][name] for name in names)))
    for order in reversed(clause.order):
        pairs.sort(
            key=lambda pair: _sort_key(Asked(graph, {**pair[0], **pair[1]}).value(order.by)),
            reverse=order.descending,
        )
    end = None if clause.limit is None else clause.skip + clause.limit
    for old, new in pairs[clause.skip : end]:
        if Asked(graph, {**old, **new}).holds(clause.where):
            yield new


def _sort_key(value: Value) -> Key:
    if isinstance(value, Several):
        raise RefusedError
    return key(value)


def _grouped(graph: Graph, clause: Project, table: list[Row], *, in_order: bool) -> Iterator[Row]:
    keys = [column for column in clause.columns if not _has_aggregate(column.value)]
    groups: dict[Key, list[Row]] = {}
    for row in table:
        groups.setdefault(tuple(same(Asked(graph, row).value(column.value)) for column in keys), []).append(row)
    if not keys and not groups:
        groups[()] = []
    for group in groups.values():
        asked = Asked(graph, group[0] if group else {}, tuple(group), in_order)
        yield {column.name: asked.value(column.value) for column in clause.columns}


def _has_aggregate(expression: object) -> bool:
    if isinstance(expression, tuple):
        return any(_has_aggregate(each) for each in cast("tuple[object, ...]", expression))
    if not is_dataclass(expression):
        return False
    return isinstance(expression, Aggregate) or any(
        _has_aggregate(getattr(expression, field.name)) for field in fields(expression)
    )
