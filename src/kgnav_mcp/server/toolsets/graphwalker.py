"""GraphWalker: first the relations around an entity, then the triples of the chosen ones."""

from __future__ import annotations

from pydantic import Field

from kgnav_mcp.navigation import relations as walker
from kgnav_mcp.render import triples as sheets
from kgnav_mcp.render.sheet import Answer
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.call import Call
from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolsets.wording import CURSOR, ENTITY, QUESTION


class GetRelations(Arguments):
    """Arguments of `get_relations`."""

    entity: str = Field(description=ENTITY)
    question: str | None = Field(default=None, description=QUESTION)
    cursor: str | None = Field(default=None, description=CURSOR)


class GetTriples(Arguments):
    """Arguments of `get_triples`."""

    entity: str = Field(description=ENTITY)
    relations: list[str] = Field(description="Relation ids (or labels) from get_relations.", min_length=1)
    cursor: str | None = Field(default=None, description=CURSOR)


async def get_relations(call: Call, given: GetRelations) -> Answer:
    """GraphWalker's relation retrieval."""
    place = call.place(given.cursor)
    entity, page = await walker.get_relations(
        call.adapter,
        given.entity,
        question=given.question,
        after=place.after,
        limits=call.limits,
        ranker=call.app.ranker,
    )
    return call.answer(
        sheets.relations(entity, page, call.style, place.seen, asked=bool(given.question)), page.positions
    )


async def get_triples(call: Call, given: GetTriples) -> Answer:
    """GraphWalker's triple retrieval."""
    place = call.place(given.cursor)
    entity, page = await walker.get_triples(
        call.adapter, given.entity, given.relations, after=place.after, limits=call.limits
    )
    return call.answer(sheets.triples(entity, page, call.style, place.seen), page.positions)


TOOLS = (
    ToolSpec(
        name="get_relations",
        title="List an entity's relations",
        toolset="graphwalker",
        description=(
            "Knowledge graph relations at one entity, both directions, each with its direction and row count. With "
            "a question the best matching ones come first and the list is cut to them (a cursor shows the rest). A "
            "relation `rel1.rel2` leads through an unnamed event or role node in one step. Next: get_triples with the "
            "relations you chose."
        ),
        arguments=GetRelations,
        run=get_relations,
    ),
    ToolSpec(
        name="get_triples",
        title="Follow relations from an entity",
        toolset="graphwalker",
        description=(
            "Knowledge graph triples [head, relation, tail] of the chosen relations at one entity, in whichever "
            "direction it has them, with ids and names; qualifiers of an edge stand beside it. Take relation ids from "
            "get_relations. Every triple is reachable: the first line says how many there are and gives a cursor when "
            "there are more."
        ),
        arguments=GetTriples,
        run=get_triples,
    ),
)
