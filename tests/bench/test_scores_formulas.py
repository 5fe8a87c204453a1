"""Every formula on a case that is worked by hand, with its source in the name or beside it."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from kgnav_bench.records import Answer, AnswerKind, Outcome
from kgnav_bench.scores.intervals import bootstrap, sign_test
from kgnav_bench.scores.repeats import pass_at_k, reliability
from kgnav_bench.scores.rouge import rouge_l
from kgnav_bench.scores.scoring import score_attempt
from tests.bench.scored import attempt, question

FOUR = question("Ada", "Bo", "Cy", "Di")


def test_precision_recall_f1_and_false_positives_of_graphwalk_table_2():
    scores = score_attempt(FOUR, attempt("Ada", "Bo", "Zoe"))
    # Two of three given are true, two of four true are given: P = 2/3, R = 2/4, F1 = 2 * 2/3 * 1/2 / (2/3 + 1/2) = 4/7.
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == 0.5
    assert scores.f1 == pytest.approx(4 / 7)
    assert scores.false_positives == 1
    assert not scores.set_match


def test_the_set_match_of_graphwalk_needs_all_true_answers_and_no_other():
    assert score_attempt(FOUR, attempt("Di", "Cy", "Bo", "Ada")).set_match
    assert not score_attempt(FOUR, attempt("Di", "Cy", "Bo")).set_match
    assert not score_attempt(FOUR, attempt("Di", "Cy", "Bo", "Ada", "Zoe")).set_match


@pytest.mark.parametrize(
    ("given", "first", "some"), [(("Bo", "Zoe"), True, True), (("Zoe", "Bo"), False, True), (("Zoe",), False, False)]
)
def test_hits_at_1_of_search_on_graph_5_1_is_of_the_first_answer_and_em_of_graphwalker_3_1_of_any(
    given: tuple[str, ...], first: bool, some: bool
):
    scores = score_attempt(FOUR, attempt(*given))
    assert (scores.hits_at_1, scores.exact_match) == (first, some)


NOTHING = question()


@pytest.mark.parametrize("outcome", [Outcome.ANSWERED, Outcome.ABSTAINED])
def test_no_answer_is_right_where_there_is_none(outcome: Outcome):
    scores = score_attempt(NOTHING, attempt(outcome=outcome))
    assert scores.set_match
    assert scores.hits_at_1
    assert scores.exact_match
    assert (scores.precision, scores.recall, scores.f1, scores.rouge_l) == (1, 1, 1, 1)


@pytest.mark.parametrize(("asked", "given"), [(NOTHING, ("Ada",)), (FOUR, ()), (FOUR, (" ",))])
def test_an_empty_set_against_another_is_wrong(asked: object, given: tuple[str, ...]):
    scores = score_attempt(NOTHING if asked is NOTHING else FOUR, attempt(*given))
    assert (scores.set_match, scores.hits_at_1, scores.exact_match) == (False, False, False)
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)


@pytest.mark.parametrize("outcome", [Outcome.UNREADABLE, Outcome.EXHAUSTED, Outcome.REFUSED, Outcome.FAILED])
def test_an_attempt_without_an_answer_is_wrong_whatever_it_has_and_whatever_is_true(outcome: Outcome):
    for asked, given in ((NOTHING, ()), (FOUR, ("Ada", "Bo", "Cy", "Di")), (FOUR, ("Zoe",))):
        scores = score_attempt(asked, attempt(*given, outcome=outcome))
        assert (scores.set_match, scores.hits_at_1, scores.exact_match) == (False, False, False)
        assert scores.f1 == scores.precision == scores.recall == scores.rouge_l == scores.false_positives == 0
        assert scores.answer == ()


def test_a_truth_value_is_compared_as_one():
    asked = question("True", answer_kind=AnswerKind.BOOLEAN)
    assert score_attempt(asked, attempt("yes")).set_match
    assert not score_attempt(asked, attempt("false")).exact_match
    assert not score_attempt(asked, attempt("yes", "no")).set_match


def test_rouge_l_of_graphrunner_4_1():
    # Reference: the cat sat on the mat (6 words); text: the cat on a mat (5). Longest common subsequence: the cat on
    # mat (4). P = 4/5, R = 4/6, F1 = 2 * 4 / (5 + 6) = 8/11.
    assert rouge_l("The cat on a mat!", "the cat sat on the mat") == pytest.approx(8 / 11)
    assert rouge_l("mat cat", "cat mat") == 0.5  # one of two words in order
    assert rouge_l("", "cat") == 0
    assert rouge_l("Ткач", "ткач") == 1


def test_rouge_l_of_a_text_takes_the_best_of_its_names_and_of_entities_the_usual_names():
    text = question(Answer(names=("It rains.", "There is rain today")), answer_kind=AnswerKind.TEXT)
    assert score_attempt(text, attempt("there is rain today")).rouge_l == 1
    # Ada Bo against Ada Bo Cy Di: 2 * 2 / (2 + 4).
    assert score_attempt(FOUR, attempt("Ada", "Bo")).rouge_l == pytest.approx(2 / 3)


def test_pass_at_k_of_graphwalker_3_3_is_unbiased():
    # 2 of 5 attempts are correct. Of the 10 pairs C(3, 2) = 3 have none: 1 - 3/10.
    assert pass_at_k(5, 2, 2) == pytest.approx(0.7)
    assert pass_at_k(5, 2, 1) == pytest.approx(0.4)
    assert pass_at_k(5, 2, 4) == 1  # there are only 3 wrong ones
    assert pass_at_k(5, 0, 5) == 0
    with pytest.raises(ValueError, match="needs 6 attempts"):
        pass_at_k(5, 2, 6)


def test_the_reliability_of_ark_v1_iv_b():
    # 15 True, 15 False of 30: H = 1 bit, log2 3 = 1.585: 1 - 1 / 1.585 = 0.369.
    assert reliability([True] * 15 + [False] * 15, 3) == pytest.approx(1 - 1 / log2(3))
    # 20, 5, 5: H = -(2/3 log2 2/3 + 2 * 1/6 log2 1/6) = 0.3900 + 0.8617 = 1.2516; 1 - 1.2516 / 1.585 = 0.2103.
    assert reliability([True] * 20 + [False] * 5 + [None] * 5, 3) == pytest.approx(0.2103, abs=1e-4)
    assert reliability([None] * 30, 3) == 1
    assert reliability([True, False, None], 3) == pytest.approx(0, abs=1e-12)


def test_the_sign_test_is_mcnemars_exact_test_for_single_attempts():
    # Six questions differ, five in favour: p = 2 * (C(6, 0) + C(6, 1)) / 2^6 = 14/64.
    assert sign_test([1, 1, 1, 1, 1, -1, 0, 0]) == (5, 1, 14 / 64)
    assert sign_test([0, 0]) == (0, 0, 1)
    assert sign_test([1, -1]) == (1, 1, 1)


def test_the_bootstrap_is_of_rows_the_same_for_every_column_and_for_a_seed():
    values = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]], dtype=float)
    first, mirrored, constant = bootstrap(values, 2_000, 7)
    assert (first.mean, constant.low, constant.high) == (0.75, 0, 0)
    assert mirrored.low == pytest.approx(1 - first.high)
    assert mirrored.high == pytest.approx(1 - first.low)
    # Four draws of a mean of 3/4: P(0 of 4) = 1/256, P(at most 1 of 4) = 13/256 = 5 %. The 2.5th percentile is 1/4.
    assert (first.low, first.high) == (0.25, 1)
    assert bootstrap(values, 2_000, 7) == [first, mirrored, constant]
