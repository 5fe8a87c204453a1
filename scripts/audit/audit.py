"""Generates the questions of a graph, asks each of its stores, and compares."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from . import condition_questions as conditions
from . import plan_questions as plans
from . import tool_questions as tools
from .client import Answer, Server, shown
from .outcome import Outcome, compare
from .question import PrintedId, Question
from .raw_graph import RawGraph
from .survey import Survey

Generator = Callable[[random.Random, Survey], Question]

GENERATORS: Sequence[tuple[Generator, int]] = (
    (conditions.on_nodes, 28),
    (conditions.on_several, 32),
    (conditions.with_size, 8),
    (conditions.on_edges, 16),
    (conditions.one_of, 4),
    (plans.two_edges, 10),
    (plans.paths_of_a_label, 10),
    (plans.one_edge_from_a_node, 4),
    (plans.without_edge, 5),
    (plans.groups, 6),
    (plans.aggregate, 8),
    (plans.whole_values, 10),
    (plans.list_operation, 8),
    (plans.unwound, 4),
    (plans.refused, 3),
    (tools.node_by_property, 14),
    (tools.by_id, 8),
    (tools.by_name, 4),
    (tools.unique_values, 6),
    (tools.find_node, 4),
    (tools.whole_list, 6),
    (tools.whole_plan, 2),
)
"""Each generator with its number of questions among 200."""

_EMPTY_SHARE = 0.2
"""Most questions to which the true answer is nothing."""
_ATTEMPTS = 6


def generate(graph: RawGraph, number: int, seed: int) -> Sequence[Question]:
    """Different questions about a graph, few of which have an empty answer."""
    survey = Survey(graph)
    made = random.Random(f"{seed} {graph.name}")  # noqa: S311 - repeatable
    weights = sum(weight for _, weight in GENERATORS)
    questions: dict[str, Question] = {}
    empty = 0
    for generator, weight in GENERATORS:
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
    """The outcomes of all questions on one store."""
    async with serve as server:
        printed = await _printed_ids(server, graph)
        keys = {printed_id: key for key, printed_id in printed.items()}
        outcomes: list[Outcome] = []
        for question in questions:
            arguments = {name: _filled(value, printed) for name, value in question.arguments.items()}
            call = f"{question.tool}({shown(arguments)})"
            try:
                answer = await server.ask(question.tool, arguments)
            except TimeoutError:
                answer = Answer(error="unexpected error: no answer within the time of the audit")
            outcomes.append(compare(question, call, answer, keys))
        return outcomes


async def _printed_ids(server: Server, graph: RawGraph) -> Mapping[str, str]:
    """The ids that a store prints, by the keys of nodes: asked by one plan, which has to give each once."""
    if graph.key is None:
        return {}
    answer = await server.ask(
        "run_plan", {"plan": f"MATCH (n) WHERE n.{graph.key} IS NOT NULL RETURN n.{graph.key} AS key, n"}
    )
    if answer.error is not None:
        raise RuntimeError(f"the ids of the nodes could not be read: {answer.error}")
    return {str(row["key"]): row["n"]["id"] for row in answer.rows}


def _filled(value: object, printed: Mapping[str, str]) -> object:
    return value.filled(printed.get(value.key, value.key)) if isinstance(value, PrintedId) else value
