"""The functions of Cypher and GQL that plans support, and replacements for some that they do not."""

from __future__ import annotations

from typing import Final

from kgnav_mcp.plan import AggregateFunction, Function

AGGREGATES: Final = {function.value: function for function in AggregateFunction} | {
    "collect_list": AggregateFunction.COLLECT,
}
FUNCTIONS: Final = {function.value.lower(): function for function in Function} | {
    "id": Function.ID,
    "element_id": Function.ID,
    "lower": Function.LOWER,
    "upper": Function.UPPER,
    "edges": Function.EDGES,
    "path_length": Function.LENGTH,
    "char_length": Function.SIZE,
    "character_length": Function.SIZE,
    "cardinality": Function.SIZE,
    "ceiling": Function.CEILING,
    "tostringornull": Function.TEXT,
    "tofloatornull": Function.NUMBER,
    "tointegerornull": Function.WHOLE,
    "toint": Function.WHOLE,
}
"""Functions by lower-case name."""
DATES: Final = frozenset({"date", "datetime", "localdatetime", "zoned_datetime", "local_datetime", "time", "localtime"})
"""Functions that make a date from a text. Dates are compared as text."""
DURING: Final = "during"
"""Condition that an edge was valid in a period: `during(r, "1990", "1995")`, null for an open end."""

REPLACEMENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(DATES, ("a date as text: '2020-01-31'",)),
    "keys": ("properties(n)",),
    "range": ("a list: [1, 2, 3]",),
    "any": ("a member: 'x' IN list", "UNWIND list AS x, then WITH ... WHERE"),
    "all": ("UNWIND list AS x, then WITH ... WHERE",),
    "none": ("NOT 'x' IN list",),
    "single": ("UNWIND list AS x, then WITH ... WHERE",),
    "degree": ("COUNT { (n)--() }",),
    "isempty": ("size(list) = 0",),
    "stdev": ("avg", "min", "max"),
    "percentilecont": ("avg", "min", "max"),
    "substring": ("CONTAINS", "STARTS WITH"),
    "split": ("CONTAINS",),
    "trim": ("=~",),
    "tail": ("head(list)", "last(list)"),
    "toboolean": ("n.value = 'true'",),
    "timestamp": ("a date as text: '2020-01-31'",),
    "duration": ("year(b) - year(a)",),
}
"""Replacements for functions that plans do not support."""


def accepts_arguments(function: Function, arguments: int) -> bool:
    """Whether a function takes this number of arguments: `coalesce` at least one, any other exactly one."""
    return arguments == 1 or (function is Function.COALESCE and arguments > 1)


def accepted_call(function: Function, arguments: int) -> str:
    """An example of a call that is accepted, for a call with a number of arguments that is not."""
    return "round(x * 100) / 100" if function is Function.ROUND and arguments > 1 else f"{function}(x)"
