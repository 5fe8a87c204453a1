"""Two spellings of one value are the same answer, and two values never are."""

from __future__ import annotations

import pytest

from kgnav_bench.records import Answer, AnswerKind
from kgnav_bench.scores.matching import match_answers
from kgnav_bench.scores.values import entity_id, key, normalize_text
from tests.bench.scored import question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles", "beatles"),
        ("  New   York ", "new york"),
        ("Spider-Man", "spiderman"),
        ("Crosby, Stills & Nash", "Crosby Stills & Nash."),
        ("Café", "Cafe\N{COMBINING ACUTE ACCENT}"),
        ("STRASSE", "straße"),
        ("1,000", "1000"),
        ("3.0", "3"),
        ("\N{MINUS SIGN}5", "-5"),
        ("1e3", "1000"),
        ('"5"^^xsd:integer', "5"),
        ('"Rhine"@en', "Rhine"),
        ("1853-03-30T00:00:00Z", "1853-03-30"),
        ("1889-04-20-08:00", "1889-04-20"),
        ("March 30, 1853", "1853-03-30"),
        ("30th of March 1853", "1853-03-30"),
        ("Mar. 1853", "1853-03"),
    ],
)
def test_two_spellings_of_one_value_are_equal(one: str, other: str):
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "10"),
        ("1.5", "15"),
        ("-5", "5"),
        ("007", "7"),
        ("10\N{SUPERSCRIPT TWO}", "102"),
        ("C", "C++"),
        ("C", "C#"),
        ("C++", "C#"),
        ("1853", "1853-03-30"),
        ("1853-03", "1853-03-30"),
        ("1853-03-30T10:15:00", "1853-03-30"),
        ("New York", "New York City"),
        ("Resume", "Résumé"),
        ("The A", "The The"),
        ("!!!", "???"),
        ("yes", "True"),
    ],
)
def test_two_values_are_not_equal(one: str, other: str):
    assert key(one) != key(other)


def test_yes_and_no_are_truth_values_where_one_is_requested():
    assert key("Yes.", AnswerKind.BOOLEAN) == key("true", AnswerKind.BOOLEAN) == ("boolean", True)
    assert key("no", AnswerKind.BOOLEAN) == key("FALSE", AnswerKind.BOOLEAN) == ("boolean", False)
    assert key("not sure", AnswerKind.BOOLEAN) == ("text", "not sure")


def test_an_article_within_a_word_stays():
    assert normalize_text("Athena the Great") == "athena great"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wd:Q42", "Q42"),
        ("<http://www.wikidata.org/entity/Q42>", "Q42"),
        ("/m/0d6lp", "m.0d6lp"),
        ("http://rdf.freebase.com/ns/m.0d6lp", "m.0d6lp"),
    ],
)
def test_the_spellings_of_an_id_are_equal(one: str, other: str):
    assert entity_id(one) == entity_id(other)


def test_an_id_is_compared_as_it_is():
    assert entity_id("ex:Ada") != entity_id("ex:ada")
    assert entity_id("wd:Q42") != entity_id("wd:Q4")


PARIS = Answer(names=("Paris", "City of Light"), id="wd:Q90")


@pytest.mark.parametrize("given", ["paris", "The City of Light", "wd:Q90", "Q90", "http://www.wikidata.org/entity/Q90"])
def test_each_name_and_the_id_of_a_true_answer_count(given: str):
    assert match_answers(question(PARIS), (given,)).score.correct


def test_two_names_of_one_true_answer_are_one_answer():
    match = match_answers(question(PARIS, "Rome"), ("Paris", "Q90", "City of Light", "Berlin", "berlin"))
    assert match.given == ("Paris", "Berlin")
    assert (match.score.precision, match.score.recall, match.score.false_positives) == (0.5, 0.5, 1)


def test_a_name_that_two_true_answers_share_gives_both():
    rings = [Answer(names=("The Ring",), id=each) for each in ("ring_1998", "ring_2002")]
    assert match_answers(question(*rings), ("The Ring",)).score.correct
    assert match_answers(question(*rings), ("ring_1998",)).score.recall == 0.5
