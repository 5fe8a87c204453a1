"""Nodes, their neighbours, values and candidates as tables (GraphWalk's primitives, GraphRunner's Find_Node)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Link,
    NearestNeighbours,
    NodesByProperty,
    Page,
    Qualifier,
    RelationFacts,
    Stop,
    Triple,
    ValueFacts,
)
from kgnav_mcp.render.columns import (
    COUNT,
    DIRECTION,
    ENTITY,
    INTEGER,
    LONG_TEXT,
    PROPERTIES,
    QUALIFIERS,
    RELATION,
    SCORE,
    SIMILARITY,
    TEXTS,
    VALUE,
    VALUES,
    Column,
    Columns,
    Row,
)
from kgnav_mcp.render.table import Table
from kgnav_mcp.render.text import call_text, name_and_id, next_call, node_text, printable_id
from kgnav_mcp.render.triples import absent_notes

_CELL_LIMIT = 80
_OMITTED = 200
"""Maximum characters of the list of properties that are left out."""

NODE_COLUMNS = (
    Column("node", ENTITY, "name"),
    Column("labels", TEXTS, optional=True),
    Column("properties", PROPERTIES, optional=True),
)
NEIGHBOR_COLUMNS = (
    Column("node", ENTITY, optional=True),
    DIRECTION,
    Column("relationship", RELATION),
    Column("neighbor", VALUE, "neighborName"),
    Column("neighborLabels", TEXTS, optional=True, limit=_CELL_LIMIT),
    Column("neighborProperties", PROPERTIES, optional=True, limit=_CELL_LIMIT),
    Column("relationshipProperties", QUALIFIERS, optional=True, limit=_CELL_LIMIT),
)
RELATIONSHIP_COLUMNS = (
    Column("relationship", RELATION),
    DIRECTION,
    Column("rows", COUNT),
    Column("examples", VALUES, limit=_CELL_LIMIT),
)
CANDIDATE_COLUMNS = (
    Column("entity", ENTITY, "name"),
    Column("types", TEXTS, optional=True),
    Column("description", LONG_TEXT, optional=True),
    Column("degree", COUNT),
    Column("sitelinks", INTEGER, optional=True),
    Column("score", SCORE),
    Column("similarity", SIMILARITY, optional=True),
    Column("matched", LONG_TEXT, optional=True),
)


def value_columns(counted: str) -> Columns:
    """The columns of distinct values and the number of nodes or relationships (`counted`) with each."""
    return Column("value", VALUE), Column(counted, COUNT)


@dataclass(frozen=True, slots=True)
class _ChosenProperties(Column):
    """Chosen properties of nodes: in a table a column for each, in JSON one list as of all properties."""

    ids: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(map(printable_id, self.ids))


def _chosen_columns(ids: tuple[str, ...]) -> Columns:
    def texts(properties: Sequence[Qualifier], limit: int) -> Sequence[str]:
        values: dict[str, list[str]] = {each: [] for each in ids}
        for each in properties:
            values[each.relation.id].append(node_text(each.value, limit))
        return ["; ".join(each) for each in values.values()]

    node, labels, properties = NODE_COLUMNS
    return node, _ChosenProperties(properties.name, replace(PROPERTIES, texts=texts), ids=ids), labels


def nodes_table(nodes: NodesByProperty, offset: int, *, condition: str, next_step: str) -> Table:
    """Nodes with all their properties, or with a column for each chosen one.

    `condition` is the search condition in words, `next_step` the advice for an empty result.
    """
    page, chosen = nodes.page, nodes.chosen
    step = _next_search(page.items[0].entity) if page.items else ""
    rows = ((item.entity, item.entity.types, _properties(item.properties)) for item in page.items)
    omitted = (
        f"With this many nodes some properties are omitted ({comma_list(nodes.omitted, _OMITTED)}): choose some with "
        f"`properties`."
    )
    return Table(
        "nodes",
        NODE_COLUMNS if chosen is None else _chosen_columns(chosen),
        rows if chosen is None else ((node, properties, types) for node, types, properties in rows),
        page.total,
        page.stop,
        offset,
        empty=f"no node {'was found with' if page.note else 'has'} {condition}. {next_step}",
        intro=tuple(absent_notes(nodes.absent, noun="property")),
        notes=tuple(filter(None, (page.note, omitted if nodes.omitted else "", step))),
        items=page.items,
        about=[item.entity for item in page.items],
    )


def _next_search(entity: Entity) -> str:
    """The next step: a search for the outgoing triples of an entity."""
    return next_call("search", {"entity": entity, "direction": Direction.OUTGOING})


def _properties(triples: Sequence[Triple]) -> tuple[Qualifier, ...]:
    return tuple(Qualifier(triple.relation, triple.tail) for triple in triples)


def nearest_neighbours_table(
    nearest: NearestNeighbours,
    offset: int,
    *,
    condition: str,
    filters: str = "",
    next_step: str,
    first_cursor: str,
) -> Table:
    """Neighbours of the nodes that meet a condition, or the relations of a hub.

    `condition` and `next_step` are as for `nodes_table`. `filters` is the condition on neighbours, in words.
    `first_cursor` starts paging through a hub's neighbours.
    """
    notes = _anchor_notes(nearest.anchors)
    if nearest.relations is not None:
        return _hub_table(nearest.anchors, nearest.relations, notes, first_cursor)
    page = nearest.links or Page((), (), nearest.anchors.total)
    names = ", ".join(name_and_id(anchor) for anchor in nearest.anchors.items[:3])
    return Table(
        "neighbors",
        NEIGHBOR_COLUMNS,
        _link_rows(page.items, nearest),
        page.total,
        page.stop,
        offset,
        empty=f"{names} has no neighbors {filters or 'in either direction'}. {_next_search(nearest.anchors.items[0])}"
        if nearest.anchors.items
        else f"no node has {condition}. {next_step}",
        notes=notes,
        items=[
            (link, nearest.neighbours.get(link.far_end.id)) if isinstance(link.far_end, Entity) else link
            for link in page.items
        ],
        about=nearest.anchors.items,
    )


def _link_rows(links: Sequence[Link], nearest: NearestNeighbours) -> Iterator[Row]:
    several = len(nearest.anchors.items) > 1
    for link in links:
        triple = link.triple
        far = link.far_end
        neighbour = nearest.neighbours.get(far.id) if isinstance(far, Entity) else None
        yield (
            link.anchor if several else None,
            link.direction,
            triple.relation,
            far,
            neighbour.entity.types if neighbour else (),
            _properties(neighbour.properties) if neighbour else (),
            triple.qualifiers,
        )


def _hub_table(anchors: Page[Entity], page: Page[RelationFacts], notes: tuple[str, ...], first_cursor: str) -> Table:
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
        ((facts.relation, facts.direction, facts.count, facts.examples) for facts in page.items),
        page.total,
        page.stop,
        intro=(f"{name_and_id(anchors.items[0])} has too many neighbours to list: one row per relation instead.",),
        notes=(*notes, f'Next: {step} with cursor "{first_cursor}" to page through every neighbor.'),
        items=page.items,
        about=anchors.items,
    )


def _anchor_notes(anchors: Page[Entity]) -> tuple[str, ...]:
    note = (anchors.note,) if anchors.note else ()
    if len(anchors.items) < 2:
        return note
    more = "" if len(anchors.items) == anchors.total.value else f" The first {len(anchors.items):,} are followed."
    return (f"{anchors.total} nodes have this value.{more}", *note)


def values_table(page: Page[ValueFacts], offset: int, *, counted: str, list_name: str) -> Table:
    """Distinct values of a property, with the number of nodes or relationships (`counted`) that have each.

    `list_name` names the property where the list is empty.
    """
    return Table(
        "values",
        value_columns(counted),
        ((facts.value, facts.count) for facts in page.items),
        page.total,
        page.stop,
        offset,
        empty=f"{list_name} has no values.",
        notes=(page.note,) if page.note else (),
    )


def _matched(item: Candidate) -> str:
    """The text that matched, with the property that has it as its value; empty if it is the shown name or id."""
    if item.found_by is not None:
        return f"{item.found_by} = {item.matched}"
    return "" if item.matched in (item.entity.label, item.entity.description) else item.matched


def candidates_table(page: Page[Candidate], *, hint: str) -> Table:
    """Entities that match a hint, best first."""
    step = _next_search(page.items[0].entity) if page.items else ""
    more = "not among them? Give more of the name, a node_type, or a larger limit." if page.stop is Stop.LIMIT else ""
    return Table(
        "candidates",
        CANDIDATE_COLUMNS,
        (
            (
                item.entity,
                item.entity.types,
                item.entity.description or "",
                item.degree,
                item.sitelinks,
                item.score,
                item.similarity,
                "by meaning" if item.similarity is not None and not item.score else _matched(item),
            )
            for item in page.items
        ),
        page.total,
        page.stop,
        empty=f"no entity has a name like {echoed(hint)}. Next: find_node with fewer or other words, or "
        "describe_graph() to see what this graph is about.",
        notes=tuple(filter(None, (page.note, "; ".join(filter(None, (step, more)))))),
        items=page.items,
    )
