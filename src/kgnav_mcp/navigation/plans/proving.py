"""Proof by the store: a plan that returns, beside its own columns, the edges that each of its rows rests on.

A row of a count, or one that stands for several equal ones, rests on the edges of all rows that it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from kgnav_mcp.model import Cell, PlanPage, PlanRow, Triple
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    Match,
    PathKind,
    Pipeline,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates

_PROOF = "\0proof"
"""Begins the names of columns with edges. No variable is called so."""


def proved(plan: Plan) -> Plan | None:
    """The plan with columns of edges behind its own; None where no columns of one query can hold them.

    These are unions, whose rows they would tell apart, and paths of which only the ends are told.
    """
    pipeline, *others = plan.pipelines
    if others or plan.asks:
        return None
    clauses: list[Clause] = []
    edges: list[str] = []
    for clause in pipeline.clauses:
        match clause:
            case Match():
                if any(edge.path is not None and edge.path.kind is not PathKind.TRAILS for edge in clause.edges):
                    return None
                edges += (edge.variable for edge in clause.edges if edge.variable not in edges)
                clauses.append(clause)
            case Project():
                new, edges = _with_edges(clause, edges)
                clauses.append(new)
            case _:
                clauses.append(clause)
    return Plan((Pipeline(tuple(clauses)),))


def _with_edges(project: Project, edges: Sequence[str]) -> tuple[Project, list[str]]:
    """A projection that keeps these edges, and what they are called behind it."""
    if not edges:
        return project, []
    grouped = _groups(project)
    names = [f"{_PROOF}{place}" for place, _ in enumerate(edges)]
    kept = (
        Column(name, Aggregate(AggregateFunction.COLLECT, Variable(edge), distinct=True) if grouped else Variable(edge))
        for name, edge in zip(names, edges, strict=True)
    )
    return replace(project, columns=(*project.columns, *kept), distinct=False), names


def _groups(project: Project) -> bool:
    """Whether one row stands for several."""
    return project.distinct or any(aggregates(column.value) for column in project.columns)


def collected(plan: Plan) -> Plan | None:
    """The number of rows whose edges are collected where a plan first groups its rows; None where it does not."""
    (pipeline,) = plan.pipelines
    for place, clause in enumerate(pipeline.clauses):
        if isinstance(clause, Project) and _groups(clause):
            count = Project((Column("rows", Aggregate(AggregateFunction.COUNT, None)),))
            return Plan((Pipeline((*pipeline.clauses[:place], count)),))
    return None


def with_proof(page: PlanPage, columns: Sequence[str]) -> PlanPage:
    """The answer of a plan that was proved, as one of the plan with these columns."""
    width = len(columns)
    rows = (PlanRow(row.cells[:width], tuple(dict.fromkeys(_in_turn(row.cells[width:])))) for row in page.items)
    return replace(page, items=tuple(rows), columns=tuple(columns))


def _in_turn(cells: Sequence[Cell]) -> Iterator[Triple]:
    """The first edge of each cell, then the second ones, and so on: those of one row of several are often together."""
    for edges in zip_longest(*map(_edges, cells)):
        yield from (edge for edge in edges if edge is not None)


def _edges(cell: Cell) -> Iterator[Triple]:
    match cell:
        case Triple():
            yield cell
        case tuple():
            yield from (edge for each in cell for edge in _edges(each))
        case _:
            pass
