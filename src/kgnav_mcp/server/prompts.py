"""Prompts, one per paper, in this project's own words, with the served graph's schema and an example walked on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import INVALID_PARAMS
from pydantic import Field

from kgnav_mcp.app import App, Graph
from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import InvalidRequest, KgnavError
from kgnav_mcp.model import Direction, Entity, Node, Triple
from kgnav_mcp.navigation.primitives import ANY_LABEL
from kgnav_mcp.navigation.sampling import SampleWalk
from kgnav_mcp.render.budget import bounded
from kgnav_mcp.render.calls import call_text
from kgnav_mcp.render.overview import overview
from kgnav_mcp.render.problems import problem
from kgnav_mcp.render.sheet import Style
from kgnav_mcp.render.text import NAME_LIMIT, clean, identifier, named, shown
from kgnav_mcp.render.tokens import count_tokens

Question = Annotated[str, Field(description="The question to answer from the graph.")]
GraphName = Annotated[str, Field(description="Which graph; the first configured one when left out.")]

_SCHEMA_ROWS = 200

_CLOSING = (
    "Rules: use only what the tools show, not what you remember. Copy ids exactly. Look at every value of a relevant "
    "relation, not only at the first. Give dates, numbers and names as they are shown. If the graph does not hold the "
    "answer, say so. End with one line: `Final answer: {...}`, several answers separated by commas."
)


def add_prompts(server: MCPServer[None], app: App) -> None:
    """Offer the prompts of the toolsets that are on."""
    toolsets = app.settings.toolsets

    async def search_on_graph(question: Question, graph: GraphName = "") -> str:
        return await _prompt(app, graph, question, _SEARCH_ON_GRAPH, _search_example)

    async def graphwalker(question: Question, graph: GraphName = "") -> str:
        return await _prompt(app, graph, question, _GRAPHWALKER, _walker_example)

    async def graphwalk(question: Question, graph: GraphName = "") -> str:
        return await _prompt(app, graph, question, _GRAPHWALK, _walk_example)

    if "sog" in toolsets:
        server.prompt(
            title="Search-on-Graph: look, then follow",
            description="Answer a question by looking at neighbourhoods one entity at a time.",
        )(search_on_graph)
    if "graphwalker" in toolsets:
        server.prompt(
            title="GraphWalker: relations first, then triples",
            description="Answer a question by choosing among ranked relations and following them.",
        )(graphwalker)
    if "graphwalk" in toolsets:
        server.prompt(
            title="GraphWalk: primitives of a property graph",
            description="Answer a question with look-ups by label, property and value.",
        )(graphwalk)


Example = Callable[[SampleWalk], str]
"""Writes the calls that make a walk of one or two steps."""

_SEARCH_ON_GRAPH = """You answer a question by walking a knowledge graph with the tool `search`.

1. Name the topic entities of the question and find their ids with find_node.
2. search(entity, direction) shows what really leaves an entity, or points at it. Decide by what you see, not by what
   you expect. When a relation you need is missing, look in the other direction before you give up.
3. A hub shows its properties with counts. Choose those that may matter and search again with properties_to_filter_for.
4. Go on from the ids in the value column until you hold the answer. Several values are several branches:
   follow each."""

_GRAPHWALKER = """You answer a question by walking a knowledge graph with get_relations and get_triples.

1. Name the topic entities of the question and find their ids with find_node.
2. get_relations(entity, question) lists the relations around an entity, best match first, each with its direction.
3. get_triples(entity, relations) follows the ones you choose. Choose more than one when in doubt.
4. Go on from the heads and tails you found, at most four hops, until they answer the question."""

_GRAPHWALK = """You answer a question about a property graph with four small tools.

1. think(thought): say what you need before each look-up.
2. get_unique_property_values(property_name, entity_name, entity_type) shows how values are written.
3. get_node_by_property(label, property_name, property_value) gives the nodes that have a value, with all properties.
4. get_all_nearest_neighbors(label, property_name, property_value) gives everything one step away from such a node.
Count and compare only over complete lists: the first line of an answer says whether it is complete."""


async def _prompt(app: App, name: str, question: str, method: str, example: Example) -> str:
    """The prompt. The budget bounds what is not its own words: question, example and schema.

    Raises:
        MCPError: the question is too long, or there is no such graph.
    """
    budget = app.style.budget
    if len(question) > budget // 2:  # no character is more than one token
        raise MCPError(
            INVALID_PARAMS, f"Invalid call: the question has {len(question):,} characters, {budget // 2:,} are taken."
        )
    try:
        graph = app.graph(name.strip() or None)
    except InvalidRequest as error:
        raise MCPError(INVALID_PARAMS, problem(error)) from error
    walked = bounded(await _example(graph, example), budget // 4)
    left = budget - count_tokens(question) - count_tokens(walked)
    schema = await _schema(graph, replace(app.style, budget=left, structured=False))
    return "\n\n".join((method, schema, walked, _CLOSING, f"Question: {question}"))


async def _schema(graph: Graph, style: Style) -> str:
    try:
        async with graph.adapter() as adapter:
            schema = await adapter.schema(limit=_SCHEMA_ROWS)
            style = replace(style, coined=adapter.coined_prefixes)
    except KgnavError as error:
        return f"The graph cannot be read now.\n{bounded(problem(error), style.budget)}"
    text = overview(graph.name, schema, None, style).text
    return "The graph:\n" + text.rpartition("\nNext:")[0].rstrip()


async def _example(graph: Graph, example: Example) -> str:
    walk = await graph.sample()
    return f"An example on this very graph:\n{example(walk)}" if walk else "No example: the graph has no named walk."


def _search_example(walk: SampleWalk) -> str:
    return _walked(walk, lambda entity, _: call_text("search", {"entity": entity, "direction": Direction.OUTGOING}))


def _walker_example(walk: SampleWalk) -> str:
    return _walked(
        walk,
        lambda entity, step: (
            f"{call_text('get_relations', {'entity': entity})}\n"
            f"{call_text('get_triples', {'entity': entity, 'relations': [step.relation]})}"
        ),
    )


def _walk_example(walk: SampleWalk) -> str:
    def call(entity: Entity, _: Triple) -> str:
        picked = {"label": next(iter(entity.types), ANY_LABEL), "property_name": "name"}
        return call_text("get_all_nearest_neighbors", {**picked, "property_value": entity.label or entity.id})

    return _walked(walk, call)


def _walked(walk: SampleWalk, call: Callable[[Entity, Triple], str]) -> str:
    path = " and then ".join(clean(clipped(step.relation.label, NAME_LIMIT)) for step in walk.steps)
    lines = [f"Question: starting at {clean(named(walk.start))}, where do {path} lead?"]
    end: Node = walk.start
    for step in walk.steps:
        far = clean(shown(step.tail, NAME_LIMIT))
        lines += [call(step.head, step), f"  shows {identifier(step.relation.id)} -> {far}"]
        end = step.tail
    answer = end.label or end.id if isinstance(end, Entity) else end.text
    return "\n".join([*lines, f"Final answer: {{{clean(clipped(answer, NAME_LIMIT))}}}"])
