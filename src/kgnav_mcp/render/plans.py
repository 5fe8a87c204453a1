"""Answers of plans as tables: a column for each value that was returned, two where it is an entity with a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgnav_mcp.model import Cell, Count, Entity, PartSize, PlanPage, Triple
from kgnav_mcp.render.columns import Beginning, Column, Columns
from kgnav_mcp.render.kinds import CELL, EDGES, ENTITY, WHOLE_CELL
from kgnav_mcp.render.table import Table

_PROOF = "proof"
_LABEL = "Label"
_EDGES = 12
"""Edges of one row that are shown: a count may rest on thousands."""
_CUT = f"Of the edges that a row rests on {_EDGES} are shown; return the edges themselves, under a name, to see all."
_SIZES = 12
"""Parts of a plan whose sizes are told."""


def entity_columns(*names: str) -> Columns:
    """The columns of a plan that returns entities under these names."""
    return tuple(Column(name, ENTITY, f"{name}{_LABEL}") for name in names)


def plan_table(page: PlanPage, offset: int, *, intro: str = "", notes: Sequence[str] = ()) -> Table:
    """The rows of a plan and, where they were asked for, the edges of each; `intro` and notes stand on a first page."""
    columns = [
        Column(name, CELL, _unused(f"{name}{_LABEL}", page.columns))
        if any(_has_name(row.cells[place]) for row in page.items)
        else Column(name, WHOLE_CELL)
        for place, name in enumerate(page.columns)
    ]
    proved = any(row.proof for row in page.items)
    cut = (_CUT,) if any(len(row.proof) > _EDGES for row in page.items) else ()
    if proved:
        columns.append(Column(_unused(_PROOF, page.columns), EDGES, cut=True))
    return Table(
        "rows",
        columns,
        [(*row.cells, _shown(row.proof)) for row in page.items] if proved else [row.cells for row in page.items],
        page.total,
        page.stop,
        offset,
        empty="nothing fits the plan.",
        intro=(intro,) if intro and not offset else (),
        notes=tuple(filter(None, (page.note, *cut, *(notes if not offset else ())))),
        items=[replace(row, proof=row.proof[:_EDGES]) for row in page.items] if proved else page.items,
    )


def repeats(page: PlanPage) -> tuple[str, ...]:
    """One line that says how many rows are repeats of others, where some are: often they were not meant."""
    rows = len(page.items)
    repeated = rows - len({row.cells for row in page.items})
    which = "the" if page.total == Count(rows) else "the first"
    line = f"{repeated:,} of {which} {rows:,} rows are repeats; RETURN DISTINCT leaves one of each."
    return (line,) if repeated else ()


def _unused(name: str, names: Sequence[str]) -> str:
    """A name for a column of ours, other than the plan's own."""
    return _unused(f"{name}_", names) if name in names else name


def _shown(proof: Sequence[Triple]) -> Beginning:
    return Beginning(tuple(proof[:_EDGES]), max(len(proof) - _EDGES, 0))


def sizes_line(sizes: Sequence[PartSize]) -> str:
    """One line with the sizes of parts; empty without any."""
    told = [f"{part.part} {part.count}" for part in sizes[:_SIZES]]
    told += [f"and {len(sizes) - _SIZES} more parts"] if len(sizes) > _SIZES else []
    return f"In the graph: {', '.join(told)}" if told else ""


def _has_name(cell: Cell) -> bool:
    return isinstance(cell, Entity) and cell.label not in (None, cell.id)
