"""GraphRunner's single actions: one hop from many nodes, and the nodes that several sets share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from kgnav_mcp.navigation.plans.running import PlanRunner
from kgnav_mcp.navigation.resolving import resolve_entities
from kgnav_mcp.render.plans import entity_columns, plan_table
from kgnav_mcp.render.table import Answer
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.call import ToolCall
from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolset import Toolset
from kgnav_mcp.server.toolsets.descriptions import CURSOR, EITHER, EitherDirection
from kgnav_mcp.server.toolsets.plans import checked
from kgnav_mcp.spelling import WrittenPlan
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

    pairs: list[tuple[str, str]] = Field(
        description="[[node, edge_type], ...]: id or name of a node, and a relation, followed in either direction.",
        min_length=2,
        max_length=10,
    )
    cursor: str | None = Field(default=None, description=CURSOR)


async def fetch_neighbors(call: ToolCall, given: FetchNeighbors) -> Answer:
    """GraphRunner's Fetch_Neighbors."""
    nodes = await resolve_entities(call.adapter, given.nodes)
    onward = {"hops": given.max_hops} if given.edge_type is None and given.node_type is not None else {}
    hop = {"from": "node", "edge_type": given.edge_type, "node_type": given.node_type, "direction": given.direction}
    steps = [
        {"as": "node", "find_node": {"id": [node.id for node in nodes]}},
        {"as": "neighbor", "fetch_neighbors": {**hop, **onward}},
        {"return": ["node", "neighbor"]},
    ]
    return await _answer(call, steps, given.cursor)


async def find_common_nodes(call: ToolCall, given: FindCommonNodes) -> Answer:
    """GraphRunner's Find_Common_Nodes."""
    sides = {f"side{n}": await call.entity(node) for n, (node, _) in enumerate(given.pairs, 1)}
    steps: list[dict[str, object]] = [{"as": name, "find_node": {"id": node.id}} for name, node in sides.items()]
    pairs = [{"node": name, "edge_type": kind} for name, (_, kind) in zip(sides, given.pairs, strict=True)]
    return await _answer(call, [*steps, {"as": "common", "find_common_nodes": pairs}], given.cursor)


async def _answer(call: ToolCall, steps: Sequence[object], cursor: str | None) -> Answer:
    start = call.start(cursor)
    plan, _ = parse_steps(steps)
    found = await checked(call, WrittenPlan(plan))
    page = await PlanRunner(call.adapter, by_store=False, progress=call.progress).run(
        found.plan, limit=call.limits.row_limit, after=start.after
    )
    return call.answer(plan_table(page, start.offset, notes=found.notes), page.positions)


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
        ),
    ),
)
