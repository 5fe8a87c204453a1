"""How alike names are, and what misspelt words may mean."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.matching import ALIAS, DESCRIPTION, NAME, Likeness, Vocabulary, folded, words


def test_words_lose_letter_case_accents_and_signs():
    assert words("José Ñandú-Pérez (actor) JOSÉ") == ["jose", "nandu", "perez", "actor"]
    assert words("東京 Ёлка") == ["東京", "елка"]
    assert words('"*()^ -') == []


def test_folding_keeps_korean_syllables_whole():
    assert folded("한국") == "한국"


def test_the_very_name_scores_one_and_less_like_names_less():
    likeness = Likeness("Ada Stone")
    names = ["Ada Stone", "ADA STONE", "Ádá Stone", "Stone Ada", "Ada Stones Junior", "Ben Waters"]
    scores = [likeness.score(name, NAME) for name in names]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_an_alias_scores_below_the_same_name_and_a_description_below_every_likely_name():
    likeness = Likeness("night clock")
    assert likeness.score("night clock", ALIAS) < likeness.score("night clock", NAME)
    assert likeness.score("clock of the night", DESCRIPTION) < likeness.score("night cloak", NAME)
    assert likeness.score("clock of the night", DESCRIPTION) > likeness.score("a clock", DESCRIPTION) > 0


def test_a_misspelt_word_means_the_nearest_words():
    vocabulary = Vocabulary(["vincent", "vince", "gogh", "goth", "hog", "van", "vincenzo"])
    assert vocabulary.near("vincnet")[0] == "vincent"
    assert vocabulary.near("gohg")[0] == "gogh"
    assert vocabulary.near("vn") == []
    assert vocabulary.near("completely") == []
