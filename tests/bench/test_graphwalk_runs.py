"""GraphWalk's benchmark end to end: what Neo4j, the evaluator and the server say of small graphs agrees."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.graphwalk.arms import NoTools, PlanArm, Tools
from kgnav_bench.graphwalk.benchmark import FILE, Settings, ask
from kgnav_bench.graphwalk.graphs import Schema, Shape, generate
from kgnav_bench.graphwalk.questions import NoInstanceError, Question, TruthDiffersError, check_truth, questions
from kgnav_bench.graphwalk.reports import write_report
from kgnav_bench.graphwalk.stores import load_file, open_neo4j
from kgnav_bench.graphwalk.templates import TEMPLATES
from tests.neo4j_service import Neo4j
from tests.sampling import extended

SMALL = replace(Shape.of(100), nodes=24, density=0.15)
FLAGS = ("--nodes", "24", "--density", "0.15", "--graphs", "1")
EMPTY = Schema((), ())


def test_each_template_has_a_question_with_an_answer_the_same_at_every_call():
    for seed in range(20):
        asked = list(questions(generate(SMALL, seed)))
        assert [question.template for question in asked] == list(TEMPLATES)
        assert all(question.truth and question.truth != ((0,),) for question in asked)
        assert list(questions(generate(SMALL, seed))) == asked


def test_a_graph_without_an_answer_to_a_template_is_refused():
    alone = replace(SMALL, nodes=1, node_classes=2, class_pairs=1)
    with pytest.raises(NoInstanceError, match="use another --seed"):
        list(questions(generate(alone, 1)))


@pytest.mark.extended
def test_neo4j_and_the_evaluator_agree_on_every_question(neo4j: Neo4j):
    with open_neo4j(neo4j.url) as store:
        for seed in range(6):
            graph = generate(SMALL, seed)
            store.load(graph)
            for question in questions(graph):
                check_truth(question, store.rows)
        store.clear()
        assert store.size() == 0


def test_a_difference_between_neo4j_and_the_evaluator_is_an_error():
    for question in questions(generate(SMALL, 1)):
        first, *others = question.truth
        check_truth(question, lambda _, question=question: question.truth)
        for wrong in (others, [*question.truth, first], [*others, ("zzzz", *first[1:])]):
            with pytest.raises(TruthDiffersError, match="Neo4j answers"):
                check_truth(question, lambda _, wrong=wrong: wrong)


def _bag(question: Question, output: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row[name] for name in question.fields) for row in json.loads(output))


@pytest.mark.slow
def test_a_plan_has_the_rows_of_the_cypher_with_their_duplicates(tmp_path: Path):
    graph = generate(SMALL, 1)
    most = 0
    with BareClient([*server_command(load_file(graph, tmp_path)), "--toolsets", "plans"]) as client:
        for question in questions(graph):
            rows = _bag(question, PlanArm().answer(client, graph.schema, question))
            truth = Counter(question.truth)
            assert rows <= truth if question.template.one_answer else rows == truth, question.cypher
            most = max(most, *truth.values())
    assert most > 1


def _run(target: Path, *flags: str) -> tuple[Sequence[dict[str, Any]], str]:
    """The results of a command, and what it printed."""
    done = CliRunner().invoke(main, ["graphwalk", "run", *FLAGS, *flags, "-o", str(target)])
    assert done.exit_code == 0, done.output
    _, *lines = target.read_text().splitlines()
    return [json.loads(line)["value"] for line in lines], done.output


@pytest.mark.parametrize("arm", ["script", extended("primitives")])
def test_each_arm_answers_all_questions_on_a_graph_file_and_on_neo4j(neo4j: Neo4j, tmp_path: Path, arm: str):
    flags = ("--arm", arm, "--neo4j", neo4j.url, "--clear", "--store", "both")
    results, report = _run(tmp_path / "results.jsonl", *flags)
    assert "PASS: 24 of 24 questions are answered correctly" in report
    assert "confirmed by Cypher on Neo4j" in report
    assert Counter(each["template"] for each in results) == {each.name: 2 for each in TEMPLATES}
    calls = {each["tool_calls"] for each in results}
    assert calls == {1} if arm == "script" else min(calls) == 2  # a thought and a look-up
    with open_neo4j(neo4j.url) as store:
        assert store.size() == 0


def test_a_neo4j_that_is_not_empty_is_left_alone(neo4j: Neo4j, tmp_path: Path):
    with open_neo4j(neo4j.url) as store:
        store.load(generate(SMALL, 1))
        command = ["graphwalk", "run", *FLAGS, "--neo4j", neo4j.url, "-o", str(tmp_path / "results.jsonl")]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 1
        assert "--clear allows that" in done.output
        assert store.size() == 24
        store.clear()


@pytest.mark.extended
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path):
    target = tmp_path / "results.jsonl"
    whole, _ = _run(target)
    lines = target.read_text().splitlines(keepends=True)
    target.write_text("".join(lines[:6]))
    resumed, report = _run(target)
    assert target.read_text().splitlines(keepends=True)[:6] == lines[:6]
    assert [each["output"] for each in resumed] == [each["output"] for each in whole]
    assert "PASS: 12 of 12" in report


class _Fixed:
    """Answers every question alike."""

    name = "fixed"
    toolsets: Sequence[str] = ()

    def __init__(self, call: tuple[str, dict[str, object]] | None) -> None:
        self._call = call

    def answer(self, tools: Tools, schema: Schema, question: Question) -> str:
        del schema
        return tools.call(*self._call) if self._call else f"I think it is one of: {question.truth[0][0]}"


@pytest.fixture(scope="module")
def asked() -> Sequence[Question]:
    return list(questions(generate(SMALL, 1)))


@pytest.mark.slow
def test_a_tool_that_fails_leaves_the_question_without_an_answer(asked: Sequence[Question]):
    with BareClient(server_command(None)) as client:
        result = ask(_Fixed(("search", {"entity": "zzzz", "direction": "outgoing"})), client, EMPTY, asked[3])
    assert "zzzz" in result.fault
    assert (result.tool_calls, result.output, result.score.correct) == (1, "", False)


def test_output_in_prose_is_wrong_and_shown_in_the_report(asked: Sequence[Question]):
    results = [ask(_Fixed(None), NoTools(), EMPTY, question) for question in asked]
    report = write_report(Settings(SMALL, 1, 1, (FILE,)), "fixed", {FILE: results})
    assert f"| {FILE} | 0 of 12 | 0.00 | 0.00 | 0.00 | 0.00 | 0 | 0 |" in report
    assert "I think it is one of" in report
    assert report.endswith("FAIL: 0 of 12 questions are answered correctly")


def test_the_questions_of_a_made_graph_stand_beside_it_with_their_answers(tmp_path: Path):
    done = CliRunner().invoke(main, ["graphwalk", "make", str(tmp_path), "--nodes", "24", "--density", "0.15"])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    assert [line["template"] for line in lines] == [each.name for each in TEMPLATES]
    assert sum("any_of" in line for line in lines) == 2
    assert all(line.get("any_of") or line.get("all_of") for line in lines)
    assert [path.name for path in map(Path, done.output.split())] == ["nodes.csv", "edges.csv", "questions.jsonl"]
