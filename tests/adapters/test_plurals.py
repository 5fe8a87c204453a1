"""Singular and plural of English nouns."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.candidates import equal_but_for_plurals, plural_variants, singular_or_plural_forms

PAIRS = (
    ("telescope", "telescopes"),
    ("galaxy", "galaxies"),
    ("nebula", "nebulae"),
    ("nova", "novae"),
    ("analysis", "analyses"),
    ("index", "indices"),
    ("index", "indexes"),
    ("matrix", "matrices"),
    ("spectrum", "spectra"),
    ("phenomenon", "phenomena"),
    ("nucleus", "nuclei"),
    ("box", "boxes"),
    ("mass", "masses"),
    ("lens", "lenses"),
    ("dish", "dishes"),
    ("half", "halves"),
    ("knife", "knives"),
    ("fisherman", "fishermen"),
    ("grandchild", "grandchildren"),
    ("mouse", "mice"),
)


@pytest.mark.parametrize(("singular", "plural"), PAIRS)
def test_a_noun_has_two_numbers_each_of_which_gives_the_other(singular: str, plural: str):
    assert plural in singular_or_plural_forms(singular)
    assert singular in singular_or_plural_forms(plural)
    assert equal_but_for_plurals(["old", singular], ["old", plural])
    assert equal_but_for_plurals(["old", plural], ["old", singular])


def test_words_that_only_look_alike_are_not_one_word_in_two_numbers():
    for one, other in (("glass", "glas"), ("galaxy", "galaxia"), ("star", "start"), ("as", "a")):
        assert not equal_but_for_plurals([one], [other])
    assert not equal_but_for_plurals(["solar", "flare"], ["flares"])
    assert not equal_but_for_plurals(["solar", "flare"], ["flares", "solar"])


def test_a_phrase_keeps_its_other_words_and_its_letter_case():
    assert plural_variants("Solar flare")[0] == "Solar flares"
    assert "H II regions" in plural_variants("H II region")
    assert "Planetary nebulae" in plural_variants("Planetary nebula")
    assert "X-ray binary" in plural_variants("X-ray binaries")
    assert "Men of war" in plural_variants("Man of war")
    assert plural_variants("... -") == []
    assert plural_variants("star " * 100) == []
