"""The order of values: numbers by their size, then texts."""

from __future__ import annotations

import re

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""What a number is written like: a regular expression for any engine, of the whole text."""

_IS_NUMBER = re.compile(NUMBER).fullmatch


def value_order(text: str) -> tuple[bool, float, str]:
    """A key to sort by: numbers by their size, whatever they are written like, and behind them texts as texts.

    Dates are texts; as ISO 8601 writes them, that is their order.
    """
    is_number = _IS_NUMBER(text) is not None
    return not is_number, float(text) if is_number else 0.0, text
