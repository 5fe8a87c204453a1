"""The last guard of every answer: a text over its budget is truncated, and says so."""

from __future__ import annotations

import json
from typing import cast

from kgnav_mcp.render.tokens import count_tokens

_CUT = "...\nCut here: the whole text has {:,} characters, which is more than an answer may have."
SHORTEST_CUT = 10
"""Characters that are left of any text: a word of a fixed list, such as a direction, stays whole."""
_SHORTER = (1000, 300, 100, 30, SHORTEST_CUT)
"""Characters that the texts of structured content are cut to, one length after the other until it fits."""


def truncated(text: str, budget: int) -> str:
    """The text in at most `budget` tokens; one that is cut ends with a line that says so."""
    if len(text) <= budget or count_tokens(text) <= budget:  # no character is more than one token
        return text
    ending = _CUT.format(len(text))
    room = budget - count_tokens(ending)
    fits, over = 0, min(len(text), budget * _LONGEST_TOKEN)
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if count_tokens(text[:middle]) <= room else (fits, middle)
    return text[:fits] + ending


_LONGEST_TOKEN = 20
"""Characters of a cut text for each token: blanks are none."""


def truncated_facts(facts: dict[str, object], budget: int) -> dict[str, object]:
    """Structured content in at most `budget` tokens as JSON, its texts cut as far as that takes."""
    shorter = facts
    for limit in _SHORTER:
        if count_tokens(json.dumps(shorter, ensure_ascii=False)) <= budget:
            return shorter
        shorter = {
            "completeness": facts["completeness"],
            "rows": _cut(facts["rows"], limit),
            "notes": [
                "Texts that end in ... are cut: the whole was more than an answer may have.",
                *_texts(facts, limit),
            ],
        }
    return shorter


def _texts(facts: dict[str, object], limit: int) -> list[object]:
    return [_cut(note, limit) for note in cast("list[object]", facts["notes"])]


def _cut(value: object, limit: int) -> object:
    match value:
        case str():
            return value if len(value) <= limit else f"{value[:limit]}..."
        case list():
            return [_cut(each, limit) for each in cast("list[object]", value)]
        case dict():
            return {key: _cut(each, limit) for key, each in cast("dict[str, object]", value).items()}
        case _:
            return value
