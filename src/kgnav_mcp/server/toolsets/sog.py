"""Search-on-Graph: one tool that shows a neighbourhood, or its relations with counts if it is too large."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kgnav_mcp.clipping import echoed
from kgnav_mcp.model import Direction, Triple
from kgnav_mcp.navigation import neighbourhood
from kgnav_mcp.navigation.sample_walks import WalkedStep
from kgnav_mcp.port import FarEndFilter
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import call_text
from kgnav_mcp.render.triples import HUB_COLUMNS, ROW_COLUMNS, neighbourhood_table
from kgnav_mcp.server.arguments import (
    CURSOR_DESCRIPTION,
    ENTITY_DESCRIPTION,
    QUESTION_DESCRIPTION,
    Arguments,
    OneOrMany,
)
from kgnav_mcp.server.prompts import PromptSpec, step_by_step
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.worked_examples import walk_calls


class Search(Arguments):
    """Arguments of `search`. The first three are the paper's, the others are additions."""

    ids: ClassVar[frozenset[str]] = frozenset({"entity", "properties_to_filter_for"})

    entity: OneOrMany = Field(description=ENTITY_DESCRIPTION)
    direction: Literal["outgoing", "incoming"] = Field(description="outgoing: entity is the head; incoming: the tail.")
    properties_to_filter_for: list[str] | None = Field(
        default=None,
        description="Property ids or labels to show rows of.",
    )
    question: str | None = Field(default=None, description=QUESTION_DESCRIPTION)
    match: str | None = Field(default=None, description="Only rows with these words in the value.")
    node_type: str | None = Field(default=None, description="Only rows whose value has this label.")
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)

    @property
    def condition(self) -> str:
        """The conditions on values, in words; empty if there are none."""
        of_type = f"to values with the label {echoed(self.node_type)}" if self.node_type else ""
        return " ".join(filter(None, (of_type, f"that match {echoed(self.match)}" if self.match else "")))


async def search(call: ToolCall, arguments: Search) -> Answer:
    """Answer with the neighbourhood of entities (Search-on-Graph, Algorithm 1)."""
    start = call.start(arguments.cursor)
    result = await neighbourhood.search(
        call.adapter,
        arguments.entity,
        Direction(arguments.direction),
        only=arguments.properties_to_filter_for or (),
        far=FarEndFilter(label=arguments.node_type, words=arguments.match),
        question=arguments.question,
        after=start.after,
        limits=call.limits,
        ranker=call.app.ranker,
        refuse_absent=call.refuse_absent,
    )
    page = result.rows or result.relations
    return call.answer(
        neighbourhood_table(result, start.offset, ranked=bool(arguments.question), condition=arguments.condition),
        page.positions if page else (),
    )


_TOOLS = (
    ToolSpec(
        name="search",
        title="Search around an entity",
        description=(
            "Knowledge graph neighbourhood of one entity or many: a table property|propertyLabel|value|valueLabel "
            "of what leaves it (outgoing) or points at it (incoming). Look before you filter; try the other "
            "direction when a relation is missing. An entity with too many "
            "rows is summarized, one row per property with counts: then call again with properties_to_filter_for, "
            "match or node_type. A value with a valueLabel is an entity, whose id can be searched next. A fifth "
            "column has qualifiers (dates, roles)."
        ),
        arguments=Search,
        run=search,
        tables=(ROW_COLUMNS, HUB_COLUMNS),
        example={"entity": "the_netherlands", "direction": "outgoing"},
    ),
)

_METHOD = """You answer a question by walking a knowledge graph with the tool `search`.

1. Name the topic entities of the question and find their ids with find_node.
2. search(entity, direction) shows what really leaves an entity, or points at it. Decide by what you see, not by what
   you expect. When a relation you need is missing, look in the other direction before you give up.
3. An entity with too many rows shows its properties instead: search again with those that may matter as
   properties_to_filter_for.
4. Go on from the ids in the value column until you hold the answer. Several values are several branches:
   pass them all as a list, search(entity=[...], ...), not one call for each."""


def _step_calls(step: Triple) -> str:
    return call_text("search", {"entity": step.head, "direction": Direction.OUTGOING})


def _look(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    return "search", {"entity": step.entity, "direction": str(step.direction)}


def _follow(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    tool, arguments = _look(step)
    return tool, {**arguments, "properties_to_filter_for": [step.relation]}


TOOLSET = Toolset(
    title="Search-on-Graph",
    instructions=(
        "Walk: search(entity, direction) shows the relations that really exist at an entity, with their values; of an "
        "entity with too many neighbours only the relations: pick some and search again with properties_to_filter_for. "
        "Not there? Try "
        "the other direction. Look at every value of a relevant property; go on from the ids in the value "
        "column, many of them as a list in one call."
    ),
    tools=_TOOLS,
    prompts=(
        PromptSpec(
            name="search_on_graph",
            title="Search-on-Graph: look, then follow",
            description="Answer a question by looking at neighbourhoods and following what is there.",
            method=_METHOD,
            example_lines=step_by_step(_step_calls),
            example_calls=walk_calls(_look, _follow, shows_rows=True),
        ),
    ),
)
