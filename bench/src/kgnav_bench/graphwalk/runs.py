"""Runs the benchmark: graph after graph, each question by one arm on one or two stores, with a record of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from tqdm import tqdm

from kgnav_bench.client import BareClient, ToolFailedError, server_command
from kgnav_bench.graphwalk.arms import Arm, Tools
from kgnav_bench.graphwalk.graphs import Graph, Schema, Shape, generate
from kgnav_bench.graphwalk.questions import Question, check_truth, questions
from kgnav_bench.graphwalk.scoring import Extract, Score, parse_output, score
from kgnav_bench.graphwalk.stores import Neo4jStore, load_file, open_neo4j
from kgnav_bench.graphwalk.templates import TEMPLATES
from kgnav_bench.tables import UnreadableAnswerError

FILE, NEO4J = "graph file", "Neo4j"
"""The stores that the server reads."""


class RunError(Exception):
    """The run cannot start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run does. A run is resumed with the same settings only."""

    shape: Shape
    graphs: int
    seed: int
    """Of the first graph; each further one has the next."""
    arm: str
    stores: tuple[str, ...]
    neo4j: bool
    """Whether a Neo4j confirms the answers by Cypher."""


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one question."""

    graph: int
    store: str
    template: str
    question: str
    cypher: str
    output: str
    fault: str
    """The error that ended the question, if one did."""
    accepted: int
    """Number of rows of the true answer, or of the rows of which one is asked for."""
    tool_calls: int
    seconds: float
    score: Score


class Records:
    """The records of a run, one line of JSON each, after a line with the settings."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Open the records, or begin them.

        Raises:
            RunError: the file has the records of a run with other settings.
        """
        self._path = path
        self.items: list[Record] = []
        header = json.loads(json.dumps(asdict(settings)))
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]  # the last is cut if the run was killed in it
        if whole and json.loads(whole[0]) != header:
            raise RunError(f"{path} has the results of other settings: name another folder, or those settings again")
        self.items = [_record(json.loads(line)) for line in whole[1:]]
        path.write_text("".join(whole) or f"{json.dumps(header)}\n", encoding="utf-8")

    def done(self, graph: int, store: str) -> frozenset[str]:
        """The templates asked on a store with a graph."""
        return frozenset(each.template for each in self.items if (each.graph, each.store) == (graph, store))

    def add(self, record: Record) -> None:
        """Keep a record."""
        self.items.append(record)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(asdict(record))}\n")


def _record(values: dict[str, Any]) -> Record:
    values["score"] = Score(**values["score"])
    return Record(**values)


class Run:
    """One run: its settings, what answers, and where the results go."""

    def __init__(self, settings: Settings, arm: Arm, folder: Path, extract: Extract | None = None) -> None:
        """Open the records of the run, or begin them. The folder is created if it is missing.

        Raises:
            RunError: the folder has the records of other settings.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.records = Records(folder / "results.jsonl", settings)
        self._arm = arm
        self._folder = folder
        self._extract = extract

    def complete(self, neo4j_url: str | None = None, *, clear: bool = False) -> None:
        """Ask every question that has no record yet.

        Raises:
            RunError: the Neo4j is not empty, and `clear` does not allow to empty it.
            TruthDiffersError: Neo4j and the evaluator disagree about an answer.
            NoInstanceError: a graph has no answer to any question of a template.
            StoreError: a store could not be filled.
        """
        settings = self.settings
        total = settings.graphs * len(settings.stores) * len(TEMPLATES)
        with ExitStack() as stack:
            bar = stack.enter_context(tqdm(total=total, initial=len(self.records.items), unit="question", disable=None))
            store = stack.enter_context(open_neo4j(neo4j_url)) if neo4j_url is not None else None
            if store is not None and not clear and store.size():
                raise RunError("the Neo4j is not empty, and each graph replaces what is in it: --clear allows that")
            for seed in range(settings.seed, settings.seed + settings.graphs):
                if all(len(self.records.done(seed, name)) == len(TEMPLATES) for name in settings.stores):
                    continue
                for record in self._ask_graph(generate(settings.shape, seed), store, neo4j_url):
                    self.records.add(record)
                    bar.update()
            if store is not None:
                store.clear()

    def _ask_graph(self, graph: Graph, neo4j: Neo4jStore | None, neo4j_url: str | None) -> Iterator[Record]:
        """Ask the questions about one graph, after their answers were compared with Neo4j's."""
        asked = list(questions(graph))
        if neo4j is not None:
            neo4j.load(graph)
            for question in asked:
                check_truth(question, neo4j.rows)
        for name in self.settings.stores:
            done = self.records.done(graph.seed, name)
            left = [question for question in asked if question.template.name not in done]
            if not left:
                continue
            location = neo4j_url if name == NEO4J else load_file(graph, self._folder / f"graph-{graph.seed}")
            command = [*server_command(location), "--toolsets", ",".join(self._arm.toolsets)]
            with BareClient(command) as client:
                for question in left:
                    record = ask(self._arm, client, graph.schema, question, self._extract)
                    yield replace(record, graph=graph.seed, store=name)


def ask(arm: Arm, tools: Tools, schema: Schema, question: Question, extract: Extract | None = None) -> Record:
    """Ask one question. An error that the arm does not handle leaves it without an answer."""
    counted = _Counted(tools)
    output, fault = "", ""
    start = perf_counter()
    try:
        output = arm.answer(counted, schema, question)
    except (ToolFailedError, UnreadableAnswerError) as error:
        fault = str(error)
    seconds = perf_counter() - start
    return Record(
        graph=0,
        store="",
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


class _Counted:
    """Counts the calls of a client."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.calls = 0

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        self.calls += 1
        return self._tools.call(tool, arguments)
