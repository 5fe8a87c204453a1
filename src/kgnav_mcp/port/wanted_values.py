"""Compares values in a caller's text form with literals of a graph.

Tools get values as text, because clients in JavaScript cannot tell 2 from 2.0. So a text that is a number also means
that number, and a date also means every date that is equal in the precision that both have.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from kgnav_mcp.model import Literal, Node
from kgnav_mcp.values.comparison import Period, equal, period_of
from kgnav_mcp.values.scalars import Date, scalar

_NUMBER = re.compile(
    r"(?P<whole>[+-]?(0|[1-9][0-9]{0,299}))(\.0*)?|[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?"
)
"""A number without leading zeros: `007` is only a text. Whole numbers stay exact: a float would confuse 2**53 + 1."""


@dataclass(frozen=True, slots=True)
class WantedValue:
    """A text, and the number or the date that it may also mean."""

    text: str
    number: int | float | None = None
    period: Period | None = None
    """The time that the date covers."""

    @classmethod
    def read(cls, text: str) -> WantedValue:
        """Parse a text."""
        number = _number(text)
        # A year is also a number: `1815` finds the number as well as dates of that year.
        return cls(text, number, period_of(text))

    def equals(self, node: Node) -> bool:
        """Whether a literal has this text, or is an equal number or date. Texts are compared as texts only."""
        if not isinstance(node, Literal):
            return False
        if node.text == self.text:
            return True
        value = scalar(node)
        if isinstance(value, bool):
            return self.text == str(value).lower()
        if isinstance(value, str):
            return isinstance(value, Date) and self.period is not None and equal(value, self.text) is True
        return self.number is not None and value == self.number


def _number(text: str) -> int | float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or not any(map(str.isdigit, text)):
        return None
    if match["whole"] is not None:
        return int(match["whole"])
    try:
        number = float(text)
    except ValueError:  # an exponent without a number before it
        return None
    return number if math.isfinite(number) else None
