"""Answers of plans as tables: a column for each value that was returned, two where it is an entity with a name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Cell, Entity, PartSize, Path, PlanPage, Qualifier, Triple
from kgnav_mcp.render.table import RenderOptions, Table, count_text
from kgnav_mcp.render.text import UNNAMED, name_and_id, node_text, printable_id, qualifiers_text

_PROOF = "proof"
_LABEL = "Label"
_QUALIFIER_LIMIT = 60
_SIZES = 12
"""Parts of a plan whose sizes are told."""


def plan_table(page: PlanPage, options: RenderOptions, offset: int, *, notes: Sequence[str] = ()) -> Table:
    """The rows of a plan, with the size of each of its parts and, where they were asked for, the edges of each row."""
    names = [any(_has_name(row.cells[n]) for row in page.items) for n in range(len(page.columns))]
    columns = [
        name
        for column, named in zip(page.columns, names, strict=True)
        for name in ((column, f"{column}{_LABEL}") if named else (column,))
    ]
    proved = any(row.proof for row in page.items)

    def cells() -> list[Sequence[str]]:
        rows: list[Sequence[str]] = []
        for row in page.items:
            texts = [
                text
                for cell, named in zip(row.cells, names, strict=True)
                for text in _texts(cell, options.literal_limit, named=named)
            ]
            rows.append([*texts, "; ".join(map(triple_text, row.proof))] if proved else texts)
        return rows

    sizes = _sizes(page.sizes) if not offset else ()
    return Table(
        "rows",
        (*columns, _PROOF) if proved else columns,
        cells(),
        page.total,
        page.stop,
        offset,
        empty="nothing fits the plan.",
        intro=sizes,
        notes=tuple(filter(None, (page.note, *(notes if not offset else ())))),
    )


def _sizes(sizes: Sequence[PartSize]) -> tuple[str, ...]:
    """One line with the size of each part."""
    if not sizes:
        return ()
    told = ", ".join(f"{part.part} {count_text(part.count)}" for part in sizes[:_SIZES])
    more = f", and {len(sizes) - _SIZES} more parts" if len(sizes) > _SIZES else ""
    return (f"Parts: {told}{more}",)


def _has_name(cell: Cell) -> bool:
    return isinstance(cell, Entity) and cell.label not in (None, cell.id)


def _texts(cell: Cell, limit: int, *, named: bool) -> tuple[str, ...]:
    """A value in its column; an entity in two where the column has names."""
    if not named:
        return (cell_text(cell, limit),)
    if not isinstance(cell, Entity):
        return cell_text(cell, limit), ""
    return printable_id(cell.id), UNNAMED if cell.label is None else clipped(cell.label, limit)


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
