"""Counts: the degree of an entity, without its rows."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from kgnav_mcp.model import Certainty, Direction
from kgnav_mcp.navigation.degrees import get_degrees
from kgnav_mcp.render.columns import COUNT, DIRECTION, ENTITY, RELATION, Column
from kgnav_mcp.render.table import Answer, Table
from kgnav_mcp.render.triples import entity_notes
from kgnav_mcp.server.arguments import (
    CURSOR_DESCRIPTION,
    EITHER,
    ENTITY_DESCRIPTION,
    Arguments,
    EitherDirection,
    OneOrMany,
)
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset

_COLUMNS = (
    Column("entity", ENTITY, "entityLabel"),
    Column("relation", RELATION, optional=True),
    DIRECTION,
    Column("triples", COUNT),
)
_LOWER_BOUND = "A number with + is a lower bound: the store did not count all triples."


class GetDegree(Arguments):
    """Arguments of `get_degree`."""

    ids: ClassVar[frozenset[str]] = frozenset({"entity", "relation"})

    entity: OneOrMany = Field(description=ENTITY_DESCRIPTION)
    relation: str | None = Field(default=None, description="Relation id or label; all relations when left out.")
    direction: EitherDirection = Field(
        default=EITHER, description="outgoing: triples with the entity as head; incoming: as tail; either: both."
    )
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


async def get_degree(call: ToolCall, arguments: GetDegree) -> Answer:
    """Answer with the number of triples at entities."""
    start = call.start(arguments.cursor)
    direction = None if arguments.direction == EITHER else Direction(arguments.direction)
    degrees = await get_degrees(
        call.adapter, arguments.entity, arguments.relation, direction, after=start.after, limits=call.limits
    )
    page = degrees.page
    exact = all(degree.count.certainty is Certainty.EXACT for degree in page.items)
    table = Table(
        "counts",
        _COLUMNS,
        [(degree.entity, degree.relation, degree.direction, degree.count) for degree in page.items],
        page.total,
        page.stop,
        start.offset,
        intro=entity_notes(degrees.entities),
        notes=tuple(filter(None, (page.note, "" if exact else _LOWER_BOUND))),
        about=degrees.entities,
    )
    return call.answer(table, page.positions)


TOOLSET = Toolset(
    title="Counts",
    instructions="get_degree(entity) counts the triples at an entity without showing them.",
    tools=(
        ToolSpec(
            name="get_degree",
            title="Count an entity's triples",
            description=(
                "Number of triples at one knowledge graph entity or many, outgoing and incoming, of all relations or "
                "of one. Triples with values (names, dates) count as outgoing. A number with + is a lower bound."
            ),
            arguments=GetDegree,
            run=get_degree,
            tables=(_COLUMNS,),
            example={"entity": "the_netherlands"},
        ),
    ),
)
