"""Counts the tokens of an answer offline, and truncates answers to the token budget."""

from __future__ import annotations

import json
import string
from typing import cast

from kgnav_mcp.clipping import truncate_values

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()


def _only(characters: bytes, replacement: bytes) -> bytes:
    """A translation table that maps each of these characters to `replacement`, and all others to a blank."""
    return bytes(replacement[0] if character in characters else ord(" ") for character in range(256))


_AS_LETTERS = _only(_LETTERS, b"a")
_AS_DIGITS = _only(_DIGITS, b"0")
_NO_TOKENS = _LETTERS + _DIGITS + b" \t\r"


def count_tokens(text: str) -> int:
    """An estimate of the tokens of a text.

    Counts one class of bytes at a time, in a sixth of the time of a regular expression: it runs over every answer.
    """
    characters = text.encode("ascii", "replace")
    words = characters.translate(_AS_LETTERS)
    numbers = characters.translate(_AS_DIGITS)
    return (
        len(words.split())
        + words.count(b"aaaaaa")
        + len(numbers.split())
        + numbers.count(b"000")
        + len(characters.translate(None, _NO_TOKENS))
    )


_CUT = "...\nTruncated: the whole text has {:,} characters, more than the token budget allows."
SHORTEST_CUT = 10
"""Minimum length of a truncated text, so that a word of a fixed list, such as a direction, stays whole."""
_TEXT_LIMITS = (1000, 300, 100, 30, SHORTEST_CUT)
_CUT_STEPS = (*zip(_TEXT_LIMITS, _TEXT_LIMITS, strict=True), (SHORTEST_CUT, 2), (SHORTEST_CUT, 1))
"""Pairs (characters per text, items per list) to cut structured content to, tried in order until it fits."""


def fits(text: str, budget: int) -> bool:
    """Whether a text has at most `budget` tokens."""
    return len(text) <= budget or count_tokens(text) <= budget  # no character is more than one token


def truncate_text(text: str, budget: int) -> str:
    """The text in at most `budget` tokens. A truncated text ends with a line that says so."""
    if fits(text, budget):
        return text
    ending = _CUT.format(len(text))
    available = budget - count_tokens(ending)
    low, high = 0, min(len(text), budget * _LONGEST_TOKEN)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= available else (low, middle)
    return text[:low] + ending


_LONGEST_TOKEN = 20
"""Upper bound of characters per token in a truncated text: blanks are not counted as tokens."""


def truncate_json(facts: dict[str, object], budget: int) -> dict[str, object]:
    """Structured content in at most `budget` tokens of JSON. Texts and lists are cut only as far as needed."""
    fitting = facts
    for limit, items in _CUT_STEPS:
        if count_tokens(json.dumps(fitting, ensure_ascii=False)) <= budget:
            return fitting
        fitting = {
            "completeness": facts["completeness"],
            "rows": [truncate_values(row, limit, items) for row in cast("list[object]", facts["rows"])],
            "notes": [
                f"Texts that end in ..., and lists of {items:,}, are truncated: the whole answer exceeds the token "
                f"budget.",
                *(truncate_values(note, limit, items) for note in cast("list[object]", facts["notes"])),
            ],
        }
    return fitting
