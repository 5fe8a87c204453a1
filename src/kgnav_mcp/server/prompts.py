"""Prompts, one per paper, in this project's own words, with the graph's schema and an example from the graph."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, PromptArgument
from mcp_types import INVALID_PARAMS
from rapidfuzz import process

from kgnav_mcp.app import App, Graph
from kgnav_mcp.clipping import clipped, comma_list, echoed
from kgnav_mcp.errors import ConfigurationError, InvalidRequest, KgnavError
from kgnav_mcp.model import Entity, Node, Triple
from kgnav_mcp.navigation.references import resolve_entities
from kgnav_mcp.navigation.sample_walks import SampleWalk
from kgnav_mcp.render.overview import SCHEMA_ROWS, schema_overview
from kgnav_mcp.render.problems import error_text
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.render.text import NAME_LIMIT, clean, count_tokens, name_and_id, node_text, printable_id, truncate_text
from kgnav_mcp.server.worked_examples import ExampleCalls, WorkedExamples, final_answer

PLACEHOLDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "question": "the question; appended if the text has no such placeholder",
        "topic_entities": "the entities that the question is about, with their ids",
        "schema": "the schema of the graph",
        "examples": "the examples on the graph, by --shots",
        "system_time": "date and time of the call (UTC)",
    }
)
"""The placeholders of a prompt's text, each with its meaning."""

_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z_]*)\}\}|\{ *([a-z][a-z_]*) *\}")
_SUFFIXES = (".md", ".txt")
_LONGEST_LIST = 300


def placeholders(template: str) -> set[str]:
    """The names of the placeholders in a text."""
    return {match[2] for match in _PLACEHOLDER.finditer(template) if match[2]}


def filled(template: str, values: Mapping[str, str]) -> str:
    """The text with values in place of its placeholders."""
    return _PLACEHOLDER.sub(lambda found: values[found[2]] if found[2] else f"{{{found[1]}}}", template)


def read_texts(folder: str, names: Collection[str]) -> Mapping[str, str]:
    """The texts of a folder by the name of the prompt that each replaces: `FOLDER/NAME.md` or `FOLDER/NAME.txt`.

    Hidden files and folders are ignored.

    Raises:
        ConfigurationError: the folder or a file cannot be read, a file has the name of no prompt, two have the same, or
            a text has an unknown placeholder.
    """
    try:
        files = sorted(file for file in Path(folder).iterdir() if not file.name.startswith(".") and file.is_file())
        texts = [(file, file.read_text(encoding="utf-8")) for file in files if _is_text_of(file, names)]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a file is not UTF-8 text"
        raise ConfigurationError(
            f"the prompts in {echoed(folder)} cannot be read: {reason}",
            next_step="Give --prompts a folder with files such as search_on_graph.md.",
        ) from error
    templates: dict[str, str] = {}
    for file, text in texts:
        if file.stem in templates:
            raise ConfigurationError(
                f"the prompt {file.stem} has two files in {folder}", next_step=f"Keep {file.name} or the other."
            )
        if not text.strip():
            raise ConfigurationError(f"{file} is empty", next_step="Write the prompt there, or remove the file.")
        for unknown in sorted(placeholders(text) - PLACEHOLDERS.keys()):
            shown = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ConfigurationError(
                f"{file} has the unknown placeholder {{{unknown}}}{_nearest(unknown, PLACEHOLDERS, '{{{}}}')}",
                next_step=f"The placeholders are {shown}. For the literal text write {{{{{unknown}}}}}.",
            )
        templates[file.stem] = text.strip()
    return templates


def _is_text_of(file: Path, names: Collection[str]) -> bool:
    """Whether a file is the text of a prompt.

    Raises:
        ConfigurationError: it is not.
    """
    if file.suffix in _SUFFIXES and file.stem in names:
        return True
    raise ConfigurationError(
        f"{file} is not named after a prompt{_nearest(file.stem, names, '{}.md')}",
        next_step=f"Name it after one of these, with .md or .txt: {comma_list([*names], _LONGEST_LIST)}.",
    )


def _nearest(name: str, names: Collection[str], form: str) -> str:
    match = process.extractOne(name[:100], list(names))
    return f"; the nearest is {form.format(match[0])}" if match else ""


_ARGUMENTS = [
    PromptArgument(name="question", description="The question to answer from the graph.", required=True),
    PromptArgument(name="graph", description="Name of the graph. Default: the first configured one."),
    PromptArgument(
        name="topic_entities",
        description="What the question is about: ids or names, separated by commas or as a JSON list.",
    ),
]
"""Of every prompt. Deriving them from a function's signature would take half of the time to build a server."""
_TOPICS = 2_000
"""Maximum characters of the list of topic entities."""

_CLOSING = (
    "Rules: use only what the tools show, not what you remember. Copy ids exactly. Look at every value of a relevant "
    "relation, not only at the first. Give dates, numbers and names as they are shown. If the graph does not hold the "
    'answer, say so. End with one line: `Final answer: [...]`, a JSON list of all answers: `["first", "second"]`.'
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

    example_calls: ExampleCalls
    """Returns the calls of a worked example along a walk."""
    text: str = ""
    """The user's own text with placeholders; empty for the built-in one."""

    @property
    def template(self) -> str:
        """The text of the prompt with its placeholders."""
        return self.text or "\n\n".join(
            (self.method, "{schema}", "{examples}", _CLOSING, "{topic_entities}Question: {question}")
        )


def step_by_step(step_calls: Callable[[Triple], str]) -> Callable[[SampleWalk], Sequence[str]]:
    """An `example_lines` function that writes the calls of each step of a walk, from a triple's head to its tail."""

    def lines(walk: SampleWalk) -> Sequence[str]:
        texts: list[str] = []
        for step in walk.steps:
            tail = clean(node_text(step.tail, NAME_LIMIT))
            texts += [step_calls(step), f"  shows {printable_id(step.relation.id)} -> {tail}"]
        return texts

    return lines


def add_prompts(
    server: MCPServer[None], app: App, prompts: Sequence[PromptSpec], texts: Mapping[str, str], examples: WorkedExamples
) -> None:
    """Add these prompts for the graphs of the app. `texts` has the templates that replace those of prompts by name."""
    for spec in prompts:
        write = _prompt_function(app, replace(spec, text=texts.get(spec.name, "")), examples)
        server.add_prompt(
            Prompt(
                name=spec.name,
                title=spec.title,
                description=spec.description,
                arguments=_ARGUMENTS,
                fn=write,
                context_kwarg=None,
            )
        )


def _prompt_function(app: App, spec: PromptSpec, examples: WorkedExamples) -> Callable[[str, str, str], Awaitable[str]]:
    """The prompt as a function of its arguments."""

    async def write(question: str, graph: str = "", topic_entities: str = "") -> str:
        return await _Prompt(app, spec, examples).written(graph, question, topic_entities)

    return write


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt of the server."""

    app: App
    spec: PromptSpec
    examples: WorkedExamples

    async def written(self, name: str, question: str, topic_entities: str) -> str:
        """The text of the prompt for a graph: its template, filled in.

        The budget limits its variable parts: question, topic entities, examples and schema.

        Raises:
            MCPError: the question is too long, or the graph or a topic entity does not exist.
        """
        spec, budget = self.spec, self.app.render_options.budget
        if len(question) > budget // 2:  # no character is more than one token
            message = f"Invalid call: the question has {len(question):,} characters; the limit is {budget // 2:,}."
            raise MCPError(INVALID_PARAMS, message)
        try:
            graph = self.app.graph(name.strip() or None)
        except InvalidRequest as error:
            raise MCPError(INVALID_PARAMS, error_text(error)) from error
        used = placeholders(spec.template)
        topics = await _topics(graph, topic_entities)
        values = {"question": question, "system_time": datetime.now(UTC).isoformat(" ", "seconds")}
        if spec.text:
            values["topic_entities"] = topics or "none given"
        else:
            values["topic_entities"] = f"Topic entities: {topics}\n" if topics else ""
        values["examples"] = await self._examples(graph) if "examples" in used else ""
        if "schema" in used:
            left = budget - sum(map(count_tokens, values.values()))
            values["schema"] = await _schema(graph, replace(self.app.render_options, budget=max(left, 0)))
        written = filled(spec.template, values)
        if not spec.text and not values["examples"]:
            written = written.replace("\n\n\n\n", "\n\n")
        return written if "question" in used else f"{written}\n\nQuestion: {question}"

    async def _examples(self, graph: Graph) -> str:
        if (shots := self.app.settings.shots) is not None:
            return await self.examples.text(graph, self.spec.name, self.spec.example_calls, shots)
        walk = await graph.sample()
        example = _example(walk, self.spec) if walk else "No example: the graph has no path between named entities."
        return truncate_text(example, self.app.render_options.budget // 4)


async def _topics(graph: Graph, written: str) -> str:
    """The topic entities with their names and ids; as they were given if the store does not answer.

    Raises:
        MCPError: an entity is unknown or ambiguous.
    """
    references = _references(written)
    if not references:
        return ""
    try:
        async with graph.adapter() as adapter:
            entities = await resolve_entities(adapter, references)
    except InvalidRequest as error:
        raise MCPError(INVALID_PARAMS, error_text(error)) from error
    except KgnavError:
        return comma_list([*map(clean, references)], _TOPICS)
    return comma_list([clean(name_and_id(entity)) for entity in entities], _TOPICS)


def _references(text: str) -> list[str]:
    """The references in a JSON list, or between commas."""
    try:
        parsed: object = json.loads(text) if text.lstrip().startswith("[") else None
    except ValueError:
        parsed = None
    parts = cast("list[object]", parsed) if isinstance(parsed, list) else text.split(",")
    return [str(part).strip() for part in parts if str(part).strip()]


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
    lines = ["An example on this graph:"]
    lines.append(f"Question: starting at {clean(name_and_id(walk.start))}, where do {path} lead?")
    lines += spec.example_lines(walk)
    end: Node = walk.steps[-1].tail if walk.steps else walk.start
    answer = end.label or end.id if isinstance(end, Entity) else end.text
    return "\n".join([*lines, final_answer([clean(clipped(answer, NAME_LIMIT))])])
