"""What misspelt words may mean."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.catalogue import Vocabulary

KNOWN = Vocabulary(["vincent", "vince", "gogh", "goth", "hog", "van", "vincenzo"])


def test_a_misspelt_word_means_the_nearest_words():
    assert KNOWN.near("vincnet")[0] == "vincent"
    assert KNOWN.near("gohg")[0] == "gogh"
    assert KNOWN.near("vn") == []
    assert KNOWN.near("completely") == []


def test_of_a_word_that_is_known_others_are_near_that_begin_alike():
    assert KNOWN.near("goth", misspelt=False) == ["gogh"]
    assert KNOWN.near("vincent", misspelt=False) == ["vince", "vincenzo"]


def test_a_short_word_has_many_near_words_of_which_each_may_be_the_right_one():
    near = ["hoe", *(f"ho{letter}e" for letter in "dlmnprsv"), "hope"]
    assert "hope" in Vocabulary([*near, "hob", "hod", "hog", "hop", "how"]).near("hoe", misspelt=False)
