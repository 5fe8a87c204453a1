"""What an answer with rows says of their order: the first ones have nothing to be sorted by, or a tie was cut."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Direction, Entity, PlanPage, Stop
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    AggregateFunction,
    Column,
    Compare,
    Comparison,
    Constant,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction
from kgnav_mcp.port import GraphAdapter

_TEXT = 100
"""Characters of the values of a tie that are shown."""


async def about_first_rows(graph: GraphAdapter, plan: Plan, page: PlanPage) -> str:
    """The sentence about first rows that come first only because they have nothing to sort by; empty if they have it.

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
        name = f"{by.owner}.{by.name}"
        return f"{rows} no {name}: DESC begins with rows without it. WHERE {name} IS NOT NULL leaves them out."
    return f"{rows} no {result.columns[place or 0].name}: DESC begins with rows without it."


async def about_cut_tie(plan: Plan, page: PlanPage, count: Callable[[Plan], Awaitable[PlanPage]]) -> str:
    """The sentence about rows that LIMIT left out although they equal the last one in all that they are sorted by.

    Empty if there are none, or if a value to sort by is not returned. `count` runs a plan that counts such rows.
    """
    pipeline, *others = plan.pipelines
    result = pipeline.result
    if others or not result.order or result.skip or page.stop is not Stop.COMPLETE or len(page.items) != result.limit:
        return ""
    places = [_column(result.columns, one.by) for one in result.order]
    keys = [place for place in places if place is not None]
    last = [page.items[-1].cells[place] for place in keys]
    if len(keys) < len(places) or not all(isinstance(value, str | int | float) for value in last):
        return ""
    tied = sum(1 for row in page.items if [row.cells[place] for place in keys] == last)
    names = [result.columns[place].name for place in keys]
    equal = [
        Compare(Variable(name), Comparison.EQUAL, Constant(value))
        for name, value in zip(names, last, strict=True)
        if isinstance(value, str | int | float)
    ]
    rows = Project(result.columns, result.distinct, where=conjunction(equal))
    number = Project((Column("rows", Aggregate(AggregateFunction.COUNT, None)),))
    found = await count(Plan((Pipeline((*pipeline.clauses[:-1], rows, number)),)))
    total = found.items[0].cells[0] if found.items and found.stop is Stop.COMPLETE else None
    if not isinstance(total, int) or total <= tied:
        return ""
    written = [str(value).lower() if isinstance(value, bool) else str(value) for value in last]
    values = clipped(", ".join(f"{name} = {value}" for name, value in zip(names, written, strict=True)), _TEXT)
    more = total - tied
    return f"LIMIT cut a tie: {more:,} more {'row has' if more == 1 else 'rows have'} {values}."


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
    found = await graph.neighbours([node.id], Direction.OUTGOING, paths=[(one,) for one in by.ids], limit=1)
    return 0 if found.items else 1
