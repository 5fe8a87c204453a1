"""Answers of plans as tables: a column for each returned value, two for entities with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgnav_mcp.model import Cell, Count, Entity, PartSize, PlanPage, Triple
from kgnav_mcp.render.columns import CELL, EDGES, ENTITY, SINGLE_COLUMN_CELL, Column, Columns, TruncatedList
from kgnav_mcp.render.table import Table

CYPHER = Column("cypher")
_PROOF = "proof"
_LABEL = "Label"
_EDGES = 12
"""Maximum proof edges shown for one row: a count may rest on thousands."""
_CUT = f"A row shows at most {_EDGES} edges of its proof. To see all, name the edges in the pattern and return them."
_SIZES = 12
"""Maximum parts of a plan whose sizes are listed."""


def entity_columns(*names: str) -> Columns:
    """The columns of a plan that returns entities under these names."""
    return tuple(Column(name, ENTITY, f"{name}{_LABEL}") for name in names)


def plan_table(page: PlanPage, offset: int, *, intro: str = "", notes: Sequence[str] = ()) -> Table:
    """The rows of a plan, with their proof if requested. `intro` and `notes` are printed on the first page only."""
    columns = [
        Column(name, CELL, _unused(f"{name}{_LABEL}", page.columns))
        if any(_has_name(row.cells[place]) for row in page.items)
        else Column(name, SINGLE_COLUMN_CELL)
        for place, name in enumerate(page.columns)
    ]
    with_proof = any(row.proof for row in page.items)
    cut_note = (_CUT,) if any(len(row.proof) > _EDGES for row in page.items) else ()
    if with_proof:
        columns.append(Column(_unused(_PROOF, page.columns), EDGES, truncatable=True))
    return Table(
        "rows",
        columns,
        [(*row.cells, _first_edges(row.proof)) for row in page.items]
        if with_proof
        else [row.cells for row in page.items],
        page.total,
        page.stop,
        offset,
        empty="nothing matches the plan.",
        intro=(intro,) if intro and not offset else (),
        notes=tuple(filter(None, (page.note, *cut_note, *(notes if not offset else ())))),
        items=[replace(row, proof=row.proof[:_EDGES]) for row in page.items] if with_proof else page.items,
    )


def duplicates_note(page: PlanPage) -> tuple[str, ...]:
    """One line with the number of duplicate rows if there are any, which are often unintended."""
    rows = len(page.items)
    repeated = rows - len({row.cells for row in page.items})
    which = "the" if page.total == Count(rows) else "the first"
    line = f"{repeated:,} of {which} {rows:,} rows are duplicates; RETURN DISTINCT removes them."
    return (line,) if repeated else ()


def _unused(name: str, names: Sequence[str]) -> str:
    """The name, with underscores added until no column of the plan has it."""
    return _unused(f"{name}_", names) if name in names else name


def _first_edges(proof: Sequence[Triple]) -> TruncatedList:
    return TruncatedList(tuple(proof[:_EDGES]), max(len(proof) - _EDGES, 0))


def sizes_line(sizes: Sequence[PartSize]) -> str:
    """One line with the sizes of a plan's parts; empty if there are none."""
    texts = [f"{part.part} {part.count}" for part in sizes[:_SIZES]]
    texts += [f"and {len(sizes) - _SIZES} more parts"] if len(sizes) > _SIZES else []
    return f"In the graph: {', '.join(texts)}" if texts else ""


def _has_name(cell: Cell) -> bool:
    return isinstance(cell, Entity) and cell.label not in (None, cell.id)
