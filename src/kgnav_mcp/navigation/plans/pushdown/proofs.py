"""Proof by the store: a plan that also returns the edges that prove each of its rows.

The proof of an aggregated or distinct row has the edges of all rows that it was made of.
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
"""Prefix of the names of columns with edges. No variable has such a name."""


def with_edge_columns(plan: Plan) -> Plan | None:
    """The plan with columns of edges after its own; None if one query cannot return them.

    It cannot for unions, whose equal rows would become distinct, and for paths of which only the ends are known.
    """
    pipeline, *others = plan.pipelines
    if others or plan.only_exists:
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
    """A projection that also returns these edges, and the names of their columns."""
    if not edges:
        return project, []
    grouped = _groups(project)
    names = [f"{_PROOF}{place}" for place, _ in enumerate(edges)]
    edge_columns = (
        Column(name, Aggregate(AggregateFunction.COLLECT, Variable(edge), distinct=True) if grouped else Variable(edge))
        for name, edge in zip(names, edges, strict=True)
    )
    return replace(project, columns=(*project.columns, *edge_columns), distinct=False), names


def _groups(project: Project) -> bool:
    """Whether a projection merges several rows into one."""
    return project.distinct or any(aggregates(column.value) for column in project.columns)


def count_of_grouped_rows(plan: Plan) -> Plan | None:
    """A plan that counts the rows whose edges are collected at the first grouping; None if nothing is grouped."""
    (pipeline,) = plan.pipelines
    for place, clause in enumerate(pipeline.clauses):
        if isinstance(clause, Project) and _groups(clause):
            count = Project((Column("rows", Aggregate(AggregateFunction.COUNT, None)),))
            return Plan((Pipeline((*pipeline.clauses[:place], count)),))
    return None


def with_proof(page: PlanPage, columns: Sequence[str]) -> PlanPage:
    """The answer of a plan made by `with_edge_columns`, with edges moved from its columns to the proof of rows."""
    width = len(columns)
    rows = (PlanRow(row.cells[:width], tuple(dict.fromkeys(_interleaved(row.cells[width:])))) for row in page.items)
    return replace(page, items=tuple(rows), columns=tuple(columns))


def _interleaved(cells: Sequence[Cell]) -> Iterator[Triple]:
    """The first edge of each cell, then the second ones, and so on, so that edges of one match tend to be adjacent."""
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
