"""The questions about a graph: one of each template, with all answers that are accepted."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgnav_bench.graphwalk.evaluation import Evaluator, Row
from kgnav_bench.graphwalk.graphs import Graph, Value
from kgnav_bench.graphwalk.templates import TEMPLATES, Choices, Fields, Template

_TRIES = 2_000
"""Choices without an answer that are rejected before a graph is given up."""
_ONE = " LIMIT 1"

RunCypher = Callable[[str], Sequence[Row]]
"""Runs a query on Neo4j and returns its rows."""


class NoInstanceError(ValueError):
    """A graph has no answer to any question of a template."""


class TruthDiffersError(Exception):
    """Neo4j and the evaluator disagree about the answer to a question."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with the rows of its answer.

    For a template that asks for one answer, `truth` has every row that is accepted.
    """

    template: Template
    text: str
    cypher: str
    fields: Fields
    parameters: Mapping[str, Value]
    truth: tuple[Row, ...]

    @property
    def output_schema(self) -> str:
        """The form of the answer, as the prompt states it."""
        return json.dumps([dict(self.fields)])

    @property
    def instruction(self) -> str:
        """The question as given to an agent."""
        return f"{self.text} Return only the answer, as JSON of the form {self.output_schema}"

    def as_json(self) -> str:
        """The question with its answer on one line."""
        rows = [dict(zip(self.fields, row, strict=True)) for row in self.truth]
        accepted = {"any_of": rows} if self.template.one_answer else {"all_of": rows}
        values = {"template": self.template.name, "question": self.instruction, "cypher": self.cypher, **accepted}
        return json.dumps(values)


def questions(graph: Graph) -> Iterator[Question]:
    """One question of each template, each with an answer. Every call returns the same.

    Raises:
        NoInstanceError: no question of a template has an answer.
    """
    evaluator = Evaluator(graph)
    for number, template in enumerate(TEMPLATES):
        yield _question(template, evaluator, random.Random(f"{graph.seed} {number}"))  # noqa: S311 - no secret


def _question(template: Template, evaluator: Evaluator, chance: random.Random) -> Question:
    choose = Choices(evaluator, chance)
    for _ in range(_TRIES):
        instance = template.fill(choose)
        truth = template.evaluate(evaluator, **instance.parameters)
        if truth and truth != [(0,)]:
            filled = (instance.text, instance.cypher, instance.fields, instance.parameters)
            return Question(template, *filled, tuple(truth))
    raise NoInstanceError(
        f"the graph of seed {evaluator.graph.seed} answers no question of the template {template.name!r}: "
        "use another --seed, or a larger or denser graph"
    )


def check_truth(question: Question, run_cypher: RunCypher) -> None:
    """Compare the evaluator's answer with Neo4j's.

    Raises:
        TruthDiffersError: they differ.
    """
    rows = run_cypher(question.cypher)
    accepted = rows
    if question.cypher.endswith(_ONE):
        every = run_cypher(question.cypher.removesuffix(_ONE))
        accepted = [row for row in every if row[-1] == every[0][-1]]  # tied with the first
    if Counter(accepted) != Counter(question.truth) or not set(rows) <= set(accepted):
        raise TruthDiffersError(
            f"Neo4j answers {_shown(accepted)} and the evaluator {_shown(question.truth)} to {question.cypher}"
        )


def _shown(rows: Iterable[Row]) -> str:
    listed = sorted(map(str, rows))
    return f"{len(listed)} rows {listed[:3]}"
