"""What the tools showed, which calls failed, and what kind of error a wrong attempt has."""

from __future__ import annotations

from typing import Any

import pytest

from kgnav_bench.records import Answer, AnswerKind, Outcome, Question, ToolCall, Turn
from kgnav_bench.scores.error_kinds import ErrorKind
from kgnav_bench.scores.observations import Observations
from kgnav_bench.scores.scoring import score_attempt
from tests.bench.scored import attempt, failed, question, shown

TABLE = """\
10 rows
property|propertyLabel|value|valueLabel
--|--|--|--
starred_actors|starred actors|wiley_wiggins|Wiley Wiggins
in|in|up_in_the_air|Up in the Air
born|born|1976-11-06|
pipe|pipe|a_b|A \\| B"""


@pytest.mark.parametrize(
    ("name", "is_shown"),
    [
        ("wiley wiggins", True),
        ("wiley_wiggins", True),
        ("The Up in the Air", True),
        ("November 6, 1976", True),
        ("A | B", True),
        ("Up", False),
        ("10", False),
        ("1976", False),
        ("Wiley", False),
    ],
)
def test_an_answer_is_shown_as_a_whole_cell_and_not_within_one(name: str, is_shown: bool):
    assert Observations(attempt(turns=shown(TABLE))).show(name) is is_shown


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[Pixar, produced, Monsters, Inc.]", "Monsters, Inc."),
        ('{"film": "Up", "year": 2009}', "Up"),
        ("Nearest: Up (film_7), Film", "film_7"),
        ("(St. John's (Newfoundland))", "St. John's (Newfoundland)"),
    ],
)
def test_an_answer_is_shown_between_delimiters(text: str, name: str):
    assert Observations(attempt(turns=shown(text))).show(name)
    assert not Observations(attempt(turns=shown(text.replace(name, f"{name} II")))).show(name)


def test_what_the_model_wrote_itself_and_errors_show_nothing():
    own = [ToolCall(tool=tool, arguments={}, result="Up") for tool in ("think", "check_answer", "add_step")]
    assert not Observations(attempt(turns=shown(*own, failed("Up")))).show("Up")


def test_the_retrieval_of_graphwalker_3_5_is_the_share_of_true_answers_that_calls_showed():
    asked = question(Answer(names=("Wiley W.",), id="wiley_wiggins"), "Ethan Hawke")
    assert score_attempt(asked, attempt(turns=shown("1 row\nx", TABLE))).shown == 0.5
    assert score_attempt(asked, attempt()).shown == 0
    assert score_attempt(question("True", answer_kind=AnswerKind.BOOLEAN), attempt(turns=shown("True"))).shown is None
    assert score_attempt(question(), attempt(turns=shown(TABLE))).shown is None


def test_a_failed_call_is_corrected_by_a_later_one_that_succeeds():
    assert score_attempt(question("Up"), attempt(turns=shown(failed("Not found: x"), "ok"))).corrected is True
    assert score_attempt(question("Up"), attempt(turns=shown("ok", failed("Not found: x")))).corrected is False
    assert score_attempt(question("Up"), attempt(turns=shown("ok"))).corrected is None


def test_failed_calls_are_counted_by_the_first_words_of_their_errors():
    errors = ("Not found: no entity 'x'", "Not found: y", "Invalid plan: 2", "Unknown tool 'x'. The tools are", "42")
    turns = shown(*map(failed, errors))
    assert score_attempt(question("Up"), attempt(turns=turns)).failed_calls == {
        "Not found": 2,
        "Invalid plan": 1,
        "Unknown tool": 1,
        "other": 1,
    }


UP = question("Up")
CUT = (Turn(text="So the answer", finish="length"),)


@pytest.mark.parametrize(
    ("given", "fields", "kind"),
    [
        (("Up",), {}, None),
        (("Up in the Air",), {"turns": shown(TABLE)}, ErrorKind.REASONING),
        (("Brazil",), {"turns": shown(TABLE)}, ErrorKind.HALLUCINATION),
        (("Up", "Brazil"), {"turns": shown(TABLE)}, ErrorKind.HALLUCINATION),
        (("10",), {"turns": shown(TABLE)}, ErrorKind.UNDETERMINED),
        (("1976-11-06",), {"turns": shown(TABLE)}, ErrorKind.REASONING),
        ((), {}, ErrorKind.NO_ANSWER),
        ((), {"outcome": Outcome.ABSTAINED}, ErrorKind.NO_ANSWER),
        ((), {"outcome": Outcome.EXHAUSTED}, ErrorKind.NO_ANSWER),
        ((), {"outcome": Outcome.UNREADABLE, "turns": CUT}, ErrorKind.CUT),
        (
            (),
            {"outcome": Outcome.FAILED, "error": "http://x refuses: maximum context length is 8192"},
            ErrorKind.CONTEXT,
        ),
        ((), {"outcome": Outcome.FAILED, "error": "prompt is too long: 210000 tokens"}, ErrorKind.CONTEXT),
        ((), {"outcome": Outcome.FAILED, "error": "connection refused"}, ErrorKind.FAILED),
    ],
)
def test_the_kinds_of_errors_of_graphrunner_4_4(given: tuple[str, ...], fields: dict[str, Any], kind: ErrorKind | None):
    assert score_attempt(UP, attempt(*given, **fields)).error_kind is kind


def test_a_missing_true_answer_is_a_reasoning_error():
    assert score_attempt(question("Up", "Brazil"), attempt("Up")).error_kind is ErrorKind.REASONING


def test_a_wrong_truth_value_is_undetermined():
    asked: Question = question("True", answer_kind=AnswerKind.BOOLEAN)
    assert score_attempt(asked, attempt("no")).error_kind is ErrorKind.UNDETERMINED
