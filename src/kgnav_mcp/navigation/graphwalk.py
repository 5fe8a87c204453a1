"""GraphWalk's primitives: nodes by a property's value, their nearest neighbours, a property's distinct values.

The paper's Cypher runs them against one property graph. Here a label is also an RDF class, a property also a relation
with literal tails, and a hub is summarized.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from kgnav_mcp.concurrency import gathered, gathered_for
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import (
    AbsentRelation,
    Direction,
    Entity,
    Link,
    NearestNeighbours,
    NodeProperties,
    NodesByProperty,
    Page,
    RelationFacts,
    Stop,
    T,
    Triple,
    ValueFacts,
)
from kgnav_mcp.navigation.flattening import read_flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.maze import MARKS, Marks
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value
from kgnav_mcp.navigation.pages import page_after
from kgnav_mcp.navigation.references import NameIndex
from kgnav_mcp.navigation.relation_lists import relation_facts, single_relation
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.navigation.relation_reader import check_label, flattened_paths, paths_to_far_ends
from kgnav_mcp.port import FarEndFilter, FarEndKind, GraphAdapter, ValueOwner
from kgnav_mcp.port.lists import all_pages

ANY_LABEL = "*"
"""The label that stands for nodes of any label, and of none."""

ALWAYS_THERE = frozenset({"name", "id"})
"""Properties that every node has, under any name in the graph."""

FROM_FIRST_LINK = "first"
"""The position that pages through the links of a hub instead of summarizing it."""

_NODE_LIMIT = 200
"""Maximum nodes that are read for one answer: more would not fit with their properties."""

_NODES_WITH_ALL = 20
"""Maximum nodes that are shown with all properties. More nodes are shown with the selecting property only."""

_PROPERTIES_AT_ONCE = 5000
"""Properties that one call of the adapter reads."""

MISSING_PROPERTIES = "Not all properties of these nodes are shown: the store did not return all."


async def get_node_by_property(
    graph: GraphAdapter,
    label: str,
    property_name: str,
    property_value: str,
    *,
    properties: Sequence[str] = (),
    after: str | None = None,
    every_property: bool = False,
    marks: Marks | None = None,
) -> NodesByProperty:
    """The nodes with this label whose property has this value, each with all its properties (GraphWalk, C.1).

    `properties` names those that are shown. Without them, more than 20 nodes are shown with `property_name` alone,
    unless `every_property` is set. `marks` are added to the properties of a maze's cells.

    Raises:
        UnknownName: the graph has no such label or property, or none of `properties`.
    """
    page = await _nodes(graph, _label(label), property_name, property_value, marks, after=after)
    triples, stop = await _properties(graph, [node.id for node in page.items], marks)
    relations = {triple.relation.id: triple.relation for of_node in triples.values() for triple in of_node}
    are_many = max(page.total.value, len(page.items)) > _NODES_WITH_ALL and not every_property
    chosen: tuple[str, ...] | None = None
    absent: tuple[AbsentRelation, ...] = ()
    if properties or are_many:
        index = NameIndex([*relations.values()], lambda relation: (relation.id, relation.label))
        ids_by_name = {name: [relation.id for relation in index.find(name)] for name in properties or (property_name,)}
        if properties and page.items and after is None:
            absent = await _absent_properties(graph, [name for name, ids in ids_by_name.items() if not ids], marks)
            if len(absent) == len(ids_by_name):
                raise UnknownName("property", absent[0].name, absent[0].nearest)
        chosen = _chosen(ids_by_name, {property_.name for property_ in absent})
        triples = {
            node: [triple for triple in of_node if triple.relation.id in chosen] for node, of_node in triples.items()
        }
    items = tuple(NodeProperties(node, tuple(triples.get(node.id, ()))) for node in page.items)
    omitted = () if chosen is None or properties else tuple(sorted(relations.keys() - set(chosen)))
    shown = _with_stop(Page(items, page.positions, page.total, page.stop, page.note), stop)
    return NodesByProperty(shown, chosen, omitted, absent)


def _chosen(ids_by_name: Mapping[str, Sequence[str]], absent: Collection[str]) -> tuple[str, ...]:
    """The ids of the properties that are shown; the name itself of one that the graph has, but none of these nodes."""
    columns = [
        ids or [name]
        for name, ids in ids_by_name.items()
        if ids or not (name in absent or name.casefold() in ALWAYS_THERE)
    ]
    return tuple(dict.fromkeys(chain.from_iterable(columns)))


async def _nodes(
    graph: GraphAdapter, label: str | None, name: str, value: str, marks: Marks | None, *, after: str | None = None
) -> Page[Entity]:
    """A page of the nodes with a label and a value, which may be a mark."""
    marked = await marks.nodes(graph, label, name, value, after=after) if marks is not None else None
    if marked is not None:
        return marked
    return await nodes_by_value(graph, label, name, value, limit=_NODE_LIMIT, after=after)


async def _absent_properties(
    graph: GraphAdapter, names: Sequence[str], marks: Marks | None
) -> tuple[AbsentRelation, ...]:
    """Those of the names that no property of the graph has. Each costs a store one query at most."""
    present = ALWAYS_THERE | MARKS if marks is not None and marks.order is not None else ALWAYS_THERE

    async def nearest(name: str) -> AbsentRelation | None:
        try:
            await graph.nodes(None, name, "", limit=0)
        except UnknownName as error:
            return AbsentRelation(name, tuple(error.nearest))
        return None

    candidates = await gathered_for([name for name in names if name.casefold() not in present], nearest)
    return tuple(absent for absent in candidates if absent is not None)


def _label(label: str) -> str | None:
    return None if label.strip() in ("", ANY_LABEL) else label


async def _properties(graph: GraphAdapter, ids: list[str], marks: Marks | None) -> tuple[dict[str, list[Triple]], Stop]:
    """The properties of nodes, and why some of them may be missing."""
    properties: dict[str, list[Triple]] = defaultdict(list)
    stop = Stop.COMPLETE

    def read(after: str | None) -> Awaitable[Page[Link]]:
        return graph.neighbours(
            ids, Direction.OUTGOING, far_end_kind=FarEndKind.LITERAL, limit=_PROPERTIES_AT_ONCE, after=after
        )

    if ids:
        async for page in all_pages(read):
            for link in page.items:
                properties[link.anchor.id].append(link.triple)
            stop = page.stop
    return ({node: marks.added_to(node, properties[node]) for node in ids} if marks is not None else properties), stop


def _with_stop(page: Page[T], stop: Stop) -> Page[T]:
    """The page, which ends early if not all properties of its nodes were read."""
    if stop is Stop.COMPLETE:
        return page
    return replace(page, stop=stop, note=" ".join(filter(None, (page.note, MISSING_PROPERTIES))))


async def get_all_nearest_neighbors(
    graph: GraphAdapter,
    label: str,
    property_name: str,
    property_value: str,
    *,
    direction: Direction | None = None,
    relationship: str | None = None,
    neighbor_label: str | None = None,
    after: str | None = None,
    limits: Limits,
    marks: Marks | None = None,
) -> NearestNeighbours:
    """Every neighbour of the nodes with this label and value, with its relationship (GraphWalk, C.2).

    More than k links collapse to their relations, as in `search`, unless there is only one relation, or a relationship
    or a label of neighbours is given. The position FROM_FIRST_LINK pages through the links instead.

    Raises:
        UnknownName: the graph has no such label or property.
        UnknownRelation: the nodes have no such relationship; the error has the nearest that they have.
    """
    anchors = await _nodes(graph, _label(label), property_name, property_value, marks)
    if not anchors.items:
        return NearestNeighbours(anchors, links=Page((), (), anchors.total, anchors.stop))
    ids = [anchor.id for anchor in anchors.items]
    far = FarEndFilter(FarEndKind.ENTITY, _label(neighbor_label or ""))
    narrowed = relationship is not None or far.is_selective
    relation_paths = None
    if narrowed:
        names = [] if relationship is None else [relationship]
        matcher = RelationMatcher(graph, direction, limits, hops=2, far_end_kind=FarEndKind.ENTITY)
        matches = await matcher.require(anchors.items, names)
        offered = matches.offered.items
        chosen = matches.facts if names else offered
        relation_paths = paths_to_far_ends(chosen, offered) if far.is_selective else flattened_paths(chosen)

    read_links = partial(
        read_flattened, graph, ids, direction, relation_paths=relation_paths, far=far, flatten=limits.flatten
    )
    if after is not None or narrowed:
        page = await read_links(limit=_NODE_LIMIT, after=None if after == FROM_FIRST_LINK else after)
    else:
        page = await read_links(limit=limits.hub_threshold + 1)
        if len(page.items) > limits.hub_threshold:
            relations = await _relations(graph, ids, direction, limits)
            if limits.collapse_single or single_relation(relations) is None:
                return NearestNeighbours(anchors, relations=relations)
            page = await read_links(limit=limits.hub_threshold)
    if not page.items and after is None:
        await check_label(graph, far)
    ends = list(dict.fromkeys(link.far_end.id for link in page.items if isinstance(link.far_end, Entity)))
    if not ends:
        return NearestNeighbours(anchors, page)
    described, (properties, stop) = await gathered(graph.describe(ends), _properties(graph, ends, marks))
    neighbours = {node: NodeProperties(entity, tuple(properties[node])) for node, entity in described.items()}
    return NearestNeighbours(anchors, _with_stop(page, stop), neighbours=neighbours)


async def _relations(
    graph: GraphAdapter, ids: list[str], direction: Direction | None, limits: Limits
) -> Page[RelationFacts]:
    page = await relation_facts(
        graph, ids, direction, examples=limits.examples, hidden=True, far_end_kind=FarEndKind.ENTITY, limits=limits
    )
    return replace(page_after(page.items, None, page.stop), note=page.note)


async def get_unique_property_values(
    graph: GraphAdapter,
    property_name: str,
    entity_name: str,
    entity_type: ValueOwner,
    *,
    after: str | None = None,
    limits: Limits,
    marks: Marks | None = None,
) -> Page[ValueFacts]:
    """The distinct values of a property of a label's nodes or a relationship type's edges (GraphWalk, C.3).

    Each value comes with the number of nodes or edges that have it.

    Raises:
        UnknownName: the graph has no such property, label or relation.
    """
    owner = _label(entity_name)
    marked = await marks.values(graph, property_name, owner, entity_type, after=after) if marks is not None else None
    if marked is not None:
        return marked
    return await graph.values(property_name, owner, entity_type, limit=limits.row_limit, after=after)
