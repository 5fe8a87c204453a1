"""Truncates what exceeds an answer's token budget, and says so: a whole text, structured content, a single row."""

from __future__ import annotations

import json
from typing import cast

from kgnav_mcp.clipping import truncate_values
from kgnav_mcp.render.tokens import count_tokens

_CUT = "...\nCut here: the whole text has {:,} characters, which is more than an answer may have."
SHORTEST_CUT = 10
"""No text is cut to fewer characters, so that a word of a fixed list, such as a direction, stays whole."""
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
"""Upper bound of characters per token in a truncated text: blanks count as no token."""


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
                f"Texts that end in ..., and lists of {items:,}, are cut: the whole was more than an answer may have.",
                *(truncate_values(note, limit, items) for note in cast("list[object]", facts["notes"])),
            ],
        }
    return fitting
