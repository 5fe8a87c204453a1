"""Worked examples in prompts: calls along walks of the served graph, with the tools' real answers."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, cast

from kgnav_mcp.app import App, Graph
from kgnav_mcp.errors import InvalidRequest, KgnavError
from kgnav_mcp.model import Direction, Entity, Relation, Triple
from kgnav_mcp.navigation.sample_walks import Walk, WalkedStep, worked_walks
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import call_text, clean, count_tokens, name_and_id, printable_id
from kgnav_mcp.server.tool import ToolSpec, run_tool
from kgnav_mcp.server.trail_recorder import TRAIL

TRAIL_SHOWN = "trail-..."
"""The handle of a trail in an example: real handles are for their owners only."""

_ROWS = 3
"""Rows of a table that are shown besides those of the walk."""
_MAX_ROWS = 12
_TOO_LARGE = 5
"""Number of examples over the remaining budget after which no further one is tried."""
_SEPARATOR = re.compile(r"-+(\|-+)*")


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """A call of an example, with its reason and the step of the walk whose rows its answer must show."""

    reason: str
    tool: str
    arguments: Mapping[str, object]
    step: WalkedStep
    shows_ends: bool = True
    """Whether the answer shows where the step leads, and not only its relation."""


ExampleCalls = Callable[[Walk], Sequence[ExampleCall]]


def reason_to_look(step: WalkedStep, before: WalkedStep | None) -> str:
    """The reason to look at an entity."""
    towards = "leaves it" if step.direction is Direction.OUTGOING else "points at it"
    if before is None:
        return f"The question starts at {clean(name_and_id(step.entity))}: see what {towards}."
    return f"{printable_id(before.relation.id)} leads to {clean(name_and_id(step.entity))}: see what {towards}."


def reason_to_follow(step: WalkedStep) -> str:
    """The reason to follow one of the relations that were shown."""
    shown = "This entity has too many neighbours to list, so its relations are shown; of" if step.is_hub else "Of"
    return f"{shown} these, {printable_id(step.relation.id)} is what the question asks for: follow it alone."


def walk_calls(
    looking: Callable[[WalkedStep], tuple[str, Mapping[str, object]]],
    following: Callable[[WalkedStep], tuple[str, Mapping[str, object]]],
    *,
    shows_rows: bool,
) -> ExampleCalls:
    """Calls that look at the entity of each step and follow its relation.

    With `shows_rows`, the first call shows rows at once, except at a hub: only a hub needs the second call.
    """

    def calls(walk: Walk) -> Sequence[ExampleCall]:
        result: list[ExampleCall] = []
        for before, step in zip((None, *walk), walk, strict=False):
            at_once = shows_rows and not step.is_hub
            result.append(ExampleCall(reason_to_look(step, before), *looking(step), step, shows_ends=at_once))
            if not at_once:
                result.append(ExampleCall(reason_to_follow(step), *following(step), step))
        return result

    return calls


class WorkedExamples:
    """The worked examples of prompts. Those of a graph are made once for each of its revisions."""

    def __init__(self, app: App, tools: Callable[[], Iterable[ToolSpec[Any]]]) -> None:
        self._app = app
        self._list_tools = tools
        self._made: dict[tuple[str, str, str], str] = {}

    @cached_property
    def _tools(self) -> Mapping[str, ToolSpec[Any]]:
        return {spec.name: spec for spec in self._list_tools()}

    async def text(self, graph: Graph, prompt: str, calls: ExampleCalls, number: int) -> str:
        """`number` examples for a prompt; fewer, with the reason, if time, budget or graph do not suffice."""
        if not number:
            return ""
        seconds = graph.settings.timeout or self._app.settings.timeout
        examples: list[str] = []
        revision = ""
        try:
            async with asyncio.timeout(seconds), graph.adapter() as adapter:
                revision = adapter.revision
                if made := self._made.get((graph.name, revision, prompt)):
                    return made
                reason = await self._collect(examples, number, graph, calls, adapter)
        except TimeoutError:
            revision, reason = "", f"the store gave no more within {seconds:g} s"
        except KgnavError as error:
            revision, reason = "", error.message
        some = f"{len(examples)} of {number} examples: {reason}." if len(examples) < number else ""
        text = "\n\n".join(("Examples on this graph:", *examples, *filter(None, (some,))))
        if revision:
            self._made[graph.name, revision, prompt] = text
        return text

    async def _collect(
        self, examples: list[str], number: int, graph: Graph, calls: ExampleCalls, adapter: GraphAdapter
    ) -> str:
        """Add `number` examples to a list as they are made. Returns the reason if there are fewer, else ""."""
        left, too_large = self._app.render_options.budget // 2, 0
        async with aclosing(worked_walks(adapter, self._app.limits)) as walks:
            async for walk in walks:
                example = await self._example(graph, len(examples) + 1, walk, calls)
                if example is None:
                    continue
                if (size := count_tokens(example)) > left:
                    too_large += 1
                else:
                    examples.append(example)
                    left -= size
                if len(examples) == number or too_large == _TOO_LARGE:
                    break
        if too_large:
            return f"half of the budget of {self._app.settings.budget:,} tokens is used up"
        return "the graph has no other suitable path"

    async def _example(self, graph: Graph, number: int, walk: Walk, calls: ExampleCalls) -> str | None:
        """One example; None if an answer does not show what the next call, or the final answer, needs."""
        lines = [f"Example {number}", f"Question: {question(walk)}"]
        trail: dict[str, object] = {}
        for call in calls(walk):
            arguments = cast("dict[str, object]", _plain(call.arguments))
            if TRAIL in arguments:
                arguments |= trail
            try:
                answer = await run_tool(self._tools[call.tool], self._app, graph.name, arguments)
            except InvalidRequest:
                return None
            text = answer.text
            if call.tool == "start_trail":
                trail[TRAIL] = cast("Any", answer.facts["rows"])[0][TRAIL]
            for handle in trail.values():
                text = text.replace(str(handle), TRAIL_SHOWN)
            table = _shortened(text, call.step, len(cast("Any", answer.facts["rows"])))
            called = call_text(call.tool, call.arguments)
            if not called or not _suits(answer, table, call):
                return None
            lines += [call.reason, called, table]
        last = walk[-1]
        lines.append(f"{printable_id(last.relation.id)} has exactly these rows there, so they are the answer.")
        return "\n".join([*lines, final_answer([clean(end.label or end.id) for end in last.ends])])


def _suits(answer: Answer, table: str, call: ExampleCall) -> bool:
    """Whether an answer shows what the next call needs: all ends of the step, or the relations of a hub."""
    header, rule, rows = table.partition("\n--")
    if not rule:  # a list in a paper's format, which names nodes or writes them as objects
        shown = {node.id for node in _nodes(answer.shown)}
        return all(end.id in shown for end in call.step.ends) if call.shows_ends else not (call.step.is_hub and shown)
    columns = header.rpartition("\n")[2].split("|")
    if not call.shows_ends:
        return not call.step.is_hub or not {"value", "neighbor"} & set(columns)
    cells = {cell for row in rows.splitlines() for cell in row.split("|")}
    return "rows" not in columns and all(
        printable_id(end.id) in cells
        or f"({printable_id(end.id)})" in rows
        or f", {clean(name_and_id(end))}]" in rows  # a name that is the id
        for end in call.step.ends
    )


def _nodes(shown: Iterable[object]) -> Iterator[Entity]:
    """The entities at the ends of the triples that an answer shows."""
    for triple in shown:
        if isinstance(triple, Triple):
            yield from (node for node in (triple.head, triple.tail) if isinstance(node, Entity))


def question(walk: Walk) -> str:
    """The question that the last step of a walk answers."""
    first, last = walk[0], walk[-1]
    way = " and then ".join(f"`{clean(step.relation.label)}`" for step in walk)
    if len(walk) == 1 and last.direction is Direction.INCOMING:
        return f"what has {clean(name_and_id(first.entity))} as its {way}?"
    if last.direction is Direction.INCOMING:
        before = clean(first.relation.label)
        return (
            f"starting at {clean(name_and_id(first.entity))}, what has the entity that `{before}` leads to as its "
            f"`{clean(last.relation.label)}`?"
        )
    return f"starting at {clean(name_and_id(first.entity))}, where do {way} lead?"


def _plain(value: object) -> object:
    """A value of an argument with ids in place of entities and relations."""
    match value:
        case Entity(id=identity) | Relation(id=identity):
            return identity
        case Mapping():
            return {name: _plain(part) for name, part in cast("Mapping[str, object]", value).items()}
        case list():
            return [_plain(part) for part in cast("list[object]", value)]
        case Direction():
            return str(value)
        case _:
            return value


def _shortened(text: str, step: WalkedStep, size: int) -> str:
    """The first of the `size` rows of a table and those of the step; a line says how many are left out."""
    lines = text.splitlines()
    separator = next((n for n, line in enumerate(lines) if _SEPARATOR.fullmatch(line)), None)
    if separator is None:
        return text
    bars = lines[separator].count("|")
    rows = list(takewhile(lambda line: line.count("|") >= bars, lines[separator + 1 :][:size]))
    ids = {printable_id(step.relation.id), *(printable_id(end.id) for end in step.ends)}
    chosen = [row for n, row in enumerate(rows) if n < _ROWS or ids & set(row.split("|"))][:_MAX_ROWS]
    left_out = len(rows) - len(chosen)
    note = [f"(left out here: {left_out:,} of the {len(rows):,} rows of this table)"] if left_out else []
    return "\n".join([*lines[: separator + 1], *chosen, *note])


def final_answer(answers: Sequence[str]) -> str:
    """The line that ends an example: a JSON list, because names may have commas."""
    return f"Final answer: {json.dumps(answers, ensure_ascii=False)}"
