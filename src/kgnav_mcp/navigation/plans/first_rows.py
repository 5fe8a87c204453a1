"""What an answer with rows says of their order: that the first ones have no value to be sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from kgnav_mcp.model import Direction, Entity, PlanPage
from kgnav_mcp.plan import NAME, Column, Plan, Property, Variable
from kgnav_mcp.port import GraphAdapter


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
