"""GraphWalk's maze: a graph of cells that is explored one cell at a time, with the marks in the trail.

A property of each cell is its distance to the goal; a wall has a negative one. The paper writes marks into the graph;
here the steps of the trail are the marks, and the store is not changed (GraphWalk, 4.5 and appendix E).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.errors import InvalidArgument, UnknownName
from kgnav_mcp.model import (
    AnchoredPage,
    Certainty,
    Count,
    Entity,
    Link,
    Literal,
    MazeCell,
    NextCells,
    Page,
    Relation,
    Stop,
    Trail,
    Triple,
    ValueFacts,
)
from kgnav_mcp.navigation.nodes_by_value import has_label
from kgnav_mcp.navigation.pages import page_after, pages_of_whole_list, refuse_partial
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import FarEndKind, GraphAdapter, ValueOwner
from kgnav_mcp.port.lists import all_pages
from kgnav_mcp.values.scalars import is_number

TOOL = "get_possible_next_cells"
DISTANCE = "euclidean_distance"
"""The property of a cell with its distance to the goal, in cells; negative for a wall."""

_ROWS = 10_000
"""Rows that are read at once."""
_refuse_partial = partial(
    refuse_partial,
    message="the store did not return all cells around this one with their distances",
    next_step="Try again.",
)


async def possible_next_cells(graph: GraphAdapter, trail: Trail, node_id: str) -> NextCells:
    """Enter a cell and return the cells around it (GraphWalk, appendix E). Recording this call marks the cell.

    Raises:
        UnknownEntity: there is no such cell.
        InvalidArgument: the cell is a wall.
        StoreTimeout, Unsupported: the store did not return all cells around it, or not all distances.
    """
    entity = await resolve_entity(graph, node_id)
    links = await _links(graph, [entity.id], FarEndKind.ENTITY)
    cells = {link.far_end.id: link.far_end for link in links if isinstance(link.far_end, Entity)}
    cells.pop(entity.id, None)
    goal_distances = await distances(graph, [entity.id, *cells])
    if _is_wall(goal_distances.get(entity.id)):
        open_cells = [id_ for id_ in cells if not _is_wall(goal_distances.get(id_))]
        way_out = f"Continue from one of: {', '.join(open_cells)}." if open_cells else "Continue from another cell."
        raise InvalidArgument(f"{entity.id} is a wall: it cannot be entered", next_step=way_out)
    marks = mark_order(trail)
    entered = MazeCell(entity, goal_distances.get(entity.id), marks.get(entity.id, len(marks) + 1))
    open_neighbours = [MazeCell(cell, goal_distances.get(cell.id), marks.get(cell.id)) for cell in cells.values()]
    open_neighbours = [cell for cell in open_neighbours if not _is_wall(cell.distance)]
    open_neighbours.sort(key=lambda cell: (cell.distance is None, cell.distance or 0.0, cell.entity.id))
    shown = {cell.entity.id for cell in open_neighbours}
    triples = [link.triple for link in links if isinstance(link.far_end, Entity) and link.far_end.id in shown]
    return NextCells(entered, tuple(open_neighbours), tuple(dict.fromkeys(triples)))


def mark_order(trail: Trail) -> Mapping[str, int]:
    """The marked cells of a trail, numbered from 1 in the order in which they were first entered."""
    entered = (id_ for step in trail.steps if step.tool == TOOL and not step.failed for id_ in step.visited)
    return {cell: number for number, cell in enumerate(dict.fromkeys(entered), 1)}


def distance_of(property_: Triple) -> float | None:
    """The distance to the goal that a property of a cell states; None if it is another property, or no number."""
    relation, value = property_.relation, property_.tail
    return _number(value) if is_named(relation, DISTANCE) and isinstance(value, Literal) else None


def _number(value: Literal) -> float | None:
    return float(value.text) if is_number(value.text) else None


def _is_open(distance: Literal) -> bool:
    """Whether this is the distance of a cell that is not a wall."""
    number = _number(distance)
    return number is not None and not _is_wall(number)


def is_named(relation: Relation, name: str) -> bool:
    """Whether a property has this name, with or without a prefix."""
    return name in (relation.label, relation.id.rpartition(":")[2])


def _is_wall(distance: float | None) -> bool:
    return distance is not None and distance < 0


async def distances(graph: GraphAdapter, ids: list[str]) -> Mapping[str, float]:
    """The distances of those cells that have one.

    Raises:
        StoreTimeout, Unsupported: the store did not return all of them.
    """
    return {
        link.anchor.id: distance
        for link in await _links(graph, ids, FarEndKind.LITERAL)
        if (distance := distance_of(link.triple)) is not None
    }


async def _links(graph: GraphAdapter, ids: list[str], kind: FarEndKind) -> list[Link]:
    def read(after: str | None) -> Awaitable[AnchoredPage[Link]]:
        return graph.neighbours(ids, None, far_end_kind=kind, limit=_ROWS, after=after)

    return [link async for page in pages_of_whole_list(read, _refuse_partial) for link in page.items]


MARKED, MARK_ORDER = Relation("marked", "marked"), Relation("mark_order", "mark_order")
MARKS = frozenset({MARKED.id, MARK_ORDER.id})
_UNMARKED = -1
_VALUES = 1_000
"""Distinct distances that one call of the adapter reads."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The number of each marked cell, from 1; `order` is None if the call does not say in which trail they are."""

    order: Mapping[str, int] | None

    def added_to(self, node: str, properties: Sequence[Triple]) -> list[Triple]:
        """The properties of a node with its marks, if it is a cell; the store's own `marked` is replaced."""
        if self.order is None:
            return [*properties]
        stated = [distance for property_ in properties if (distance := distance_of(property_)) is not None]
        if node not in self.order and not (stated and min(stated) >= 0):
            return [*properties]
        number = self.order.get(node, _UNMARKED)
        others = [
            property_ for property_ in properties if not any(is_named(property_.relation, name) for name in MARKS)
        ]
        head = others[0].head if others else Entity(node)
        marked = Literal("true" if node in self.order else "false", "boolean")
        return [*others, Triple(head, MARKED, marked), Triple(head, MARK_ORDER, Literal(str(number), "integer"))]

    async def nodes(
        self, graph: GraphAdapter, label: str | None, name: str, value: str, *, after: str | None = None
    ) -> Page[Entity] | None:
        """The marked cells, or the one with a number; None for any other property.

        Raises:
            InvalidArgument: the trail of the marks is unknown, or cells without a mark are selected.
        """
        order = await self._order(graph, name)
        if order is None:
            return None
        by_flag = name.casefold() == MARKED.id
        if value.strip().casefold() in (("false",) if by_flag else _written(_UNMARKED)):
            raise InvalidArgument(
                "nodes cannot be selected by a missing mark, because marks are in the trail, not in the store",
                next_step=f"Select cells by label or another property and read {MARKED.id} of each.",
            )
        marked_cells = [
            cell
            for cell, number in order.items()
            if value.strip().casefold() in (("true",) if by_flag else _written(number))
        ]
        return page_after([*(await _cells(graph, label, marked_cells)).values()], after)

    async def values(
        self, graph: GraphAdapter, name: str, label: str | None, owner: ValueOwner, *, after: str | None = None
    ) -> Page[ValueFacts] | None:
        """The values of `marked` or `mark_order`, with the number of cells; None as in `nodes`.

        Raises:
            InvalidArgument: as `nodes`, or the cells cannot be counted.
            UnknownName: the graph has no such label.
        """
        order = await self._order(graph, name) if owner is ValueOwner.NODE else None
        if order is None:
            return None
        cells = [*await _cells(graph, label, [*order])]
        path_cells = await _path_cells(graph, label)
        if path_cells is None:
            raise InvalidArgument(
                f"the cells without a mark cannot be counted, because {DISTANCE} does not distinguish cells from walls",
                next_step=f'Select the marked ones by property_name="{MARKED.id}", property_value=true.',
            )
        unmarked = path_cells - len(await distances(graph, cells))
        if name.casefold() == MARKED.id:
            datatype, counts = "boolean", [("false", unmarked), ("true", len(cells))]
        else:
            datatype, counts = "integer", [(str(_UNMARKED), unmarked), *((str(order[cell]), 1) for cell in cells)]
        return page_after([ValueFacts(Literal(text, datatype), Count(n)) for text, n in counts if n], after)

    async def _order(self, graph: GraphAdapter, name: str) -> Mapping[str, int] | None:
        """The marks, if the property is one of theirs and the graph is a maze."""
        if name.casefold() not in MARKS or not (self.order or await _has_distances(graph)):
            return None
        if self.order is None:
            raise InvalidArgument(
                f"{name} is kept in a trail, and this call does not say in which",
                next_step="Pass as `trail` the trail on which the cells were entered.",
            )
        return self.order


def _written(number: int) -> tuple[str, ...]:
    return str(number), f"{number}.0"


async def _has_distances(graph: GraphAdapter) -> bool:
    try:
        await graph.nodes(None, DISTANCE, "", limit=0)
    except UnknownName:
        return False
    return True


async def _cells(graph: GraphAdapter, label: str | None, ids: Sequence[str]) -> dict[str, Entity]:
    """Those of the cells that have the label, in their order."""
    if label is not None:
        await graph.nodes(label, None, None, limit=0)  # raises UnknownName
    described = await graph.describe(ids)
    cells = {cell: described[cell] for cell in ids if cell in described}
    kinds = {entity.types for entity in cells.values()}
    having = {types for types in kinds if label is None or await has_label(graph, label, types)}
    return {cell: entity for cell, entity in cells.items() if entity.types in having}


async def _path_cells(graph: GraphAdapter, label: str | None) -> int | None:
    """The number of cells that are not walls, by their distances; None if it is not known exactly."""
    if not await _has_distances(graph):
        return None
    number = 0
    async for page in all_pages(
        lambda after: graph.values(DISTANCE, label, ValueOwner.NODE, limit=_VALUES, after=after)
    ):
        counts = Count.sum(facts.count for facts in page.items if _is_open(facts.value))
        if counts.certainty is not Certainty.EXACT or page.stop not in (Stop.COMPLETE, Stop.LIMIT):
            return None
        number += counts.value
    return number
