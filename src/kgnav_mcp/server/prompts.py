"""Prompts, one per paper, in this project's own words, with the graph's schema and an example from the graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import INVALID_PARAMS
from pydantic import Field

from kgnav_mcp.app import App, Graph
from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import InvalidRequest, KgnavError
from kgnav_mcp.model import Entity, Node, Triple
from kgnav_mcp.navigation.sampling import SampleWalk
from kgnav_mcp.render.budget import truncate_text
from kgnav_mcp.render.overview import SCHEMA_ROWS, schema_overview
from kgnav_mcp.render.problems import error_text
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.render.text import NAME_LIMIT, clean, name_and_id, node_text, printable_id
from kgnav_mcp.render.tokens import count_tokens

Question = Annotated[str, Field(description="The question to answer from the graph.")]
GraphName = Annotated[str, Field(description="Which graph; the first configured one when left out.")]

_CLOSING = (
    "Rules: use only what the tools show, not what you remember. Copy ids exactly. Look at every value of a relevant "
    "relation, not only at the first. Give dates, numbers and names as they are shown. If the graph does not hold the "
    "answer, say so. End with one line: `Final answer: {...}`, several answers separated by commas."
)


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt that answers a question with the tools of one toolset."""

    name: str
    title: str
    description: str
    method: str
    """How to answer, step by step."""
    example_lines: Callable[[SampleWalk], Sequence[str]]
    """Returns the lines of the example: the tool calls along a walk, and what they show."""


def step_by_step(step_calls: Callable[[Triple], str]) -> Callable[[SampleWalk], Sequence[str]]:
    """A `walk_calls` function that writes each step of a walk separately, as calls from a triple's head to its tail."""

    def lines(walk: SampleWalk) -> Sequence[str]:
        texts: list[str] = []
        for step in walk.steps:
            tail = clean(node_text(step.tail, NAME_LIMIT))
            texts += [step_calls(step), f"  shows {printable_id(step.relation.id)} -> {tail}"]
        return texts

    return lines


def add_prompts(server: MCPServer[None], app: App, prompts: Iterable[PromptSpec]) -> None:
    """Add these prompts for the graphs of the app."""
    for spec in prompts:
        server.prompt(spec.name, title=spec.title, description=spec.description)(_prompt_function(app, spec))


def _prompt_function(app: App, spec: PromptSpec) -> Callable[[str, str], Awaitable[str]]:
    """The prompt as a function, from whose signature the SDK derives the prompt's arguments."""

    async def write(question: Question, graph: GraphName = "") -> str:
        return await _prompt(app, graph, question, spec)

    return write


async def _prompt(app: App, name: str, question: str, spec: PromptSpec) -> str:
    """The text of the prompt. The budget limits its variable parts: question, example and schema.

    Raises:
        MCPError: the question is too long, or the graph does not exist.
    """
    budget = app.render_options.budget
    if len(question) > budget // 2:  # no character is more than one token
        raise MCPError(
            INVALID_PARAMS, f"Invalid call: the question has {len(question):,} characters, {budget // 2:,} are taken."
        )
    try:
        graph = app.graph(name.strip() or None)
    except InvalidRequest as error:
        raise MCPError(INVALID_PARAMS, error_text(error)) from error
    walk = await graph.sample()
    example = _example(walk, spec) if walk else "No example: the graph has no named walk."
    example = truncate_text(example, budget // 4)
    left = budget - count_tokens(question) - count_tokens(example)
    schema = await _schema(graph, replace(app.render_options, budget=left))
    return "\n\n".join((spec.method, schema, example, _CLOSING, f"Question: {question}"))


async def _schema(graph: Graph, options: RenderOptions) -> str:
    try:
        async with graph.adapter() as adapter:
            schema = await adapter.schema(limit=SCHEMA_ROWS)
            options = replace(options, generated_prefixes=adapter.generated_prefixes)
    except KgnavError as error:
        return f"The graph cannot be read now.\n{truncate_text(error_text(error), options.budget)}"
    text = schema_overview(graph.name, schema, None, options).text
    return "The graph:\n" + text.rpartition("\nNext:")[0].rstrip()


def _example(walk: SampleWalk, spec: PromptSpec) -> str:
    """A question that this walk answers, the tool calls of each step, and the answer."""
    path = " and then ".join(clean(clipped(step.relation.label, NAME_LIMIT)) for step in walk.steps)
    lines = ["An example on this very graph:"]
    lines.append(f"Question: starting at {clean(name_and_id(walk.start))}, where do {path} lead?")
    lines += spec.example_lines(walk)
    end: Node = walk.steps[-1].tail if walk.steps else walk.start
    answer = end.label or end.id if isinstance(end, Entity) else end.text
    return "\n".join([*lines, f"Final answer: {{{clean(clipped(answer, NAME_LIMIT))}}}"])
