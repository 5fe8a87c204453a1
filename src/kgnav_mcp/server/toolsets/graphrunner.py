"""GraphRunner's single actions: a hop from many nodes, and the nodes that several sets share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from pydantic import Field

from kgnav_mcp.errors import InvalidPlan, UnknownName
from kgnav_mcp.languages import ParsedPlan
from kgnav_mcp.languages.json_patterns import SUBCLASSES
from kgnav_mcp.languages.json_steps import DEFAULT_DIRECTION, DEFAULT_HOPS, EdgeDirection, parse_steps
from kgnav_mcp.model import Count, Direction, Entity, Stop
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.references import resolve_entities, resolve_entity
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.render.plans import entity_columns, plan_table
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import name_and_id
from kgnav_mcp.render.triples import entity_notes
from kgnav_mcp.server.arguments import CURSOR_DESCRIPTION, EITHER, Arguments
from kgnav_mcp.server.plan_runner import check_written_plan, run_queued, runner
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset

_DIRECTION = "outgoing: the nodes are heads of the edges; incoming: tails; either: both."
_HOPS = 5


class FetchNeighbors(Arguments):
    """Arguments of `fetch_neighbors`."""

    ids: ClassVar[frozenset[str]] = frozenset({"nodes", "edge_type"})

    nodes: list[str] = Field(description="Ids as printed, or names that only one entity has.", min_length=1)
    edge_type: str | None = Field(default=None, description="Relation of one hop. Default: any.")
    node_type: str | None = Field(
        default=None, description="Label of the wanted nodes; without edge_type they are searched hop by hop."
    )
    direction: EdgeDirection = Field(default=DEFAULT_DIRECTION, description=_DIRECTION)
    max_hops: int = Field(
        default=DEFAULT_HOPS,
        ge=1,
        le=_HOPS,
        description="Maximum hops to a node_type. A limit of this server; GraphRunner has none.",
    )
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


class FindCommonNodes(Arguments):
    """Arguments of `find_common_nodes`."""

    ids: ClassVar[frozenset[str]] = frozenset({"pairs"})

    pairs: list[tuple[str, str]] = Field(
        description="[[node, edge_type], ...]: id or name of a node, and a relation that is followed from it.",
        min_length=2,
        max_length=10,
    )
    direction: EdgeDirection = Field(default=DEFAULT_DIRECTION, description=_DIRECTION)
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


async def fetch_neighbors(call: ToolCall, arguments: FetchNeighbors) -> Answer:
    """Answer with the neighbours of nodes (GraphRunner's Fetch_Neighbors, 3.1.2)."""
    nodes = await resolve_entities(call.adapter, arguments.nodes)
    hops = {"hops": arguments.max_hops} if arguments.edge_type is None and arguments.node_type is not None else {}
    hop = {
        "from": "node",
        "edge_type": arguments.edge_type,
        "node_type": arguments.node_type,
        **_direction(arguments.direction),
    }
    steps: list[object] = [
        _find_node_step("node", nodes),
        {"as": "neighbor", "fetch_neighbors": {**hop, **hops}},
        {"return": ["node", "neighbor"]},
    ]
    named = [(nodes, arguments.edge_type)] if arguments.edge_type is not None else []
    checked = await _checked(call, steps, named, arguments.direction, node_type=arguments.node_type)
    return await _answer(call, steps, checked, nodes, arguments.cursor)


async def find_common_nodes(call: ToolCall, arguments: FindCommonNodes) -> Answer:
    """Answer with the common neighbours of nodes (GraphRunner's Find_Common_Nodes, 3.1.3)."""
    sides = [
        _Side(await resolve_entity(call.adapter, node), edge_type, arguments.direction)
        for node, edge_type in arguments.pairs
    ]
    named = [(f"side{n}", side) for n, side in enumerate(sides, 1)]
    pairs = [{"node": name, "edge_type": side.edge_type, **_direction(arguments.direction)} for name, side in named]
    steps: list[object] = [_find_node_step(name, [side.node]) for name, side in named]
    steps.append({"as": "common", "find_common_nodes": pairs})
    checked = await _checked(call, steps, [([side.node], side.edge_type) for side in sides], arguments.direction)
    return await _answer(call, steps, checked, [side.node for side in sides], arguments.cursor, sides=sides)


def _direction(direction: EdgeDirection) -> dict[str, object]:
    """The direction as an argument of a step. The default is left out: clients with strict schemas always send it."""
    return {} if direction == DEFAULT_DIRECTION else {"direction": direction}


class _Side(NamedTuple):
    """One pair of `find_common_nodes`."""

    node: Entity
    edge_type: str
    direction: EdgeDirection


def _find_node_step(name: str, nodes: Sequence[Entity]) -> dict[str, object]:
    return {"as": name, "find_node": {"element_id": nodes[0].id if len(nodes) == 1 else [node.id for node in nodes]}}


async def _answer(
    call: ToolCall,
    steps: list[object],
    checked: CheckedPlan,
    nodes: Sequence[Entity],
    cursor: str | None,
    *,
    sides: Sequence[_Side] = (),
) -> Answer:
    """The rows of a plan of steps at some nodes.

    With `sides`, the first page also gives the number of neighbours of each side.
    """
    start = call.start(cursor)
    page, omitted = await run_queued(call, runner(call), checked.plan, start, steps=steps, of_tool=True)
    sizes = [f"{name_and_id(side.node)} {side.edge_type} {await _neighbour_count(call, side)}" for side in sides]
    intro = f"Nodes of each side: {', '.join(sizes)}" if sizes and not start.offset else ""
    return call.answer(
        plan_table(page, start.offset, intro=intro, notes=(*entity_notes(nodes), *checked.notes, *omitted)),
        page.positions,
    )


async def _neighbour_count(call: ToolCall, side: _Side) -> Count:
    """Number of neighbours of a side."""
    hop = {"from": "side", "edge_type": side.edge_type, **_direction(side.direction)}
    checked = await _checked(
        call, [_find_node_step("side", [side.node]), {"as": "far", "fetch_neighbors": hop}, {"return": ["count(far)"]}]
    )
    page = await runner(call).run(checked.plan, limit=1)
    number = sum(cell for row in page.items for cell in row.cells if isinstance(cell, int))
    return Count(number) if page.stop is Stop.COMPLETE else Count.at_least(number)


async def _checked(
    call: ToolCall,
    steps: Sequence[object],
    named: Sequence[tuple[Sequence[Entity], str]] = (),
    direction: EdgeDirection = DEFAULT_DIRECTION,
    node_type: str | None = None,
) -> CheckedPlan:
    """The checked plan. `named` are nodes and the edge type that is followed from them.

    Raises:
        UnknownRelation: the graph has no such edge type; the error has the nearest that these nodes have.
        UnknownName: the graph has no label `node_type`; the error has the nearest.
        InvalidPlan: the plan has other problems.
    """
    plan, _ = parse_steps(steps)
    try:
        return await check_written_plan(runner(call), ParsedPlan(plan))
    except InvalidPlan:
        followed = Direction(direction) if direction != EITHER else None
        matcher = RelationMatcher(call.adapter, followed, call.limits)
        for nodes, edge_type in named:
            await matcher.require(nodes, [edge_type])
        schema_names = await SchemaNames.of(call.adapter)
        label = (node_type or "").removesuffix(SUBCLASSES)
        if label and schema_names.has_labels and not await schema_names.labels(label):
            raise UnknownName("label", label, schema_names.nearest_label(label)) from None
        raise


TOOLSET = Toolset(
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
                "Neighbours of up to 1,000 knowledge graph nodes in one call: one hop along edge_type, or several hops "
                "until nodes of node_type. Edges are followed from head to tail; a note counts the matches in the "
                "other direction. Each row has the node and its neighbour."
            ),
            arguments=FetchNeighbors,
            run=fetch_neighbors,
            tables=(entity_columns("node", "neighbor"),),
            example={"nodes": ["zundert", "breda"], "edge_type": "located_in"},
        ),
        ToolSpec(
            name="find_common_nodes",
            title="Find common nodes",
            description=(
                "Knowledge graph nodes that are neighbours of every given node, each by its own edge type, with the "
                "number of neighbours of each."
            ),
            arguments=FindCommonNodes,
            run=find_common_nodes,
            tables=(entity_columns("common"),),
            example={"pairs": [["zundert", "located_in"], ["breda", "located_in"]]},
        ),
    ),
)
