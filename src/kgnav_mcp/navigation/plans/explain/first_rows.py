"""Notes on the first rows of an answer: rows without a sort value, and ties that LIMIT has cut."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import takewhile

from kgnav_mcp.clipping import clipped
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Count, Direction, Entity, PlanPage, PlanRow, Stop
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    Compare,
    Comparison,
    Constant,
    Match,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, conjunction, node_patterns
from kgnav_mcp.port import GraphAdapter

_TEXT = 100
"""Characters of the values of a tie that are shown."""


async def first_rows_note(graph: GraphAdapter, plan: Plan, page: PlanPage) -> str:
    """The sentence about first rows without a value to sort by; empty if they have one.

    Cypher sorts nulls as the largest values, so that a descending order begins with them.
    """
    pipeline, *others = plan.pipelines
    result = pipeline.result
    if others or not page.items:
        return ""
    if not result.order or not result.order[0].descending:
        return ""
    first = result.order[0]
    place = _column(result.columns, first.by)
    by = first.by if place is None else result.columns[place].value
    if place is not None:
        empty = sum(1 for _ in takewhile(lambda row: row.cells[place] is None, page.items))
    elif isinstance(by, Property):
        empty = await _lacks(graph, result.columns, by, page)
    else:
        return ""
    if not empty:
        return ""
    rows = "The first row has" if empty == 1 else f"The first {empty:,} rows have"
    if isinstance(by, Property):
        name = write_part(by)
        return f"{rows} no {name}: DESC puts rows without it first. WHERE {name} IS NOT NULL excludes them."
    return f"{rows} no {result.columns[place or 0].name}: DESC puts rows without it first."


def with_extra_row(plan: Plan, most: int) -> Plan:
    """The plan with one row more than its limit, which shows whether that cuts a tie; or the plan itself.

    It stays as it is if it has no limit or no order, if something that it is sorted by is not returned, or if the rows
    would be more than a page has (`most`).
    """
    pipeline, *others = plan.pipelines
    result = pipeline.result
    if others or plan.only_exists or result.skip or not result.limit or result.limit >= most or not _sort_keys(plan):
        return plan
    longer = replace(result, limit=result.limit + 1)
    return replace(plan, pipelines=(Pipeline((*pipeline.clauses[:-1], longer)),))


def without_extra_row(plan: Plan, page: PlanPage) -> tuple[PlanPage, PlanRow | None]:
    """The page of a plan that was asked `with_extra_row`, and the row behind it, if there is one."""
    limit = plan.pipelines[0].result.limit
    if limit is None or len(page.items) <= limit:
        return page, None
    kept = replace(page, items=page.items[:limit], positions=page.positions[:limit], total=Count(limit))
    return kept, page.items[limit]


async def cut_tie_note(
    plan: Plan, page: PlanPage, behind: PlanRow | None, count: Callable[[Plan], Awaitable[PlanPage]]
) -> str:
    """The sentence about rows that LIMIT left out although they equal the last one in all that they are sorted by.

    `behind` is the row behind the page, `count` runs a plan that counts such rows. Empty if there are none.
    """
    keys = _sort_keys(plan)
    last = [page.items[-1].cells[place] for place in keys]
    if behind is None or page.stop is not Stop.COMPLETE or [behind.cells[place] for place in keys] != last:
        return ""
    values = [value for value in last if isinstance(value, str | int | float)]
    if len(values) < len(last):  # nodes and nulls are not compared by a constant
        return ""
    result = plan.pipelines[0].result
    tied = sum(1 for row in page.items if [row.cells[place] for place in keys] == last)
    names = [result.columns[place].name for place in keys]
    equal = [
        Compare(Variable(name), Comparison.EQUAL, Constant(value)) for name, value in zip(names, values, strict=True)
    ]
    rows = Project(result.columns, result.distinct, where=conjunction(equal))
    total = await _number(_counting((*plan.pipelines[0].clauses[:-1], rows)), count)
    if total is None or total <= tied:
        return ""
    written = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    shared = clipped(", ".join(f"{name} = {value}" for name, value in zip(names, written, strict=True)), _TEXT)
    more = total - tied
    return f"LIMIT cut a tie: {more:,} more {'row has' if more == 1 else 'rows have'} {shared}."


def counting_without_limit(plan: Plan, page: PlanPage) -> Plan | None:
    """The plan that counts the rows there would be without LIMIT; None if LIMIT cut none.

    The limit is that of what is returned, or of the clause before if the result has the same rows.
    """
    pipeline, *others = plan.pipelines
    clauses, last = pipeline.clauses[:-1], pipeline.result
    while clauses and isinstance(clauses[-1], Project) and _keeps_rows(last):
        clauses, last = clauses[:-1], clauses[-1]
    if others or plan.only_exists or not last.limit or page.total != Count(last.limit):
        return None
    return _counting((*clauses, Project(last.columns, last.distinct, skip=last.skip, where=last.where)))


async def limit_note(plan: Plan, page: PlanPage, count: Callable[[Plan], Awaitable[PlanPage]]) -> str:
    """The sentence with the number of rows that a plan `counting_without_limit` counts; empty if LIMIT cut none."""
    total = await _number(plan, count)
    return f"Without LIMIT there are {total:,} rows." if total is not None and total > page.total.value else ""


async def number_of_rows(plan: Plan, count: Callable[[Plan], Awaitable[PlanPage]]) -> int | None:
    """The number of all rows of a plan; None if it is not certain, or not one plan counts them."""
    pipeline, *others = plan.pipelines
    return None if others or plan.only_exists else await _number(_counting(pipeline.clauses), count)


def _counting(clauses: Sequence[Clause]) -> Plan:
    """The plan that counts the rows of these clauses. A store that only matches patterns can run it for a pattern."""
    counted = Aggregate(AggregateFunction.COUNT, None)
    match clauses:
        case (*before, Project() as last) if before and _keeps_rows(last):
            clauses = before
        case (Match(optional=False) as pattern, Project(skip=0, limit=None, where=None) as last):
            keys = [column.value for column in last.columns if not aggregates(column.value)]
            grouped = last.distinct or len(keys) < len(last.columns)
            if grouped and keys in [[Variable(name)] for name in node_patterns(pattern)]:
                clauses, counted = [pattern], Aggregate(AggregateFunction.COUNT, keys[0], distinct=True)
        case _:
            pass
    number = Project((Column("rows", counted),))
    return Plan((Pipeline((*clauses, number)),), in_any_order=True)


async def _number(plan: Plan, count: Callable[[Plan], Awaitable[PlanPage]]) -> int | None:
    """The number that a plan counts; None if it is not certain."""
    found = await count(plan)
    total = found.items[0].cells[0] if found.items and found.stop is Stop.COMPLETE else None
    return total if isinstance(total, int) else None


def _keeps_rows(result: Project) -> bool:
    """Whether a projection has a row for each row before it."""
    filtered = result.distinct or result.skip or result.limit is not None or result.where is not None
    return not filtered and not any(aggregates(column.value) for column in result.columns)


def _sort_keys(plan: Plan) -> list[int]:
    """The places of the columns that the rows are sorted by; empty if there are none, or if one is not returned."""
    result = plan.pipelines[0].result
    places = [_column(result.columns, one.by) for one in result.order]
    found = [place for place in places if place is not None]
    return found if len(found) == len(places) else []


def _column(columns: Sequence[Column], by: object) -> int | None:
    """The place of the column that has the value to sort by."""
    for place, column in enumerate(columns):
        if by in (column.value, Variable(column.name)):
            return place
    return None


async def _lacks(graph: GraphAdapter, columns: Sequence[Column], by: Property, page: PlanPage) -> int:
    """1 if the node of the first row has no such property; 0 if it has, or if that is not known."""
    place = _column(columns, Variable(by.owner))
    node = None if place is None else page.items[0].cells[place]
    if not isinstance(node, Entity) or by.name == NAME or not by.ids:
        return 0
    found = await graph.neighbours([node.id], Direction.OUTGOING, relation_paths=[(one,) for one in by.ids], limit=1)
    return 1 if not found.items and found.stop is Stop.COMPLETE else 0
