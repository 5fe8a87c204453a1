"""What is over the budget of an answer is truncated, and says so: a whole text, structured content, a single row."""

from __future__ import annotations

import json
from typing import cast

from kgnav_mcp.render.tokens import count_tokens

_CUT = "...\nCut here: the whole text has {:,} characters, which is more than an answer may have."
SHORTEST_CUT = 10
"""Characters that are left of any text: a word of a fixed list, such as a direction, stays whole."""
_EACH = (1000, 300, 100, 30, SHORTEST_CUT)
_SHORTER = (*zip(_EACH, _EACH, strict=True), (SHORTEST_CUT, 2), (SHORTEST_CUT, 1))
"""Characters and items that structured content's texts and lists are cut to, one after the other until it fits."""


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
    for limit, items in _SHORTER:
        if count_tokens(json.dumps(shorter, ensure_ascii=False)) <= budget:
            return shorter
        shorter = {
            "completeness": facts["completeness"],
            "rows": [shortened(row, limit, items) for row in cast("list[object]", facts["rows"])],
            "notes": [
                f"Texts that end in ..., and lists of {items:,}, are cut: the whole was more than an answer may have.",
                *(shortened(note, limit, items) for note in cast("list[object]", facts["notes"])),
            ],
        }
    return shorter


def shortened(value: object, limit: int, items: int) -> object:
    """A value of JSON with its texts cut at `limit` characters, and its lists at so many items."""
    match value:
        case str():
            return value if len(value) <= limit else f"{value[:limit]}..."
        case list():
            return [shortened(each, limit, items) for each in cast("list[object]", value)[:items]]
        case dict():
            inner = cast("dict[str, object]", value).items()
            return {key: shortened(each, limit, items) for key, each in inner}
        case _:
            return value
