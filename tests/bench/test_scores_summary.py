"""Averages over repeats and questions, and two arms compared."""

from __future__ import annotations

from math import log2

import pytest

from kgnav_bench.records import AnswerKind, Attempt, Outcome, Question, Tokens, Turn
from kgnav_bench.scores.scoring import score_attempt
from kgnav_bench.scores.summary import Correct, Summary, summarize
from tests.bench.scored import attempt, failed, question, shown


def summarized(*attempts: Attempt, questions: tuple[Question, ...], correct: Correct = Correct.SET_MATCH) -> Summary:
    by_id = {each.id: each for each in questions}
    scores = [score_attempt(by_id[each.question], each) for each in attempts]
    return summarize(scores, correct=correct, resamples=200, questions=len(by_id))


ONE, TWO, THREE = (question("Up", name=name, kind=group) for name, group in (("1", "a"), ("2", "a"), ("3", "b")))


def test_repeats_are_averaged_before_questions():
    summary = summarized(
        attempt("Up", question="1", repeat=0),
        attempt("Up", question="1", repeat=1),
        attempt("Up", question="1", repeat=2),
        attempt(question="2", outcome=Outcome.ABSTAINED),
        questions=(ONE, TWO),
    )
    (contender,) = summary.contenders
    # Question 1: 3 of 3; question 2: 0 of 1. The mean is 1/2, not 3/4.
    assert contender.total.measures["accuracy"].mean == 0.5
    assert contender.total.answer_rate == 0.5
    assert contender.fewer_repeats == ("2",)
    assert contender.total.accuracy_deviation is None


def test_the_figures_of_ark_v1_iv_b():
    asked = tuple(question("True", name=str(n), answer_kind=AnswerKind.BOOLEAN) for n in range(4))
    (contender,) = summarized(
        attempt("True", question="0"),
        attempt("yes", question="1"),
        attempt("False", question="2"),
        attempt(outcome=Outcome.ABSTAINED, question="3"),
        questions=asked,
    ).contenders
    # Answered 3 of 4, correct 2 of the 3 and 2 of 4.
    assert contender.total.answer_rate == 0.75
    assert contender.total.conditional_accuracy == pytest.approx(2 / 3)
    assert contender.total.measures["accuracy"].mean == 0.5
    assert contender.total.reliability is None


def test_reliability_takes_every_answer_but_true_and_false_as_none():
    asked = question("True", name="1", answer_kind=AnswerKind.BOOLEAN)
    given = [("True",), ("yes",), ("perhaps",), ()]
    (contender,) = summarized(
        *(
            attempt(*each, question="1", repeat=n, outcome=Outcome.ANSWERED if each else Outcome.ABSTAINED)
            for n, each in enumerate(given)
        ),
        questions=(asked,),
    ).contenders
    # Two True, two None: H = 1 bit of log2 3.
    assert contender.total.reliability == pytest.approx(1 - 1 / log2(3))
    assert contender.total.agreement is None


def test_other_names_of_a_true_answer_agree():
    asked = Question.model_validate({"id": "1", "text": "?", "answers": [{"names": ["Paris", "Lutetia"], "id": "Q90"}]})
    (contender,) = summarized(
        attempt("Paris", question="1"), attempt("wd:Q90", question="1", repeat=1), questions=(asked,)
    ).contenders
    assert contender.total.agreement == 1


def test_the_agreement_has_as_many_classes_as_attempts():
    (contender,) = summarized(
        *(attempt(given, question="1", repeat=n) for n, given in enumerate(("Up", "up", "no"))), questions=(ONE,)
    ).contenders
    # H = -(2/3 log2 2/3 + 1/3 log2 1/3) = 0.9183; 1 - 0.9183 / log2 3 = 0.4206.
    assert contender.total.agreement == pytest.approx(0.4206, abs=1e-4)


def test_the_deviation_between_repeats_of_ark_v1_table_iii():
    (contender,) = summarized(
        *(attempt("Up", question=q, repeat=r) for q, r in (("1", 0), ("2", 0), ("1", 1))),
        attempt("no", question="2", repeat=1),
        questions=(ONE, TWO),
    ).contenders
    # Repeat 0: 2 of 2; repeat 1: 1 of 2. The sample's deviation of 1 and 1/2 is sqrt(2 * (1/4)^2) = 0.3536.
    assert contender.total.accuracy_deviation == pytest.approx(0.35355, abs=1e-5)


def test_pass_at_k_is_of_powers_of_two_up_to_the_fewest_repeats():
    (contender,) = summarized(
        *(attempt("Up" if r == 0 else "no", question="1", repeat=r) for r in range(4)),
        *(attempt("no", question="2", repeat=r) for r in range(5)),
        questions=(ONE, TWO),
    ).contenders
    # Question 1 has 1 of 4 correct: Pass@1 = 1/4, Pass@2 = 1 - C(3, 2) / C(4, 2) = 1/2, Pass@4 = 1. Question 2 has 0.
    assert contender.total.pass_at_k == pytest.approx({1: 1 / 8, 2: 1 / 4, 4: 1 / 2})


def test_the_retrieval_and_recovery_rates_of_graphwalker_3_5():
    both = question("Up", "Brazil", name="2")
    (contender,) = summarized(
        attempt("Up", question="1", turns=shown(failed("Not found: x"), "a|Up")),
        attempt("Up", question="2", turns=shown(failed("Not found: x"), "a|Up")),
        attempt("Up", question="3", turns=shown("nothing", failed("Not found: x"))),
        questions=(ONE, both, THREE),
    ).contenders
    assert contender.total.retrieval_rate == pytest.approx(2 / 3)
    assert contender.total.full_retrieval_rate == pytest.approx(1 / 3)
    # Three attempts have a failed call; two of them call again without error, one of which is correct.
    assert (contender.total.with_failed_calls, contender.total.recovery_rate) == (3, pytest.approx(1 / 3))
    assert contender.total.failed_calls == {"Not found": 3}


def test_failed_attempts_count_as_wrong_and_are_counted_on_their_own():
    (contender,) = summarized(
        attempt("Up", question="1"), attempt(question="2", outcome=Outcome.FAILED), questions=(ONE, TWO)
    ).contenders
    assert contender.total.measures["accuracy"].mean == 0.5
    assert contender.total.outcomes == {"answered": 1, "failed": 1}
    assert contender.total.error_kinds == {"failed": 0.5}


def test_costs_are_the_mean_the_median_and_the_95th_percentile_of_attempts():
    used = [Turn(tokens=Tokens(prompt=n, completion=1, cached=2)) for n in (10, 20, 90)]
    (contender,) = summarized(
        attempt("Up", question="1", turns=(used[0],), seconds=1, price=0.5),
        attempt("Up", question="2", turns=(used[1],), seconds=2),
        attempt("Up", question="3", turns=(used[0], used[2]), seconds=6),
        questions=(ONE, TWO, THREE),
    ).contenders
    costs = contender.total.costs
    assert (costs["prompt_tokens"].mean, costs["prompt_tokens"].median, costs["prompt_tokens"].p95) == (
        130 / 3,
        20,
        100,
    )
    assert (costs["completion_tokens"].mean, costs["cached_tokens"].p95, costs["seconds"].mean) == (4 / 3, 4, 3)
    assert (costs["price"].mean, contender.total.priced) == (0.5, 1)


def test_scores_are_by_kind_of_question_too():
    (contender,) = summarized(
        *(attempt("Up" if each is ONE else "no", question=each.id) for each in (ONE, TWO, THREE)),
        questions=(ONE, TWO, THREE),
    ).contenders
    assert {kind: group.measures["accuracy"].mean for kind, group in contender.kinds.items()} == {"a": 0.5, "b": 0}


def test_arms_are_compared_on_the_questions_that_both_attempted_and_the_others_are_named():
    summary = summarized(
        *(attempt("Up", question=each) for each in "12"),
        *(attempt("no" if each == "1" else "Up", question=each, arm="plan", model="m") for each in "123"),
        questions=(ONE, TWO, THREE, question("Up", name="4")),
    )
    walk, plan = summary.contenders
    assert (walk.missing, plan.missing) == (("3",), ())
    assert (summary.questions, summary.attempted) == (4, 3)
    accuracy = summary.comparisons[0]
    assert (accuracy.first, accuracy.second, accuracy.measure) == ("walk", "plan (m)", "accuracy")
    # On questions 1 and 2 the differences are 1 and 0.
    assert (accuracy.questions, accuracy.difference.mean, accuracy.wins, accuracy.losses) == (2, 0.5, 1, 0)
    assert accuracy.p == 1


@pytest.mark.parametrize(
    ("correct", "accuracy"), [(Correct.SET_MATCH, 0), (Correct.HITS_AT_1, 0), (Correct.EXACT_MATCH, 1)]
)
def test_what_is_correct_can_be_chosen(correct: Correct, accuracy: float):
    (contender,) = summarized(attempt("no", "Up", question="1"), questions=(ONE,), correct=correct).contenders
    assert contender.total.measures["accuracy"].mean == accuracy
    assert bool(contender.total.error_kinds) is not bool(accuracy)


def test_a_summary_can_be_read_from_its_json():
    summary = summarized(*(attempt("Up", question="1", repeat=r) for r in range(2)), questions=(ONE,))
    assert Summary.model_validate_json(summary.model_dump_json()) == summary
