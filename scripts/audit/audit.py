"""Generates the questions of a graph, asks each of its stores, and compares."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from .answers import has_ids
from .client import Answer, Server, shown
from .mixes import Mix
from .outcome import Outcome, Verdict, compare
from .question import PrintedId, Question
from .raw_graph import RawGraph
from .survey import Survey

_EMPTY_SHARE = 0.2
"""Maximum questions to which the true answer is nothing."""
_ATTEMPTS = 6


def generate(graph: RawGraph, mix: Mix, number: int, seed: int) -> Sequence[Question]:
    """Different questions about a graph, few of which have an empty answer."""
    survey = Survey(graph)
    made = random.Random(f"{seed} {graph.name}")  # noqa: S311 - repeatable
    weights = sum(weight for _, weight in mix)
    questions: dict[str, Question] = {}
    empty = 0
    for generator, weight in mix:
        wanted = max(1, round(weight * number / weights))
        for _ in range(wanted * _ATTEMPTS):
            question = generator(made, survey)
            call = repr((question.tool, question.arguments))
            if call in questions or (question.expected.empty and empty + 1 > _EMPTY_SHARE * 0.9 * (len(questions) + 1)):
                continue
            empty += question.expected.empty
            questions[call] = question
            wanted -= 1
            if not wanted:
                break
    chosen = list(questions.values())[:number]
    filled = sum(not question.expected.empty for question in chosen)
    if filled < (1 - _EMPTY_SHARE) * len(chosen):
        raise RuntimeError(f"{graph.name}: only {filled} of {len(chosen)} questions have an answer")
    return chosen


async def ask(
    serve: AbstractAsyncContextManager[Server], graph: RawGraph, questions: Sequence[Question]
) -> Sequence[Outcome]:
    """The outcomes of all questions on one store. Without the ids that it prints, those about nodes are not judged."""
    async with serve as server:
        printed, unread = await _printed_ids(server, graph)
        keys = {printed_id: key for key, printed_id in printed.items()}
        outcomes: list[Outcome] = []
        for question in questions:
            arguments = {name: _filled(value, printed) for name, value in question.arguments.items()}
            call = f"{question.tool}({shown(arguments)})"
            if unread and any(isinstance(value, PrintedId) for value in question.arguments.values()):
                outcomes.append(Outcome(question, call, Verdict.NOT_JUDGED, unread))
                continue
            answer = await _answer(server, question.tool, arguments)
            if unread and question.expected.total is None and has_ids(answer.rows):
                outcomes.append(Outcome(question, call, Verdict.NOT_JUDGED, unread))
            else:
                outcomes.append(compare(question, call, answer, keys))
        return outcomes


async def _printed_ids(server: Server, graph: RawGraph) -> tuple[Mapping[str, str], str]:
    """The ids that a store prints, by the keys of nodes, or why they are not known: one plan gives each once.

    Nodes with names as keys are asked for by their names.
    """
    if graph.key is None or graph.key in graph.names:
        return {}, ""
    plan = f"MATCH (n) WHERE n.{graph.key} IS NOT NULL RETURN n.{graph.key} AS key, n"
    answer = await _answer(server, "run_plan", {"plan": plan})
    if answer.error is not None or not answer.complete:
        return {}, f"the ids of the nodes could not be read: {answer.error or 'the store gave only a part'}"
    return {str(row["key"]): row["n"]["id"] for row in answer.rows}, ""


async def _answer(server: Server, tool: str, arguments: Mapping[str, object]) -> Answer:
    """The answer to a call, or the error that there was none in time."""
    try:
        return await server.ask(tool, arguments)
    except TimeoutError:
        return Answer(error="unexpected error: no answer within the time of the audit")


def _filled(value: object, printed: Mapping[str, str]) -> object:
    return value.filled(printed.get(value.key, value.key)) if isinstance(value, PrintedId) else value
