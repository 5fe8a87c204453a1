"""Trails: recorded walks with a handle, and proofs of answers by what a walk has shown."""

from __future__ import annotations

import time
from typing import ClassVar

from pydantic import Field

from kgnav_mcp.clipping import comma_list
from kgnav_mcp.errors import pause_text
from kgnav_mcp.model import Trail
from kgnav_mcp.navigation.evidence import check_answers
from kgnav_mcp.navigation.references import resolve_entities
from kgnav_mcp.navigation.shown_graph import CHECK_TOOL, connected_path, nodes_of_path
from kgnav_mcp.render.columns import VALUES, Column
from kgnav_mcp.render.table import Answer, row_answer
from kgnav_mcp.render.text import name_and_id
from kgnav_mcp.render.trails import (
    EVIDENCE_COLUMNS,
    PATH_COLUMNS,
    STEP_COLUMNS,
    evidence_table,
    path_table,
    transcript_table,
)
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.trail_recorder import TrailUse, verified_caller

HANDLE = "Handle from start_trail."
ONLY_TRAIL = "Handle from start_trail. Optional while you use a single trail."
_STARTED = (Column("trail"), Column("topics", VALUES))
_NAMES = 500
"""Maximum characters of the list of topics."""


class StartTrail(Arguments):
    """Arguments of `start_trail`."""

    ids: ClassVar[frozenset[str]] = frozenset({"topic_entities"})

    question: str = Field(description="The question to answer.")
    topic_entities: list[str] = Field(
        description="Entities of the question, by id or unique name: proofs start there.",
        min_length=1,
    )


class TrailArguments(Arguments):
    """Arguments of tools that read a trail."""

    trail: str = Field(description=HANDLE)


class OnlyTrail(Arguments):
    """Arguments of tools that read a trail, by default the only one of the client."""

    trail: str | None = Field(default=None, description=ONLY_TRAIL)


class CheckAnswer(TrailArguments):
    """Arguments of `check_answer`."""

    answers: list[str] = Field(description="The answers: ids, names or values as they were shown.", min_length=1)


async def start_trail(call: ToolCall, arguments: StartTrail) -> Answer:
    """Start a trail and answer with its handle."""
    topics = await resolve_entities(call.adapter, arguments.topic_entities)
    trails = call.app.trails
    handle = await trails.start(Trail(call.graph.name, arguments.question, topics, time.time()), verified_caller())
    if call.client is not None:
        call.client.remember(handle)
    names = comma_list([*map(name_and_id, topics)], _NAMES)
    text = (
        f"trail: {handle}\nTopics: {names}. Kept for {pause_text(trails.lifetime)} after its last use.\n"
        "Next: pass it as `trail` to the tools you call; check_answer(trail, answers) then shows paths to your answers."
    )
    return row_answer(text, _STARTED, (handle, topics))


async def show_trail(call: ToolCall, arguments: TrailArguments) -> Answer:
    """Answer with the transcript of a trail."""
    return call.answer(transcript_table(await call.trail(), arguments.trail.strip(), call.options), None)


async def get_connected_path(call: ToolCall, _: OnlyTrail) -> Answer:
    """Answer with the shortest path over visited nodes (GraphWalk)."""
    trail = await call.trail()
    return call.answer(path_table(connected_path(trail), len(nodes_of_path(trail))), None)


async def check_answer(call: ToolCall, arguments: CheckAnswer) -> Answer:
    """Answer with the verdict and proof for each answer."""
    evidence = await check_answers(
        call.adapter,
        await call.trail(),
        arguments.answers,
        hub_rows=call.limits.row_limit,
        bare=call.app.settings.paper_format,
    )
    return call.answer(evidence_table(evidence), None)


TOOLSET = Toolset(
    title="Trails and proofs",
    instructions=(
        "start_trail(question, topic_entities) gives a handle; pass it as `trail` to the tools you call, and call "
        "check_answer(trail, answers) before you answer: it shows the path that connects each answer with a topic."
    ),
    tools=(
        ToolSpec(
            name="start_trail",
            title="Start a trail",
            description=(
                "Begin to record a walk of the knowledge graph: returns a handle to pass as `trail` to any other tool. "
                "Its calls can then be listed, joined to a path, and used to check answers. The answer says how long a "
                "trail is kept."
            ),
            arguments=StartTrail,
            run=start_trail,
            tables=(_STARTED,),
            example={"question": "Where was Vincent van Gogh born?", "topic_entities": ["vincent_van_gogh"]},
            read_only=False,
            idempotent=False,
            trail=TrailUse.NONE,
        ),
        ToolSpec(
            name="show_trail",
            title="Show a trail",
            description=(
                "The recorded walk: question, topics, and each call with the first line of its answer and the edges it "
                "showed. The oldest steps of a long walk are summarized by their edges."
            ),
            arguments=TrailArguments,
            run=show_trail,
            tables=(STEP_COLUMNS,),
            example={},
            trail=TrailUse.READ,
        ),
        ToolSpec(
            name="get_connected_path",
            title="Get the path over visited entities",
            description=(
                "Shortest path of a trail from the first entity that was visited (asked about) to the last, over "
                "visited entities alone, along edges that were shown. In a maze these are the cells that were entered."
            ),
            arguments=OnlyTrail,
            run=get_connected_path,
            tables=(PATH_COLUMNS,),
            example={},
            trail=TrailUse.READ,
        ),
        ToolSpec(
            name=CHECK_TOOL,
            title="Check answers by a trail",
            description=(
                "Before answering: for each answer whether this trail showed it, and the triples that lead from a "
                "topic entity to it, looked up again in the store. Verdicts: connected; connected only through a hub; "
                "changed since; seen but not connected; never seen."
            ),
            arguments=CheckAnswer,
            run=check_answer,
            tables=(EVIDENCE_COLUMNS,),
            example={"answers": ["zundert"]},
        ),
    ),
)
