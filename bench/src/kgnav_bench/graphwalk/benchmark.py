"""Runs the benchmark: for each graph, each question is answered by one arm on one or two stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from kgnav_bench.client import BareClient, ToolFailedError, server_command
from kgnav_bench.graphwalk.arms import Arm, Counted, Tools
from kgnav_bench.graphwalk.graphs import Schema, Shape, generate
from kgnav_bench.graphwalk.questions import Question, check_truth, questions
from kgnav_bench.graphwalk.scoring import Extract, parse_output, score
from kgnav_bench.graphwalk.stores import Neo4jStore, load_file, open_neo4j
from kgnav_bench.graphwalk.templates import TEMPLATES, Template
from kgnav_bench.runs import Items, Run
from kgnav_bench.scores.sets import SetScore
from kgnav_bench.tables import UnreadableAnswerError

FILE, NEO4J = "graph file", "Neo4j"
"""The stores that the server reads."""


class NotEmptyError(Exception):
    """The Neo4j contains a graph, and deleting it was not allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run."""

    shape: Shape
    graphs: int
    seed: int
    """Seed of the first graph; each further graph has the next seed."""
    stores: Sequence[str]
    neo4j_url: str | None = None
    """A Neo4j that confirms the answers by Cypher. Needed if the server is to read from Neo4j."""

    @property
    def seeds(self) -> range:
        """The seeds of the graphs."""
        return range(self.seed, self.seed + self.graphs)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one question."""

    template: str
    question: str
    cypher: str
    output: str
    fault: str
    """The error that ended the question; empty if there was none."""
    accepted: int
    """Number of rows of the true answer, or of the valid rows if the question asks for one of them."""
    tool_calls: int
    seconds: float
    score: SetScore


class Benchmark:
    """One run: its settings, the arm, and an optional function that extracts the answer from output in another form."""

    def __init__(self, settings: Settings, arm: Arm, extract: Extract | None = None) -> None:
        self._settings = settings
        self._arm = arm
        self._extract = extract

    def complete(self, record: Run, *, clear: bool = False) -> Mapping[str, Sequence[Result]]:
        """Ask every question that has no result yet, and return all results by store.

        `clear` allows the deletion of the graph in the Neo4j.

        Raises:
            NotEmptyError: the Neo4j has a graph that may not be deleted.
            TruthDiffersError: Neo4j and the evaluator disagree about an answer.
            NoInstanceError: a graph has no answer to any question of a template.
            StoreError: Neo4j does not answer.
            CalledProcessError: `kgnav load` failed. The reason is on stderr.
        """
        settings = self._settings
        results: dict[str, Sequence[Result]] = {}
        total = settings.graphs * len(settings.stores) * len(TEMPLATES)
        with record.items("questions", Result, total) as items, ExitStack() as stack:
            missing = [seed for seed in settings.seeds if self._missing(items, seed)]
            neo4j = None
            if missing and settings.neo4j_url is not None:
                neo4j = stack.enter_context(open_neo4j(settings.neo4j_url))
                if not clear and neo4j.size():
                    raise NotEmptyError(
                        "the Neo4j is not empty, and each graph replaces its content: --clear allows that"
                    )
                stack.callback(neo4j.clear)
            for seed in missing:
                self._ask_graph(items, seed, neo4j)
            for store in settings.stores:
                results[store] = [items[_key(seed, store, each)] for seed in settings.seeds for each in TEMPLATES]
        return results

    def _missing(self, items: Items[Result], seed: int) -> Sequence[str]:
        """The stores on which a graph has unanswered questions."""
        return [
            store for store in self._settings.stores if any(_key(seed, store, each) not in items for each in TEMPLATES)
        ]

    def _ask_graph(self, items: Items[Result], seed: int, neo4j: Neo4jStore | None) -> None:
        """Ask the questions about one graph, after their answers were compared with Neo4j's."""
        graph = generate(self._settings.shape, seed)
        asked = list(questions(graph))
        if neo4j is not None:
            neo4j.load(graph)
            for question in asked:
                check_truth(question, neo4j.rows)
        for store in self._missing(items, seed):
            with TemporaryDirectory() as folder:
                location = self._settings.neo4j_url if store == NEO4J else load_file(graph, Path(folder))
                command = [*server_command(location), "--toolsets", ",".join(self._arm.toolsets)]
                with BareClient(command) as client:
                    for question in asked:
                        measure = partial(ask, self._arm, client, graph.schema, question, self._extract)
                        items.value(_key(seed, store, question.template), measure)


def _key(seed: int, store: str, template: Template) -> str:
    return f"{seed}/{store}/{template.name}"


def ask(arm: Arm, tools: Tools, schema: Schema, question: Question, extract: Extract | None = None) -> Result:
    """Ask one question. After an error of a tool that the arm does not handle, it has no answer."""
    counted = Counted(tools)
    output, fault = "", ""
    start = perf_counter()
    try:
        output = arm.answer(counted, schema, question)
    except (ToolFailedError, UnreadableAnswerError) as error:
        fault = str(error)
    seconds = perf_counter() - start
    return Result(
        template=question.template.name,
        question=question.text,
        cypher=question.cypher,
        output=output,
        fault=fault,
        accepted=len(question.truth),
        tool_calls=counted.calls,
        seconds=seconds,
        score=score(question, None if fault else parse_output(question, output, extract)),
    )
