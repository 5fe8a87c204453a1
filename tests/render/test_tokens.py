"""Tokens are counted without a vocabulary, near the true number and rather above it."""

from __future__ import annotations

import pytest

from kgnav_mcp.render.text import count_tokens


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("", 0),
        ("cat", 1),
        ("place of birth", 3),
        ("people.person.place_of_birth", 8),
        ("1853-03-30", 6),
        ("Drama|Drama", 3),
        ("--|--|--|--\n", 8),
        ("東京", 2),
    ],
)
def test_the_count_is_near_what_byte_pair_vocabularies_give(text: str, true: int) -> None:
    assert true <= count_tokens(text) <= 1.7 * true + 1


def test_the_parts_of_a_table_never_count_more_than_the_whole() -> None:
    cells = ["wdt:P19", "place of birth", "wd:Q9883", "Zundert", "from: 1853"]
    assert count_tokens("|".join(cells)) == sum(map(count_tokens, cells)) + len(cells) - 1
