"""How alike names are, and who bears one."""

from __future__ import annotations

from kgnav_mcp.adapters.candidates import ALIAS, DESCRIPTION, ID, NAME, Likeness, entities_named, folded, words


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


def test_a_name_in_the_other_number_ranks_next_to_the_exact_one():
    likeness = Likeness("solar flare")
    names = ["solar flare", "Solar Flare", "Solar-Flare", "Solar flares", "Solar flare spectra", "Solar telescopes"]
    scores = [likeness.score(name, NAME) for name in names]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert likeness.score("solar flare", ALIAS) > likeness.score("Solar flares", NAME)


def test_of_names_that_differ_in_letter_case_only_the_one_in_the_case_of_the_hint_ranks_first():
    for hint, name, other in (
        ("Goods", "Good", "good"),
        ("goods", "good", "Good"),
        ("Jude Lwa", "Jude Law", "jude law"),
        ("jude lwa", "jude law", "Jude Law"),
        ("Jose Nandu", "José Ñandú", "JOSÉ ÑANDÚ"),
    ):
        likeness = Likeness(hint)
        assert likeness.score(name, NAME) > likeness.score(other, NAME), hint
        assert likeness.score(other, NAME) > likeness.score(name, NAME) - 0.01, hint


def test_what_an_id_says_ranks_next_to_the_very_name_if_it_is_written_exactly_so_and_else_below_likely_names():
    likeness = Likeness("mushroom")
    assert likeness.score("mushroom", NAME) > likeness.score("mushroom", ID) > likeness.score("Mushroom", NAME)
    assert likeness.score("mushrooms", ID) < likeness.score("mushrooms", ALIAS)
    assert likeness.score("mushrooms", ID) > likeness.score("Mushroom soups", NAME)


def test_a_code_with_another_number_is_another_code_and_not_a_misspelt_one():
    others = (("Q99999999", "Q9"), ("DOID:99999", "Dodo"), ("tt0083658", "tt0083659"), ("MESH:D009203", "D00920"))
    assert all(Likeness(hint).is_other_code(text) for hint, text in others)
    same = (("Apollo13", "Apollo 13"), ("tt0083658", "see tt0083658"), ("Se7en", "Seven"), ("Boat 7", "Boat 77"))
    assert not any(Likeness(hint).is_other_code(text) for hint, text in same)


def test_an_exact_spelling_of_a_name_is_distinguished_from_others():
    texts = [("b", NAME, 1, "drama"), ("a", NAME, 0, "Drama"), ("c", NAME, 0, "DRAMA"), ("c", ALIAS, 0, "Drama")]
    found = entities_named("Drama", texts)
    assert sorted(found, key=found.__getitem__) == ["a", "c", "b"]
    assert {owner: text for owner, (_, text) in found.items()} == {"a": "Drama", "b": "drama", "c": "DRAMA"}


def test_an_alias_counts_where_nobody_has_the_name_and_an_id_where_nobody_has_either():
    alias, by_id, description = ("a", ALIAS, 0, "Drama"), ("i", ID, 0, "Drama"), ("d", DESCRIPTION, 0, "Drama")
    assert list(entities_named("Drama", [alias, by_id, description])) == ["a"]
    assert list(entities_named("Drama", [by_id, description])) == ["i"]
    assert list(entities_named("drama", [alias, by_id])) == ["a"]
    assert list(entities_named("Drama", [("n", NAME, 0, "Drama"), alias, by_id])) == ["n"]
    assert list(entities_named("Drama", [("n", NAME, 0, "drama"), alias, by_id])) == ["a", "n"]
