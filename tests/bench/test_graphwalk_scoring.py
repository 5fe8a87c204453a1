"""An agent's output is read and compared with the truth as GraphWalk's tables have it."""

from __future__ import annotations

import pytest

from kgnav_bench.graphwalk.evaluation import Row
from kgnav_bench.graphwalk.graphs import Shape, generate
from kgnav_bench.graphwalk.questions import Question, questions
from kgnav_bench.graphwalk.scoring import parse_output, score
from kgnav_bench.graphwalk.templates import TEMPLATES
from kgnav_bench.scores.sets import SetScore


def _question(template: str, fields: dict[str, str], *truth: Row) -> Question:
    (chosen,) = [each for each in TEMPLATES if each.name == template]
    return Question(chosen, "", "", fields, {}, truth)


NODES = _question("node by property", {"node_key": "string"}, ("abcd",), ("efgh",), ("ijkl",))
ONE = _question("remote node property", {"value": "number"}, (1.5,), (2.0,))
COUNT = _question("node count", {"count": "number"}, (3,))


@pytest.mark.parametrize(
    ("output", "rows"),
    [
        ('[{"node_key": "abcd"}, {"node_key": "efgh"}]', [("abcd",), ("efgh",)]),
        ('[{"node_key": "abcd"}, {"node_key": "abcd"}]', [("abcd",)]),
        ('{"node_key": "abcd", "why": "it is near"}', [("abcd",)]),
        ('The nodes are:\n```json\n[{"node_key": "abcd"}]\n```\n', [("abcd",)]),
        ("[]", []),
        ("The node is abcd.", None),
        ('[{"key": "abcd"}]', None),
        ('["abcd"]', None),
        ('[{"node_key": null}]', None),
    ],
)
def test_output_is_json_of_the_questions_form_or_is_not_read(output: str, rows: list[tuple[str, ...]] | None):
    assert parse_output(NODES, output) == rows


@pytest.mark.parametrize(("output", "rows"), [('[{"count": 3.0}]', [(3.0,)]), ('[{"count": "3"}]', [(3.0,)])])
def test_a_number_may_be_given_as_text(output: str, rows: list[tuple[float, ...]]):
    assert parse_output(COUNT, output) == rows
    assert score(COUNT, parse_output(COUNT, output)).correct


@pytest.mark.parametrize("output", ['[{"count": "many"}]', '[{"count": NaN}]', '[{"count": true}]'])
def test_a_number_that_is_none_is_not_read(output: str):
    assert parse_output(COUNT, output) is None


def test_another_output_is_read_by_the_extractor():
    asked = list[str]()

    def extract(question: Question, output: str) -> str:
        assert question is NODES
        asked.append(output)
        return f'[{{"node_key": "{output.rpartition(" ")[2]}"}}]'

    assert parse_output(NODES, "The node is abcd", extract) == [("abcd",)]
    assert parse_output(NODES, '[{"node_key": "efgh"}]', extract) == [("efgh",)]
    assert asked == ["The node is abcd"]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([("ijkl",), ("abcd",), ("efgh",)], SetScore(True, 1.0, 1.0, 1.0, 0)),
        ([("abcd",), ("zzzz",)], SetScore(False, 0.5, 1 / 3, 0.4, 1)),
        ([("abcd",), ("efgh",), ("ijkl",), ("zzzz",)], SetScore(False, 0.75, 1.0, 6 / 7, 1)),
        ([("zzzz",)], SetScore(False, 0.0, 0.0, 0.0, 1)),
        ([], SetScore(False, 0.0, 0.0, 0.0, 0)),
        (None, SetScore(False, 0.0, 0.0, 0.0, 0)),
    ],
)
def test_a_list_is_scored_against_all_rows(answers: list[tuple[str, ...]] | None, expected: SetScore):
    assert score(NODES, answers) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(2.0,)], SetScore(True, 1.0, 1.0, 1.0, 0)),
        ([(1.5,)], SetScore(True, 1.0, 1.0, 1.0, 0)),
        ([(1.5,), (2.0,)], SetScore(False, 1.0, 1.0, 1.0, 0)),
        ([(9.0,)], SetScore(False, 0.0, 0.0, 0.0, 1)),
    ],
)
def test_where_one_answer_is_requested_any_valid_one_is_right_alone(
    answers: list[tuple[float, ...]], expected: SetScore
):
    assert score(ONE, answers) == expected


def test_every_tied_node_is_accepted_and_no_other():
    tied = [
        question
        for seed in range(20)
        for question in questions(generate(Shape.of(100), seed))
        if question.template.name == "node with most relationships" and len(question.truth) > 1
    ]
    assert tied
    for question in tied:
        assert all(score(question, [(str(key), float(count))]).correct for key, count in question.truth)
        key, count = question.truth[0]
        assert not score(question, [(str(key), float(count) - 1)]).correct
