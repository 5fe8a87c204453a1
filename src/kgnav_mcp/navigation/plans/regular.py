"""Regular expressions of plans. Those that could take Python exponential time are refused.

Python's engine backtracks and blocks the event loop meanwhile, so a repetition within a repetition (`(a+)+`) could
block the server for years. Stores have engines of their own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from kgnav_mcp.errors import InvalidArgument

LONGEST_TEXT = 1_000
"""Characters of a text that is compared with a regular expression at most."""
_REPETITIONS = 4
"""Unbounded repetitions in one expression at most: each may multiply the time by the length of the text."""
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[a-z]+\)|\(\?:|\(|\)|\{\d*,\d*\}|[*+?|]|.", re.DOTALL)
_REFUSED = re.compile(r"\(\?(?![a-z]*\)|:)|\\[1-9kgp]")
_REPEATS = re.compile(r"[*+]|\{\d*,\d*\}")


def fits(text: str, expression: str) -> bool | None:
    """Whether a whole text matches a regular expression; None if the text is too long to be compared.

    Raises:
        InvalidArgument: the regular expression is invalid, or it could take too long.
    """
    pattern = _compiled(expression)
    return None if len(text) > LONGEST_TEXT else pattern.fullmatch(text) is not None


@lru_cache(maxsize=100)
def _compiled(expression: str) -> re.Pattern[str]:
    reason = _risk(expression)
    if reason is None:
        try:
            return re.compile(expression)
        except (re.error, OverflowError, RecursionError) as error:
            reason = f"is no regular expression: {error}"
    raise InvalidArgument(f"{expression[:80]!r} {reason}", next_step="Use CONTAINS, STARTS WITH or ENDS WITH.")


def _risk(expression: str) -> str | None:
    """Why an expression could take too long; None if it could not."""
    if _REFUSED.search(expression):
        return "looks around or back, which regular expressions of plans cannot"
    open_groups, repetitions = [False], 0
    parts = [*_PART.findall(expression), ""]
    for part, following in pairwise(parts):
        if part in {"(", "(?:"}:
            open_groups.append(False)
        elif part == ")" and len(open_groups) > 1:
            has_variable_length = open_groups.pop()
            if has_variable_length and _REPEATS.fullmatch(following):
                return "repeats what has several lengths itself, which could take for ever"
            open_groups[-1] |= has_variable_length
        elif _REPEATS.fullmatch(part) or part in {"|", "?"}:
            open_groups[-1] = True
            repetitions += _REPEATS.fullmatch(part) is not None
    return f"has more than {_REPETITIONS} parts of any length" if repetitions > _REPETITIONS else None
