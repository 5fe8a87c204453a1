"""Singular and plural of English nouns."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.plurals import in_other_numbers, other_numbers, same_but_number

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
    assert plural in other_numbers(singular)
    assert singular in other_numbers(plural)
    assert same_but_number(["old", singular], ["old", plural])
    assert same_but_number(["old", plural], ["old", singular])


def test_words_that_only_look_alike_are_not_one_word_in_two_numbers():
    for one, other in (("glass", "glas"), ("galaxy", "galaxia"), ("star", "start"), ("as", "a")):
        assert not same_but_number([one], [other])
    assert not same_but_number(["solar", "flare"], ["flares"])
    assert not same_but_number(["solar", "flare"], ["flares", "solar"])


def test_a_phrase_keeps_its_other_words_and_its_letter_case():
    assert in_other_numbers("Solar flare")[0] == "Solar flares"
    assert "H II regions" in in_other_numbers("H II region")
    assert "Planetary nebulae" in in_other_numbers("Planetary nebula")
    assert "X-ray binary" in in_other_numbers("X-ray binaries")
    assert "Men of war" in in_other_numbers("Man of war")
    assert in_other_numbers("... -") == []
    assert in_other_numbers("star " * 100) == []
