"""GraphWalk: look-ups in a property graph by label, property and value, and a tool to note thoughts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.model import Direction, Triple
from kgnav_mcp.navigation import graphwalk
from kgnav_mcp.navigation.maze import Marks, mark_order
from kgnav_mcp.navigation.pages import Cursor
from kgnav_mcp.navigation.sample_walks import WalkedStep
from kgnav_mcp.navigation.shown_graph import THINK_TOOL
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.render.columns import Column
from kgnav_mcp.render.nodes import (
    NEIGHBOR_COLUMNS,
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    nearest_neighbours_table,
    nodes_table,
    value_columns,
    values_table,
)
from kgnav_mcp.render.table import Answer, row_answer
from kgnav_mcp.render.text import NAME_LIMIT, call_text, clean, next_call
from kgnav_mcp.server.arguments import CURSOR_DESCRIPTION, EITHER, Arguments, EitherDirection
from kgnav_mcp.server.prompts import PromptSpec, step_by_step
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.worked_examples import walk_calls

LABEL = f"Node label; {graphwalk.ANY_LABEL!r} for any."
_THOUGHT = Column("thought")
_MAZE = "maze"
"""The toolset whose marks are shown as properties of the cells."""
PROPERTY = "Property; `name` and `id` always work."


def _lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class ByProperty(Arguments):
    """Arguments that select nodes by the value of a property."""

    label: str = Field(description=LABEL)
    property_name: str = Field(description=PROPERTY)
    property_value: str | int | float | bool = Field(
        description="The whole value; 2 also finds 2.0, 1815 any date in that year."
    )

    @property
    def value(self) -> str:
        """The value as text in the form that stores compare: true and false in lower case."""
        return str(self.property_value).lower() if isinstance(self.property_value, bool) else str(self.property_value)

    @property
    def condition(self) -> str:
        """The condition in words."""
        label = "" if self.label.strip() in ("", graphwalk.ANY_LABEL) else f"the label {echoed(self.label)} and "
        return f"{label}{clipped(self.property_name, NAME_LIMIT)} = {echoed(self.value)}"

    @property
    def next_step(self) -> str:
        """The next step if no node has the value: find the name, or list the property's values."""
        if self.property_name.casefold() in graphwalk.ALWAYS_THERE:
            return next_call("find_node", {"hint": self.value})
        owner = {"entity_name": self.label or graphwalk.ANY_LABEL, "entity_type": "node"}
        return next_call("get_unique_property_values", {"property_name": self.property_name, **owner})


class NodesByProperty(ByProperty):
    """Arguments of `get_node_by_property`. The first three are the paper's, the others are additions."""

    properties: list[str] | None = Field(default=None, description="Only these properties are shown.")
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


class Neighbors(ByProperty):
    """Arguments of `get_all_nearest_neighbors`. The first three are the paper's, the others are additions."""

    ids: ClassVar[frozenset[str]] = frozenset({"relationship"})

    direction: EitherDirection = Field(default=EITHER, description="outgoing: relationships that leave the node.")
    relationship: str | None = Field(default=None, description="Only this relationship.")
    neighbor_label: str | None = Field(default=None, description="Only neighbours with this label.")
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)

    @property
    def filters(self) -> str:
        """The conditions on neighbours, in words."""
        return " ".join(
            filter(
                None,
                (
                    self.direction if self.direction != EITHER else "",
                    f"by {echoed(self.relationship)}" if self.relationship else "",
                    f"with the label {echoed(self.neighbor_label)}" if self.neighbor_label else "",
                ),
            )
        )


class UniqueValues(Arguments):
    """Arguments of `get_unique_property_values`."""

    property_name: str = Field(description="Name of the property.")
    entity_name: str = Field(description="Node label or relationship type; '*' for any.")
    entity_type: Annotated[Literal["node", "relationship"], BeforeValidator(_lower_case)] = Field(
        description="Kind of entity_name."
    )
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


class Think(Arguments):
    """Arguments of `think`."""

    max_characters: ClassVar[int] = 2**26
    """The limit of a message: thoughts are not sent to a store."""

    thought: str = Field(description="What is known, and what to look up next.")


async def maze_marks(call: ToolCall) -> Marks | None:
    """The marks of a maze's cells on the trail of the call, or on the client's only one.

    None if this server has no mazes.

    Raises:
        UnknownTrail: the trail has expired meanwhile.
    """
    if _MAZE not in call.app.settings.toolsets:
        return None
    trail = await call.current_trail()
    return Marks(None if trail is None else mark_order(trail))


async def get_node_by_property(call: ToolCall, arguments: NodesByProperty) -> Answer:
    """Answer with the nodes that have a property value (GraphWalk's tool 1)."""
    start = call.start(arguments.cursor)
    nodes = await graphwalk.get_node_by_property(
        call.adapter,
        arguments.label,
        arguments.property_name,
        arguments.value,
        properties=arguments.properties or (),
        after=start.after,
        marks=await maze_marks(call),
    )
    table = nodes_table(nodes, start.offset, condition=arguments.condition, next_step=arguments.next_step)
    return call.answer(table, nodes.page.positions)


async def get_all_nearest_neighbors(call: ToolCall, arguments: Neighbors) -> Answer:
    """Answer with the neighbours of the nodes that have a property value (GraphWalk's tool 2)."""
    start = call.start(arguments.cursor)
    nearest = await graphwalk.get_all_nearest_neighbors(
        call.adapter,
        arguments.label,
        arguments.property_name,
        arguments.value,
        direction=Direction(arguments.direction) if arguments.direction != EITHER else None,
        relationship=arguments.relationship,
        neighbor_label=arguments.neighbor_label,
        after=start.after,
        limits=call.limits,
        marks=await maze_marks(call),
    )
    first = call.paging.write(Cursor(graphwalk.FROM_FIRST_LINK))
    table = nearest_neighbours_table(
        nearest,
        start.offset,
        condition=arguments.condition,
        filters=arguments.filters,
        next_step=arguments.next_step,
        first_cursor=first,
    )
    return call.answer(table, nearest.links.positions if nearest.links else None)


async def get_unique_property_values(call: ToolCall, arguments: UniqueValues) -> Answer:
    """Answer with the distinct values of a property (GraphWalk's tool 3)."""
    start = call.start(arguments.cursor)
    page = await graphwalk.get_unique_property_values(
        call.adapter,
        arguments.property_name,
        arguments.entity_name,
        ValueOwner(arguments.entity_type),
        after=start.after,
        limits=call.limits,
        marks=await maze_marks(call),
    )
    name = f"{echoed(arguments.property_name)} of the {arguments.entity_type} {echoed(arguments.entity_name)}"
    table = values_table(page, start.offset, counted=f"{arguments.entity_type}s", list_name=name)
    return call.answer(table, page.positions)


async def think(_: ToolCall, arguments: Think) -> Answer:
    """Return the thought, so that it stays in the conversation (GraphWalk's tool 4)."""
    return row_answer(clean(arguments.thought), (_THOUGHT,), (arguments.thought,))


_TOOLS = (
    ToolSpec(
        name="get_node_by_property",
        title="Get nodes by a property value",
        description=(
            "Graph nodes with this label and property value, each with its properties. describe_graph lists "
            "labels and properties, get_unique_property_values the values."
        ),
        arguments=NodesByProperty,
        run=get_node_by_property,
        tables=(NODE_COLUMNS,),
        example={"label": "Painter", "property_name": "born", "property_value": 1853},
    ),
    ToolSpec(
        name="get_all_nearest_neighbors",
        title="Get all neighbours of a node",
        description=(
            "All graph neighbours of the nodes with this label and property value: relationship with its own "
            "properties, direction, neighbour with labels and properties. If there are too many, relationships "
            "with counts, and a cursor to page through all."
        ),
        arguments=Neighbors,
        run=get_all_nearest_neighbors,
        tables=(NEIGHBOR_COLUMNS, RELATIONSHIP_COLUMNS),
        example={"label": "*", "property_name": "id", "property_value": "zundert"},
    ),
    ToolSpec(
        name="get_unique_property_values",
        title="List a property's distinct values",
        description=(
            "Distinct values of a property over the nodes of a label or the relationships of a type, with counts: "
            "shows how values are written."
        ),
        arguments=UniqueValues,
        run=get_unique_property_values,
        tables=(value_columns("nodes"), value_columns("relationships")),
        example={"property_name": "born", "entity_name": "*", "entity_type": "node"},
    ),
    ToolSpec(
        name=THINK_TOOL,
        title="Note a thought",
        description="Write down reasoning; returns the thought and changes nothing.",
        arguments=Think,
        run=think,
        tables=((_THOUGHT,),),
        example={"thought": "Zundert lies in the Netherlands."},
    ),
)

_METHOD = """You answer a question about a property graph with four small tools.

1. think(thought): say what you need before each look-up.
2. get_unique_property_values(property_name, entity_name, entity_type) shows how values are written.
3. get_node_by_property(label, property_name, property_value) gives the nodes that have a value, with all properties.
4. get_all_nearest_neighbors(label, property_name, property_value) gives everything one step away from such a node.
Count and compare only over complete lists: an answer that is not complete says so."""


def _step_calls(step: Triple) -> str:
    label = next(iter(step.head.types), graphwalk.ANY_LABEL)
    name = {"property_name": "name", "property_value": step.head.label or step.head.id}
    return call_text("get_all_nearest_neighbors", {"label": label, **name})


def _look(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    label = next(iter(step.entity.types), graphwalk.ANY_LABEL)
    node = {"label": label, "property_name": "id", "property_value": step.entity}
    return "get_all_nearest_neighbors", {**node, "direction": str(step.direction)}


def _follow(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    tool, arguments = _look(step)
    return tool, {**arguments, "relationship": step.relation}


TOOLSET = Toolset(
    title="GraphWalk",
    instructions=(
        "Property graphs: get_node_by_property, get_all_nearest_neighbors and get_unique_property_values look nodes up "
        "by label and value; think notes a thought."
    ),
    tools=_TOOLS,
    prompts=(
        PromptSpec(
            name="graphwalk",
            title="GraphWalk: primitives of a property graph",
            description="Answer a question with look-ups by label, property and value.",
            method=_METHOD,
            example_lines=step_by_step(_step_calls),
            example_calls=walk_calls(_look, _follow, shows_rows=True),
        ),
    ),
)
