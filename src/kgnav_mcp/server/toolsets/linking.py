"""Linking: finds the node that a name means, and describes the schema."""

from __future__ import annotations

from pydantic import Field

from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.navigation.codes import find_candidates
from kgnav_mcp.navigation.subclasses import schema_with_subclasses
from kgnav_mcp.render.nodes import CANDIDATE_COLUMNS, candidates_table
from kgnav_mcp.render.overview import OVERVIEW_COLUMNS, SCHEMA_ROWS, schema_overview
from kgnav_mcp.render.table import Answer
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset

_CANDIDATES = 10


class FindNode(Arguments):
    """Arguments of `find_node`, named as in GraphRunner's Find_Node."""

    hint: str = Field(description="A name, alias, description or id.")
    node_type: str | None = Field(default=None, description="Only nodes with this label (class).")
    limit: int = Field(default=_CANDIDATES, ge=1, le=100, description="Maximum candidates.")


class DescribeGraph(Arguments):
    """Arguments of `describe_graph`."""

    name: str | None = Field(default=None, description="A label, relation or property.")


async def find_node(call: ToolCall, arguments: FindNode) -> Answer:
    """Answer with the entities that a hint may mean (GraphRunner's Find_Node, 3.1.1).

    Raises:
        InvalidArgument: the hint is empty.
    """
    if not arguments.hint.strip():
        raise InvalidArgument(
            "the hint is empty",
            next_step="Pass a name or a part of one. describe_graph() shows what this graph is about.",
        )
    page = await find_candidates(
        call.adapter, arguments.hint, label=arguments.node_type, limit=arguments.limit, progress=call.progress
    )
    return call.answer(candidates_table(page, hint=arguments.hint), None)


async def describe_graph(call: ToolCall, arguments: DescribeGraph) -> Answer:
    """Answer with an overview of the schema, or with the part around one name."""
    schema = await schema_with_subclasses(call.adapter, arguments.name, limit=SCHEMA_ROWS)
    return schema_overview(call.graph.name, schema, arguments.name, call.options)


_TOOLS = (
    ToolSpec(
        name="find_node",
        title="Find a node by name",
        description=(
            "Find the knowledge graph entity that a name means: candidates with id, types, description and "
            "degree, best first. Knows aliases and typos. Start here, then pass the id to search or "
            "get_relations."
        ),
        arguments=FindNode,
        run=find_node,
        tables=(CANDIDATE_COLUMNS,),
        example={"hint": "van Gogh"},
    ),
    ToolSpec(
        name="describe_graph",
        title="Describe the graph",
        description=(
            "Schema of the knowledge graph: labels (classes) with counts and properties, relations with the "
            "labels they join. With a name, the details of that label, relation or property."
        ),
        arguments=DescribeGraph,
        run=describe_graph,
        tables=OVERVIEW_COLUMNS,
        example={},
    ),
)

TOOLSET = Toolset(
    title="Entity linking and schema",
    instructions="Start: find_node(hint) turns a name into entity ids; describe_graph() shows labels and relations.",
    tools=_TOOLS,
    comes_first=True,
)
