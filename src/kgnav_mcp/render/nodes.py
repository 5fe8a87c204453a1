"""Nodes, their neighbours, values and candidates as tables (GraphWalk's primitives, GraphRunner's Find_Node)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Link,
    NearestNeighbours,
    NodeProperties,
    Page,
    RelationFacts,
    Stop,
    Triple,
    ValueFacts,
)
from kgnav_mcp.render.calls import call_text, next_call
from kgnav_mcp.render.columns import DIRECTION, Column, Columns, Kind, Row, Shown, count_text
from kgnav_mcp.render.table import RenderOptions, Table
from kgnav_mcp.render.text import (
    joined,
    literal_text,
    name_and_id,
    node_text,
    printable_id,
    qualifiers_text,
    value_and_label,
)

_CELL_LIMIT = 80

NODE_COLUMNS = Column("node"), Column("name"), Column("labels", optional=True), Column("properties", optional=True)
NEIGHBOR_COLUMNS = (
    Column("node", optional=True),
    DIRECTION,
    Column("relationship"),
    Column("neighbor"),
    Column("neighborName"),
    Column("neighborLabels", optional=True),
    Column("neighborProperties", optional=True),
    Column("relationshipProperties", optional=True),
)
RELATIONSHIP_COLUMNS = Column("relationship"), DIRECTION, Column("rows", Kind.COUNT), Column("examples")
CANDIDATE_COLUMNS = (
    Column("entity"),
    Column("name"),
    Column("types", optional=True),
    Column("description", optional=True),
    Column("degree", Kind.COUNT),
    Column("sitelinks", Kind.INTEGER, optional=True),
    Column("score", Kind.NUMBER),
    Column("matched", optional=True),
)


def value_columns(counted: str) -> Columns:
    """Values, and how many nodes or relationships (`counted`) have each."""
    return Column("value"), Column(counted, Kind.COUNT)


def nodes_table(
    page: Page[NodeProperties], options: RenderOptions, offset: int, *, condition: str, next_step: str
) -> Table:
    """Nodes with all their properties.

    `condition` is what they were asked for by, in words; `next_step` what to do where no node meets it.
    """
    step = _look_at(page.items[0].entity) if page.items else ""
    return Table(
        "nodes",
        NODE_COLUMNS,
        (
            (
                *value_and_label(item.entity, options.literal_limit),
                joined(item.entity.types, options.literal_limit),
                _properties(item.properties, options.literal_limit),
            )
            for item in page.items
        ),
        page.total,
        page.stop,
        offset,
        empty=f"no node {'was found with' if page.note else 'has'} {condition}. {next_step}",
        notes=tuple(filter(None, (page.note, step))),
    )


def _look_at(entity: Entity) -> str:
    """The search that shows what leaves an entity, as the step to take next."""
    return next_call("search", {"entity": entity, "direction": Direction.OUTGOING})


def _properties(triples: Sequence[Triple], limit: int) -> str:
    return "; ".join(f"{printable_id(triple.relation.id)}: {node_text(triple.tail, limit)}" for triple in triples)


def nearest_neighbours_table(
    found: NearestNeighbours,
    options: RenderOptions,
    offset: int,
    *,
    condition: str,
    filters: str = "",
    next_step: str,
    first_cursor: str,
) -> Table:
    """The neighbours of the nodes that meet a condition, or the relations of a hub.

    `condition` and `next_step` as for `nodes_table`; `filters` is what is asked of neighbours, in words; `first_cursor`
    starts paging through a hub's neighbours.
    """
    notes = _more_anchors(found.anchors)
    if found.relations is not None:
        return _hub(found.anchors, found.relations, notes, first_cursor)
    page = found.links or Page((), (), found.anchors.total)
    who = ", ".join(name_and_id(anchor) for anchor in found.anchors.items[:3])
    return Table(
        "neighbors",
        NEIGHBOR_COLUMNS,
        _links(page.items, found, options),
        page.total,
        page.stop,
        offset,
        empty=f"{who} has no neighbors {filters or 'in either direction'}. {_look_at(found.anchors.items[0])}"
        if found.anchors.items
        else f"no node has {condition}. {next_step}",
        notes=notes,
    )


def _links(links: Sequence[Link], found: NearestNeighbours, options: RenderOptions) -> Iterator[Row]:
    several = len(found.anchors.items) > 1
    for link in links:
        triple = link.triple
        far = link.far_end
        known = found.neighbours.get(far.id) if isinstance(far, Entity) else None
        yield (
            printable_id(link.anchor.id) if several else "",
            link.direction,
            printable_id(triple.relation.id),
            *value_and_label(far, options.literal_limit),
            joined(known.entity.types, _CELL_LIMIT) if known else "",
            _properties(known.properties, _CELL_LIMIT) if known else "",
            qualifiers_text(triple.qualifiers, _CELL_LIMIT),
        )


def _hub(anchors: Page[Entity], page: Page[RelationFacts], notes: tuple[str, ...], first_cursor: str) -> Table:
    example = page.items[0]
    call = call_text(
        "search",
        {
            "entity": anchors.items[0],
            "direction": example.direction,
            "properties_to_filter_for": [example.relation],
        },
    )
    step = f"{call}, or this call" if call else "this call"
    return Table(
        "relations",
        RELATIONSHIP_COLUMNS,
        (
            (
                printable_id(facts.relation.id),
                facts.direction,
                facts.count,
                "; ".join(node_text(node, _CELL_LIMIT) for node in facts.examples),
            )
            for facts in page.items
        ),
        page.total,
        page.stop,
        intro=(f"{name_and_id(anchors.items[0])} is a hub, so its relations are listed instead of its neighbors.",),
        notes=(*notes, f'Next: {step} with cursor "{first_cursor}" to page through every neighbor.'),
    )


def _more_anchors(anchors: Page[Entity]) -> tuple[str, ...]:
    note = (anchors.note,) if anchors.note else ()
    if len(anchors.items) < 2:
        return note
    more = "" if len(anchors.items) == anchors.total.value else f" The first {len(anchors.items):,} are followed."
    return (f"{count_text(anchors.total)} nodes have this value.{more}", *note)


def values_table(page: Page[ValueFacts], options: RenderOptions, offset: int, *, counted: str, list_name: str) -> Table:
    """The distinct values of a property, and how many nodes or relationships (`counted`) have each.

    `list_name` says of which property, for a list without any.
    """
    return Table(
        "values",
        value_columns(counted),
        ((literal_text(facts.value, options.literal_limit), facts.count) for facts in page.items),
        page.total,
        page.stop,
        offset,
        empty=f"{list_name} has no values.",
        notes=(page.note,) if page.note else (),
    )


def candidates_table(page: Page[Candidate], options: RenderOptions, *, hint: str) -> Table:
    """The entities that a hint may mean, best first."""
    limit = options.literal_limit
    step = _look_at(page.items[0].entity) if page.items else ""
    more = "not among them? Give more of the name, node_type, or a larger limit." if page.stop is Stop.LIMIT else ""
    return Table(
        "candidates",
        CANDIDATE_COLUMNS,
        (
            (
                *value_and_label(item.entity, limit),
                joined(item.entity.types, limit),
                clipped(item.entity.description or "", limit),
                item.degree,
                None if item.sitelinks is None else Shown(f"{item.sitelinks:,}", item.sitelinks),
                Shown(f"{item.score:.2f}", round(item.score, 2)),
                "" if item.matched in (item.entity.label, item.entity.description) else clipped(item.matched, limit),
            )
            for item in page.items
        ),
        page.total,
        page.stop,
        empty=f"no entity has a name like {echoed(hint)}. Next: find_node with fewer or other words, or "
        "describe_graph() to see what this graph is about.",
        notes=tuple(filter(None, (page.note, "; ".join(filter(None, (step, more)))))),
    )
