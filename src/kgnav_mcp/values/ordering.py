"""The order of values: numbers by size, then texts."""

from __future__ import annotations

import re

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""The syntax of a number: a regular expression for any engine, to be matched with the whole text."""

_IS_NUMBER = re.compile(NUMBER).fullmatch


def value_order(text: str) -> tuple[bool, float, str]:
    """A sort key: numbers first, by size however they are written, then texts.

    Dates are texts; ISO 8601 dates sort correctly as such.
    """
    is_number = _IS_NUMBER(text) is not None
    return not is_number, float(text) if is_number else 0.0, text
