"""GraphWalker: first the relations of an entity, then the triples of the chosen relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from pydantic import Field

from kgnav_mcp.model import Triple
from kgnav_mcp.navigation import relations as walker
from kgnav_mcp.navigation.relation_lists import Ranker
from kgnav_mcp.navigation.sample_walks import WalkedStep
from kgnav_mcp.navigation.shown_graph import last_thought
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import call_text
from kgnav_mcp.render.triples import RELATION_COLUMNS, TRIPLE_COLUMNS, relations_table, triples_table
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


class GetRelations(Arguments):
    """Arguments of `get_relations`."""

    ids: ClassVar[frozenset[str]] = frozenset({"entity"})

    entity: OneOrMany = Field(description=ENTITY_DESCRIPTION)
    question: str | None = Field(default=None, description=QUESTION_DESCRIPTION)
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


class GetTriples(Arguments):
    """Arguments of `get_triples`."""

    ids: ClassVar[frozenset[str]] = frozenset({"entity", "relations"})

    entity: OneOrMany = Field(description=ENTITY_DESCRIPTION)
    relations: list[str] = Field(description="Relation ids or labels from get_relations.", min_length=1)
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


async def get_relations(call: ToolCall, arguments: GetRelations) -> Answer:
    """Answer with the relations of entities, ranked by the question or the trail's (GraphWalker, appendix F.2)."""
    question, ranker = await question_and_ranker(call, arguments)
    if question:
        call = replace(call, arguments={**call.arguments, "question": question})  # so that cursors depend on it
    start = call.start(arguments.cursor)
    relations = await walker.get_relations(
        call.adapter,
        arguments.entity,
        question=question,
        after=start.after,
        limits=call.limits,
        ranker=ranker,
    )
    table = relations_table(relations, start.offset, ranked=bool(question))
    return call.answer(table, relations.page.positions)


async def question_and_ranker(call: ToolCall, arguments: GetRelations) -> tuple[str | None, Ranker]:
    """The question (of the call, else of the trail) by which relations are ranked, and the ranker.

    A language model is shown the trail's last thought (GraphWalker, appendix H).
    """
    question = arguments.question
    if question is None and call.recording is not None:
        question = call.recording.beginning.question
    # Only a language model reads thoughts, and they are all steps of the trail, which take time to read.
    thought = last_thought(await call.trail()) if call.recording and call.app.settings.ranker == "llm" else ""
    return question, partial(call.app.ranker, thought=thought)


async def get_triples(call: ToolCall, arguments: GetTriples) -> Answer:
    """Answer with the triples of chosen relations (GraphWalker's triple retrieval)."""
    start = call.start(arguments.cursor)
    triples = await walker.get_triples(
        call.adapter,
        arguments.entity,
        arguments.relations,
        after=start.after,
        limits=call.limits,
        refuse_absent=call.refuse_absent,
    )
    return call.answer(triples_table(triples, start.offset), triples.page.positions)


_TOOLS = (
    ToolSpec(
        name="get_relations",
        title="List an entity's relations",
        description=(
            "Knowledge graph relations of one entity or many, with direction and row count. With a question the "
            "best matches come first and the rest behind a cursor. A relation `rel1.rel2` passes through an "
            "unnamed node. Next: get_triples."
        ),
        arguments=GetRelations,
        run=get_relations,
        tables=(RELATION_COLUMNS,),
        example={"entity": "vincent_van_gogh"},
    ),
    ToolSpec(
        name="get_triples",
        title="Follow relations from an entity",
        description=(
            "Knowledge graph triples [head, relation, tail] of chosen relations of one entity or many, in "
            "whichever direction they exist, with ids, names and qualifiers. The first line counts them and has a "
            "cursor when there are more."
        ),
        arguments=GetTriples,
        run=get_triples,
        tables=(TRIPLE_COLUMNS,),
        example={"entity": "the_netherlands", "relations": ["contains", "capital"]},
    ),
)

_METHOD = """You answer a question by walking a knowledge graph with get_relations and get_triples.

1. Name the topic entities of the question and find their ids with find_node.
2. get_relations(entity, question) lists the relations around an entity, best match first.
3. get_triples(entity, relations) follows the ones you choose. Choose more than one when in doubt.
4. Go on from the heads and tails you found, all of them as a list in one call, until they answer the question."""


def _step_calls(step: Triple) -> str:
    first = call_text("get_relations", {"entity": step.head})
    return f"{first}\n{call_text('get_triples', {'entity': step.head, 'relations': [step.relation]})}"


def _look(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    return "get_relations", {"entity": step.entity}


def _follow(step: WalkedStep) -> tuple[str, Mapping[str, object]]:
    return "get_triples", {"entity": step.entity, "relations": [step.relation]}


TOOLSET = Toolset(
    title="GraphWalker",
    instructions=(
        "Or: get_relations(entity, question) ranks the relations of both directions, get_triples(entity, relations) "
        "follows the chosen ones."
    ),
    tools=_TOOLS,
    prompts=(
        PromptSpec(
            name="graphwalker",
            title="GraphWalker: relations first, then triples",
            description="Answer a question by choosing among ranked relations and following them.",
            method=_METHOD,
            example_lines=step_by_step(_step_calls),
            example_calls=walk_calls(_look, _follow, shows_rows=False),
        ),
    ),
)
