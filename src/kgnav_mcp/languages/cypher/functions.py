"""The functions of Cypher and GQL that plans support, and replacements for some that they do not."""

from __future__ import annotations

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


def accepted_call(function: Function) -> str:
    """An example of a call that is accepted."""
    return FUNCTIONS[function].example or f"{function}(x)"
