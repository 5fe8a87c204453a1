"""The functions of Cypher and GQL that plans support, and replacements for some that they do not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from kgnav_mcp.plan import Function
from kgnav_mcp.values.functions import FUNCTIONS

DATES: Final = frozenset({"date", "datetime", "localdatetime", "zoned_datetime", "local_datetime", "time", "localtime"})
"""Functions that make a date from a text. Dates are compared as text."""
DURING: Final = "during"
"""Condition that an edge was valid in a period: `during(r, "1990", "1995")`, null for an open end."""

REPLACEMENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(DATES, ("a date as text: '2020-01-31'",)),
    "degree": ("COUNT { (n)--() }",),
    "timestamp": ("a date as text: '2020-01-31'",),
    "duration": ("year(b) - year(a)",),
}
"""Replacements for functions that plans do not support."""


FUNCTION_LIST: Final = "docs/plans.md lists all under Functions and parameters"
"""Where a reader finds the functions if none has a similar name."""
_MOST_SIMILAR = 3
_LEAST_SIMILARITY = 0.76
"""Of a name that may be meant. `tolwer` and `toLower` have 0.92, `foo` and `floor` 0.75, `soundex` and `round` 0.67."""


def similar_functions(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The functions whose names are so similar that a misspelt one may mean them; none if there are no such."""
    names = {each.casefold(): each for each in known}
    return tuple(names[each] for each in get_close_matches(name.casefold(), names, _MOST_SIMILAR, _LEAST_SIMILARITY))


def accepted_call(function: Function) -> str:
    """An example of a call that is accepted."""
    return FUNCTIONS[function].example or f"{function}(x)"
