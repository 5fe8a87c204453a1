"""GraphWalk's maze: a graph of cells that is walked one cell at a time, with the marks in the trail.

A property of each cell is its distance to the goal; a wall has a negative one. The paper writes marks into the graph;
here the steps of the trail are the marks, and the store is not changed (GraphWalk, maze experiment).
"""

from __future__ import annotations

from collections.abc import Mapping

from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import Entity, Literal, MazeCell, NextCells, Relation, Stop, Trail, Triple
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import FarEndKind, GraphAdapter

TOOL = "get_possible_next_cells"
DISTANCE = "euclidean_distance"
"""The property of a cell with its distance to the goal, in cells; negative for a wall."""

_CELLS = 1_000
"""Neighbours of a cell that are read at most."""


async def possible_next_cells(graph: GraphAdapter, trail: Trail, node_id: str) -> NextCells:
    """Enter a cell and return the cells around it. Recording this call on the trail marks the cell.

    Raises:
        UnknownEntity: there is no such cell.
        InvalidArgument: the cell is a wall.
    """
    entity = await resolve_entity(graph, node_id)
    page = await graph.neighbours([entity.id], None, far_ends=FarEndKind.ENTITY, limit=_CELLS)
    cells = {link.far_end.id: link.far_end for link in page.items if isinstance(link.far_end, Entity)}
    cells.pop(entity.id, None)
    known = await distances(graph, [entity.id, *cells])
    if _is_wall(known.get(entity.id)):
        open_cells = [one for one in cells if not _is_wall(known.get(one))]
        way_out = f"Go on from one of: {', '.join(open_cells)}." if open_cells else "Go on from another cell."
        raise InvalidArgument(f"{entity.id} is a wall: it cannot be entered", next_step=way_out)
    marks = mark_order(trail)
    own = MazeCell(entity, known.get(entity.id), marks.get(entity.id, len(marks) + 1))
    open_neighbours = [MazeCell(one, known.get(one.id), marks.get(one.id)) for one in cells.values()]
    open_neighbours = [cell for cell in open_neighbours if not _is_wall(cell.distance)]
    open_neighbours.sort(key=lambda cell: (cell.distance is None, cell.distance or 0.0, cell.entity.id))
    shown = {cell.entity.id for cell in open_neighbours}
    triples = [link.triple for link in page.items if isinstance(link.far_end, Entity) and link.far_end.id in shown]
    return NextCells(own, tuple(open_neighbours), tuple(dict.fromkeys(triples)))


def mark_order(trail: Trail) -> Mapping[str, int]:
    """The marked cells of a trail, numbered from 1 in the order in which they were first entered."""
    entered = (one for step in trail.steps if step.tool == TOOL and not step.failed for one in step.visited)
    return {cell: number for number, cell in enumerate(dict.fromkeys(entered), 1)}


def distance_of(property_: Triple) -> float | None:
    """The distance to the goal that a property of a cell states; None if it is another property."""
    relation, value = property_.relation, property_.tail
    return float(value.text) if is_named(relation, DISTANCE) and isinstance(value, Literal) else None


def is_named(relation: Relation, name: str) -> bool:
    """Whether a property has this name, with or without a prefix."""
    return name in (relation.label, relation.id.rpartition(":")[2])


def _is_wall(distance: float | None) -> bool:
    return distance is not None and distance < 0


async def distances(graph: GraphAdapter, ids: list[str]) -> Mapping[str, float]:
    """The distances of those cells that have one."""
    found: dict[str, float] = {}
    after = None
    while True:
        page = await graph.neighbours(ids, None, far_ends=FarEndKind.LITERAL, limit=10 * _CELLS, after=after)
        for link in page.items:
            if (distance := distance_of(link.triple)) is not None:
                found[link.anchor.id] = distance
        if page.stop is not Stop.LIMIT or not page.items:
            return found
        after = page.positions[-1]
