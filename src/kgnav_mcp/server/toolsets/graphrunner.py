"""GraphRunner's single actions: a hop from many nodes, and the nodes that several sets share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.navigation.plans.checking import CheckedPlan
from kgnav_mcp.navigation.resolving import resolve_entities, resolve_entity, resolve_relations
from kgnav_mcp.render.plans import entity_columns, plan_table
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import name_and_id
from kgnav_mcp.render.triples import entity_notes
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.call import ToolCall
from kgnav_mcp.server.planning import check_written_plan, runner
from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolset import Toolset
from kgnav_mcp.server.toolsets.descriptions import CURSOR, EITHER, EitherDirection
from kgnav_mcp.spelling import ParsedPlan
from kgnav_mcp.spelling.steps import parse_steps

_DIRECTION = "outgoing: the nodes are heads of the edges; incoming: tails."
_HOPS = 5


class FetchNeighbors(Arguments):
    """Arguments of `fetch_neighbors`."""

    ids: ClassVar[frozenset[str]] = frozenset({"nodes", "edge_type"})

    nodes: list[str] = Field(description="Ids as printed, or names that only one entity has.", min_length=1)
    edge_type: str | None = Field(default=None, description="Relation of one hop; any when left out.")
    node_type: str | None = Field(
        default=None, description="Label of the nodes wanted; without edge_type they are looked for hop by hop."
    )
    direction: EitherDirection = Field(default=EITHER, description=_DIRECTION)
    max_hops: int = Field(default=3, ge=1, le=_HOPS, description="How far a node_type is looked for.")
    cursor: str | None = Field(default=None, description=CURSOR)


class FindCommonNodes(Arguments):
    """Arguments of `find_common_nodes`."""

    ids: ClassVar[frozenset[str]] = frozenset({"pairs"})

    pairs: list[tuple[str, str]] = Field(
        description="[[node, edge_type], ...]: id or name of a node, and a relation, followed in either direction.",
        min_length=2,
        max_length=10,
    )
    cursor: str | None = Field(default=None, description=CURSOR)


async def fetch_neighbors(call: ToolCall, given: FetchNeighbors) -> Answer:
    """Answer with the neighbours of nodes (GraphRunner's Fetch_Neighbors)."""
    nodes = await resolve_entities(call.adapter, given.nodes)
    hops = {"hops": given.max_hops} if given.edge_type is None and given.node_type is not None else {}
    hop = {"from": "node", "edge_type": given.edge_type, "node_type": given.node_type, "direction": given.direction}
    steps = [
        _find_node_step("node", nodes),
        {"as": "neighbor", "fetch_neighbors": {**hop, **hops}},
        {"return": ["node", "neighbor"]},
    ]
    named = [(nodes, given.edge_type)] if given.edge_type is not None else []
    direction = Direction(given.direction) if given.direction != EITHER else None
    found = await _checked(call, steps, named, direction)
    return await _answer(call, found, given.cursor, nodes)


async def find_common_nodes(call: ToolCall, given: FindCommonNodes) -> Answer:
    """Answer with the common neighbours of nodes (GraphRunner's Find_Common_Nodes)."""
    sides = [
        (f"side{n}", await resolve_entity(call.adapter, node), edge_type)
        for n, (node, edge_type) in enumerate(given.pairs, 1)
    ]
    pairs = [{"node": name, "edge_type": edge_type} for name, _, edge_type in sides]
    steps = [*(_find_node_step(name, [node]) for name, node, _ in sides), {"as": "common", "find_common_nodes": pairs}]
    found = await _checked(call, steps, [([node], edge_type) for _, node, edge_type in sides])
    return await _answer(call, found, given.cursor, [node for _, node, _ in sides], sides)


def _find_node_step(name: str, nodes: Sequence[Entity]) -> dict[str, object]:
    return {"as": name, "find_node": {"element_id": nodes[0].id if len(nodes) == 1 else [node.id for node in nodes]}}


async def _answer(
    call: ToolCall,
    found: CheckedPlan,
    cursor: str | None,
    nodes: Sequence[Entity],
    sides: Sequence[tuple[str, Entity, str]] = (),
) -> Answer:
    """The rows of a plan of steps at some nodes.

    With `sides`, the first page also gives the number of neighbours of each side.
    """
    start = call.start(cursor)
    page = await runner(call).run(found.plan, limit=call.limits.row_limit, after=start.after)
    sizes = [f"{name_and_id(node)} {kind} {await _neighbour_count(call, node, kind):,}" for _, node, kind in sides]
    intro = f"Nodes of each side: {', '.join(sizes)}" if sizes and not start.offset else ""
    return call.answer(
        plan_table(page, start.offset, intro=intro, notes=(*entity_notes(nodes), *found.notes)), page.positions
    )


async def _neighbour_count(call: ToolCall, node: Entity, edge_type: str) -> int:
    """Number of neighbours of a node by a relation."""
    hop = {"from": "side", "edge_type": edge_type, "direction": EITHER}
    found = await _checked(
        call, [_find_node_step("side", [node]), {"as": "far", "fetch_neighbors": hop}, {"return": ["count(far)"]}]
    )
    page = await runner(call).run(found.plan, limit=1)
    return sum(cell for row in page.items for cell in row.cells if isinstance(cell, int))


async def _checked(
    call: ToolCall,
    steps: Sequence[object],
    named: Sequence[tuple[Sequence[Entity], str]] = (),
    direction: Direction | None = None,
) -> CheckedPlan:
    """The checked plan. `named` are nodes and the edge type that is followed from them.

    Raises:
        UnknownRelation: the graph has no such edge type; the error has the nearest that these nodes have.
        InvalidPlan: the plan has other problems.
    """
    plan, _ = parse_steps(steps)
    try:
        return await check_written_plan(runner(call), ParsedPlan(plan))
    except InvalidPlan:
        for nodes, edge_type in named:
            await resolve_relations(call.adapter, nodes, [edge_type], direction, limits=call.limits)
        raise


TOOLSET = Toolset(
    name="graphrunner",
    title="GraphRunner's actions",
    instructions=(
        "One action at a time: fetch_neighbors(nodes, edge_type or node_type) follows many nodes at once, "
        "find_common_nodes(pairs) gives the nodes that several share."
    ),
    tools=(
        ToolSpec(
            name="fetch_neighbors",
            title="Fetch the neighbours of many nodes",
            description=(
                "Neighbours of up to 1,000 knowledge graph nodes in one call: one hop along edge_type, or onward until "
                "nodes of node_type. Each row has the node and its neighbour."
            ),
            arguments=FetchNeighbors,
            run=fetch_neighbors,
            tables=(entity_columns("node", "neighbor"),),
            example={"nodes": ["zundert", "breda"], "edge_type": "located_in"},
        ),
        ToolSpec(
            name="find_common_nodes",
            title="Find the nodes that several share",
            description=(
                "Knowledge graph nodes that are neighbours of every node given, each by its own edge type, with the "
                "size of each side."
            ),
            arguments=FindCommonNodes,
            run=find_common_nodes,
            tables=(entity_columns("common"),),
            example={"pairs": [["zundert", "located_in"], ["breda", "located_in"]]},
        ),
    ),
)
