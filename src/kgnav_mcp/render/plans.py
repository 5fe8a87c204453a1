"""Answers of plans as tables: a column for each value that was returned, two where it is an entity with a name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Cell, Count, Entity, PartSize, Path, PlanPage, Qualifier, Triple
from kgnav_mcp.render.columns import Column, Columns, Kind, Row, Shown, TableCell, cell_value, count_text
from kgnav_mcp.render.table import RenderOptions, Table
from kgnav_mcp.render.text import UNNAMED, name_and_id, node_text, printable_id, qualifiers_text

_PROOF = "proof"
_LABEL = "Label"
_QUALIFIER_LIMIT = 60
_SIZES = 12
"""Parts of a plan whose sizes are told."""


def entity_columns(*names: str) -> Columns:
    """The columns of a plan that returns entities under these names: id and, where one has a name, that."""
    return tuple(one for name in names for one in (Column(name), Column(f"{name}{_LABEL}", optional=True)))


def plan_table(page: PlanPage, options: RenderOptions, offset: int, *, notes: Sequence[str] = ()) -> Table:
    """The rows of a plan, with the size of each of its parts and, where they were asked for, the edges of each row."""
    names = [any(_has_name(row.cells[n]) for row in page.items) for n in range(len(page.columns))]
    columns = [
        Column(name, Kind.ANY)
        for column, named in zip(page.columns, names, strict=True)
        for name in ((column, _unused(f"{column}{_LABEL}", page.columns)) if named else (column,))
    ]
    proved = any(row.proof for row in page.items)

    def cells() -> list[Row]:
        rows: list[Row] = []
        for row in page.items:
            shown = [
                part
                for cell, named in zip(row.cells, names, strict=True)
                for part in _parts(cell, options.literal_limit, named=named)
            ]
            rows.append([*shown, "; ".join(map(triple_text, row.proof))] if proved else shown)
        return rows

    sizes = _sizes(page.sizes) if not offset else ()
    return Table(
        "rows",
        [*columns, Column(_unused(_PROOF, page.columns))] if proved else columns,
        cells(),
        page.total,
        page.stop,
        offset,
        empty="nothing fits the plan.",
        intro=sizes,
        notes=tuple(filter(None, (page.note, *(notes if not offset else ())))),
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


def _sizes(sizes: Sequence[PartSize]) -> tuple[str, ...]:
    """One line with the size of each part."""
    if not sizes:
        return ()
    told = ", ".join(f"{part.part} {count_text(part.count)}" for part in sizes[:_SIZES])
    more = f", and {len(sizes) - _SIZES} more parts" if len(sizes) > _SIZES else ""
    return (f"Parts: {told}{more}",)


def _has_name(cell: Cell) -> bool:
    return isinstance(cell, Entity) and cell.label not in (None, cell.id)


def _parts(cell: Cell, limit: int, *, named: bool) -> tuple[TableCell, ...]:
    """A value in its column; an entity in two where the column has names."""
    if not named:
        return (_shown(cell, limit),)
    if not isinstance(cell, Entity):
        return _shown(cell, limit), ""
    return printable_id(cell.id), UNNAMED if cell.label is None else clipped(cell.label, limit)


def _shown(cell: Cell, limit: int) -> TableCell:
    """A value as text, and as JSON has it: an entity, an edge and a path as text, and so a list that was clipped."""
    text = cell_text(cell, limit)
    match cell:
        case None:
            return None
        case bool() | int():
            return Shown(text, cell)
        case float():
            return Shown(text, cell) if isfinite(cell) else text  # JSON has no infinity
        case tuple() if len(text) <= limit:
            return Shown(text, [cell_value(_shown(each, limit)) for each in cell])
        case _:
            return text


def cell_text(cell: Cell, limit: int) -> str:
    """Any value in one cell; nothing for null."""
    match cell:
        case None:
            text = ""
        case bool():
            text = "true" if cell else "false"
        case Entity():
            text = name_and_id(cell)
        case Triple():
            text = triple_text(cell)
        case Path():
            text = _path_text(cell)
        case tuple():
            text = clipped(f"[{', '.join(cell_text(each, limit) for each in cell)}]", limit)
        case _:
            text = clipped(str(cell), limit)
    return text


def _path_text(path: Path) -> str:
    """`ada (ex:ada) -[knows]-> bob (ex:bob)`: each edge an arrow in the direction in which the graph has it."""
    texts = [name_and_id(path.nodes[0])]
    for (start, end), edge in zip(pairwise(path.nodes), path.edges, strict=True):
        label = clipped(edge.relation.id, _QUALIFIER_LIMIT)
        texts += [f"-[{label}]->" if edge.head.id == start.id else f"<-[{label}]-", name_and_id(end)]
    return " ".join(texts)


def triple_text(triple: Triple) -> str:
    """`[ada (ex:ada), knows, bob (ex:bob)] (since: 1999)`."""
    parts = name_and_id(triple.head), printable_id(triple.relation.id), node_text(triple.tail, _QUALIFIER_LIMIT)
    return f"[{', '.join(parts)}]{_qualified(triple.qualifiers)}"


def _qualified(qualifiers: tuple[Qualifier, ...]) -> str:
    return f" ({qualifiers_text(qualifiers, _QUALIFIER_LIMIT)})" if qualifiers else ""
