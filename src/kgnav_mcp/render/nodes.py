"""Nodes, their neighbours, values and candidates as sheets (GraphWalk's primitives, GraphRunner's Find_Node)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Link,
    Literal,
    NearestNeighbours,
    NodeProperties,
    Page,
    RelationFacts,
    Stop,
    Triple,
)
from kgnav_mcp.render.calls import call_text, next_call
from kgnav_mcp.render.sheet import Sheet, Style, count_text
from kgnav_mcp.render.text import identifier, listed, literal, named, qualifiers, shown, value_and_label

_CELL_LIMIT = 80


def nodes(page: Page[NodeProperties], style: Style, seen: int, *, asked: str, otherwise: str) -> Sheet:
    """Nodes with all their properties; `asked` and `otherwise` are the condition and the step to take if none fits."""
    step = _look_at(page.items[0].entity) if page.items else ""
    return Sheet(
        "nodes",
        ("node", "name", "labels", "properties"),
        (
            (
                *value_and_label(item.entity, style.literal_limit),
                listed(item.entity.types, style.literal_limit),
                _properties(item.properties, style.literal_limit),
            )
            for item in page.items
        ),
        page.total,
        page.stop,
        seen,
        empty=f"no node {'was found with' if page.note else 'has'} {asked}. {otherwise}",
        notes=tuple(filter(None, (page.note, step))),
        optional=frozenset({"labels", "properties"}),
    )


def _look_at(entity: Entity) -> str:
    """The search that shows what leaves an entity, as the step to take next."""
    return next_call("search", {"entity": entity, "direction": Direction.OUTGOING})


def _properties(triples: Sequence[Triple], limit: int) -> str:
    return "; ".join(f"{identifier(triple.relation.id)}: {shown(triple.tail, limit)}" for triple in triples)


def nearest(
    found: NearestNeighbours, style: Style, seen: int, *, asked: str, otherwise: str, first_cursor: str
) -> Sheet:
    """The neighbours of the picked nodes, or the relations of a hub. `first_cursor` pages through a hub's rows.

    `asked` and `otherwise` are the condition that picks the nodes and the step to take if it picks none.
    """
    notes = _more_anchors(found.anchors)
    if found.relations is not None:
        return _hub(found.anchors, found.relations, notes, first_cursor)
    page = found.links or Page((), (), found.anchors.total)
    who = ", ".join(named(anchor) for anchor in found.anchors.items[:3])
    return Sheet(
        "neighbors",
        (
            "node",
            "direction",
            "relationship",
            "neighbor",
            "neighborName",
            "neighborProperties",
            "relationshipProperties",
        ),
        _links(page.items, found, style),
        page.total,
        page.stop,
        seen,
        empty=f"{who} has no neighbors in either direction. {_look_at(found.anchors.items[0])}"
        if found.anchors.items
        else f"no node has {asked}. {otherwise}",
        notes=notes,
        optional=frozenset({"node", "neighborProperties", "relationshipProperties"}),
    )


def _links(links: Sequence[Link], found: NearestNeighbours, style: Style) -> Iterator[Sequence[str]]:
    several = len(found.anchors.items) > 1
    for link in links:
        triple = link.triple
        far = triple.far_end(link.direction)
        near = triple.head if far is triple.tail else triple.tail
        own = found.properties.get(far.id, ()) if isinstance(far, Entity) else ()
        yield (
            identifier(near.id) if several and isinstance(near, Entity) else "",
            link.direction,
            identifier(triple.relation.id),
            *value_and_label(far, style.literal_limit),
            _properties(own, _CELL_LIMIT),
            qualifiers(triple.qualifiers, _CELL_LIMIT),
        )


def _hub(anchors: Page[Entity], page: Page[RelationFacts], notes: tuple[str, ...], first_cursor: str) -> Sheet:
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
    return Sheet(
        "relations",
        ("relationship", "direction", "rows", "examples"),
        (
            (
                identifier(facts.relation.id),
                facts.direction,
                count_text(facts.count),
                "; ".join(shown(node, _CELL_LIMIT) for node in facts.examples),
            )
            for facts in page.items
        ),
        page.total,
        page.stop,
        intro=(f"{named(anchors.items[0])} is a hub, so its relations are listed instead of its neighbors.",),
        notes=(*notes, f'Next: {step} with cursor "{first_cursor}" to page through every neighbor.'),
    )


def _more_anchors(anchors: Page[Entity]) -> tuple[str, ...]:
    said = (anchors.note,) if anchors.note else ()
    if len(anchors.items) < 2:
        return said
    more = "" if len(anchors.items) == anchors.total.value else f" The first {len(anchors.items):,} are followed."
    return (f"{count_text(anchors.total)} nodes have this value.{more}", *said)


def values(page: Page[Literal], style: Style, seen: int, *, asked: str) -> Sheet:
    """The distinct values of a property."""
    return Sheet(
        "values",
        ("value",),
        ((literal(value, style.literal_limit),) for value in page.items),
        page.total,
        page.stop,
        seen,
        empty=f"{asked} has no values.",
        notes=(page.note,) if page.note else (),
    )


def candidates(page: Page[Candidate], style: Style, *, hint: str) -> Sheet:
    """The entities a hint may mean, best first."""
    limit = style.literal_limit
    step = _look_at(page.items[0].entity) if page.items else ""
    more = "not among them? Give more of the name, node_type, or a larger limit." if page.stop is Stop.LIMIT else ""
    return Sheet(
        "candidates",
        ("entity", "name", "types", "description", "degree", "sitelinks", "score", "matched"),
        (
            (
                *value_and_label(item.entity, limit),
                listed(item.entity.types, limit),
                clipped(item.entity.description or "", limit),
                count_text(item.degree),
                "" if item.sitelinks is None else f"{item.sitelinks:,}",
                f"{item.score:.2f}",
                "" if item.matched in (item.entity.label, item.entity.description) else clipped(item.matched, limit),
            )
            for item in page.items
        ),
        page.total,
        page.stop,
        empty=f"no entity has a name like {echoed(hint)}. Next: find_node with fewer or other words, or "
        "describe_graph() to see what this graph is about.",
        notes=tuple(filter(None, (page.note, "; ".join(filter(None, (step, more)))))),
        optional=frozenset({"types", "description", "sitelinks", "matched"}),
    )
