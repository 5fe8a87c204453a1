"""The tools of three papers with answers in the papers' formats (`--paper-format`); the other papers define none.

Each tool reads as its paper's does and is rendered by `render.paper`. Arguments that the paper does not have still
work, except cursors: an answer is whole, or an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgnav_mcp.adapters.naming import language_rank
from kgnav_mcp.errors import AnswerTooLarge, InvalidCursor, UnknownRelation
from kgnav_mcp.model import Count, Direction, Entity, Literal, Neighbourhood, Page, Relation, Stop, Triple
from kgnav_mcp.navigation import graphwalk, neighbourhood
from kgnav_mcp.navigation import relations as walker
from kgnav_mcp.navigation.pages import pages_of_whole_list, refuse_partial
from kgnav_mcp.navigation.relations import RELATIONS, TRIPLES_PER_RELATION, relation_triples
from kgnav_mcp.port import FarEndFilter, ValueOwner
from kgnav_mcp.render import paper
from kgnav_mcp.render.paper import MAX_BYTES, ObjectList, PaperAnswer
from kgnav_mcp.server.arguments import EITHER
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets.graphwalk import Neighbors, NodesByProperty, Think, UniqueValues, maze_marks
from kgnav_mcp.server.toolsets.graphwalker import GetRelations, GetTriples, question_and_ranker
from kgnav_mcp.server.toolsets.sog import Search

_RELATIONS_PER_DIRECTION = 100
"""Relations that get_relations reads in each direction (GraphWalker, F.2)."""


def in_paper_format(spec: ToolSpec[Any]) -> ToolSpec[Any]:
    """The tool with answers in its paper's format; the tool as it is if its paper defines none."""
    paper_tool = _PAPER_TOOLS.get(spec.name)
    if paper_tool is None:
        return spec

    async def run(call: ToolCall, arguments: Any) -> PaperAnswer:  # noqa: ANN401 - the arguments of any of these tools
        if getattr(arguments, "cursor", None):
            raise InvalidCursor(
                "answers in a paper's format have no cursor", next_step="Repeat the call without the cursor."
            )
        answer = await paper_tool.run(call, arguments)
        if len(answer.text.encode()) > MAX_BYTES:
            raise AnswerTooLarge(MAX_BYTES, next_step=paper_tool.ask_for_less)
        return answer

    return replace(spec, run=run, description=paper_tool.description, in_paper_format=True)


async def _search(call: ToolCall, arguments: Search) -> PaperAnswer:
    """Search-on-Graph's Algorithm 1 over single triples: mediators are nodes. An unknown property has no rows."""
    limits = replace(call.limits, flatten=False, collapse_single=True, characters=None, examples=0)
    direction = Direction(arguments.direction)
    try:
        result = await neighbourhood.search(
            call.adapter,
            arguments.entity,
            direction,
            only=arguments.properties_to_filter_for or (),
            far=FarEndFilter(label=arguments.node_type, words=arguments.match),
            question=arguments.question,
            limits=limits,
            ranker=call.app.ranker,
            refuse_absent=call.refuse_absent,
        )
    except UnknownRelation as error:
        if call.refuse_absent:
            raise
        result = Neighbourhood(error.entities, direction, rows=Page((), (), Count(0)))
    if (page := result.rows or result.relations) and page.stop is not Stop.LIMIT:
        refuse_partial(page.stop)
    if result.rows is not None:
        result = replace(
            result, rows=replace(result.rows, items=_in_one_language(result.rows.items, call.graph.languages))
        )
    return paper.neighbourhood(result)


def _in_one_language(rows: Sequence[Triple], languages: Sequence[str]) -> tuple[Triple, ...]:
    """The rows with the texts of each property of an entity in one language only, the most preferred that there is.

    The table does not say the language of a text, so that a name would stand there once for each.
    """

    def order(language: str) -> tuple[int, str]:
        return language_rank(language, languages), language

    chosen: dict[tuple[Entity, Relation], str] = {}
    for row in rows:
        if isinstance(row.tail, Literal) and (language := row.tail.language):
            key = row.head, row.relation
            chosen[key] = min(language, chosen.get(key, language), key=order)
    return tuple(
        row
        for row in rows
        if not (isinstance(row.tail, Literal) and row.tail.language)
        or row.tail.language == chosen[row.head, row.relation]
    )


async def _get_relations(call: ToolCall, arguments: GetRelations) -> PaperAnswer:
    question, ranker = await question_and_ranker(call, arguments)
    relations = await walker.get_relations(
        call.adapter,
        arguments.entity,
        question=question,
        limits=replace(call.limits, relations_per_direction=_RELATIONS_PER_DIRECTION),
        ranker=ranker,
    )
    if relations.page.stop is not Stop.LIMIT:
        refuse_partial(relations.page.stop)
    return paper.relation_ids(relations.page.items, relations.entities)


async def _get_triples(call: ToolCall, arguments: GetTriples) -> PaperAnswer:
    entities, triples = await relation_triples(call.adapter, arguments.entity, arguments.relations, limits=call.limits)
    return paper.triples(triples, entities)


async def _get_node_by_property(call: ToolCall, arguments: NodesByProperty) -> PaperAnswer:
    objects = ObjectList(_GRAPHWALK_NODES)
    marks = await maze_marks(call)

    async def read(after: str | None) -> Page[Any]:
        nodes = await graphwalk.get_node_by_property(
            call.adapter,
            arguments.label,
            arguments.property_name,
            arguments.value,
            properties=arguments.properties or (),
            after=after,
            every_property=True,
            marks=marks,
        )
        return nodes.page

    async for page in pages_of_whole_list(read):
        for node in page.items:
            objects.add(paper.node_object(node), (node.entity,))
    return objects.answer()


async def _get_all_nearest_neighbors(call: ToolCall, arguments: Neighbors) -> PaperAnswer:
    objects = ObjectList(_GRAPHWALK_NEIGHBOURS)
    marks = await maze_marks(call)
    limits = replace(call.limits, flatten=False)

    async def read(after: str | None) -> Page[Any]:
        nearest = await graphwalk.get_all_nearest_neighbors(
            call.adapter,
            arguments.label,
            arguments.property_name,
            arguments.value,
            direction=Direction(arguments.direction) if arguments.direction != EITHER else None,
            relationship=arguments.relationship,
            neighbor_label=arguments.neighbor_label,
            after=after or graphwalk.FROM_FIRST_LINK,
            limits=limits,
            marks=marks,
        )
        refuse_partial(nearest.anchors.stop)
        page = nearest.links or Page((), (), Count(0))
        ends = [(link, link.far_end) for link in page.items]
        pairs = tuple((link, nearest.neighbours[end.id]) for link, end in ends if isinstance(end, Entity))
        return replace(page, items=pairs)

    async for page in pages_of_whole_list(read):
        for link, neighbour in page.items:
            objects.add(paper.neighbour_object(link, neighbour), (link.triple,))
    return objects.answer()


async def _get_unique_property_values(call: ToolCall, arguments: UniqueValues) -> PaperAnswer:
    objects = ObjectList(_GRAPHWALK_VALUES)
    owner = ValueOwner(arguments.entity_type)
    marks = await maze_marks(call)

    async def read(after: str | None) -> Page[Any]:
        return await graphwalk.get_unique_property_values(
            call.adapter,
            arguments.property_name,
            arguments.entity_name,
            owner,
            after=after,
            limits=call.limits,
            marks=marks,
        )

    texts: set[tuple[str, str | None]] = set()
    async for page in pages_of_whole_list(read):
        for facts in page.items:
            text = facts.value.text, facts.value.datatype
            if text not in texts:  # the same text in two languages is one value
                texts.add(text)
                objects.add(paper.value_object(facts), ())
    return objects.answer()


async def _think(_: ToolCall, arguments: Think) -> PaperAnswer:
    return PaperAnswer(arguments.thought, 1)


@dataclass(frozen=True, slots=True)
class _PaperTool:
    """A tool's function and description in its paper's format, and the advice when its answer is too large."""

    run: Callable[[ToolCall, Any], Awaitable[PaperAnswer]]
    description: str
    ask_for_less: str = "Ask for fewer entities or relations."


_GRAPHWALK_NODES = "Name the properties to show (properties), or ask for a rarer value."
_GRAPHWALK_NEIGHBOURS = "Narrow the neighbours by direction, relationship or neighbor_label."
_GRAPHWALK_VALUES = "Ask for the values of one label or type; without --paper-format they come in pages."

_PAPER_TOOLS: Mapping[str, _PaperTool] = {
    "search": _PaperTool(
        _search,
        "Knowledge graph triples that leave an entity (outgoing) or point at it (incoming): the number of rows, then a "
        "table property|propertyLabel|value|valueLabel. A literal has no valueLabel, nor has a node without a name, "
        "which can be searched by its id. An entity with too many rows gives its distinct properties only: search "
        "again with properties_to_filter_for. Longer lists end at a fixed number of rows.",
    ),
    "get_relations": _PaperTool(
        _get_relations,
        "Ids of the relations at a knowledge graph entity, in both directions, separated by commas. With a question "
        "the best matching ones only, best first. A relation `rel1.rel2` leads through an unnamed node.",
    ),
    "get_triples": _PaperTool(
        _get_triples,
        f"Triples [head, relation, tail] of the chosen relations at a knowledge graph entity, in either direction, by "
        f"names. The first {RELATIONS} relations of the list are followed, so rank them by relevance; of each the "
        f"first {TRIPLES_PER_RELATION} triples are shown. Take the ids from get_relations.",
    ),
    "get_node_by_property": _PaperTool(
        _get_node_by_property,
        "Graph nodes with this label whose property has this value, as a JSON list of objects with all properties of "
        "each node.",
    ),
    "get_all_nearest_neighbors": _PaperTool(
        _get_all_nearest_neighbors,
        "All graph neighbours of the nodes with this label and property value, in both directions, as a JSON list: "
        "the neighbour's properties and labels, and the relationship with its type, direction and properties.",
    ),
    "get_unique_property_values": _PaperTool(
        _get_unique_property_values,
        'Distinct values of one property over the nodes of a label or the relationships of a type: [{"values": ...}].',
    ),
    "think": _PaperTool(_think, "Write down reasoning between look-ups; returns the thought and changes nothing."),
}
