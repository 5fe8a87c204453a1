"""Functions of texts in plans: parts and lengths, and regular expressions, which RE2 matches in linear time.

The result of a function is null where Cypher may raise an error. RE2 has the syntax of Java, and so of Neo4j; Python's
own engine may take exponential time. What RE2 lacks, or interprets differently, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import cast

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument


def left(text: str, length: int) -> str | None:
    """The first characters; null of a negative number."""
    return text[:length] if length >= 0 else None


def right(text: str, length: int) -> str | None:
    """The last characters; null of a negative number."""
    return None if length < 0 else text[-length:] if length else ""


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """The characters from a place, so many or all; null of a negative number."""
    if start < 0 or (length is not None and length < 0):
        return None
    return text[start:] if length is None else text[start : start + length]


def _padding(text: str, length: int, fill: str) -> str | None:
    """The characters that a text lacks; null of a negative length, and if it lacks some and nothing is to fill it."""
    missing = length - len(text)
    if length < 0 or (missing > 0 and not fill):
        return None
    return (fill * (missing // len(fill) + 1))[:missing] if missing > 0 else ""


def pad_left(text: str, length: int, fill: str = " ") -> str | None:
    """The text made so long by characters before it, or cut."""
    padding = _padding(text, length, fill)
    return None if padding is None else padding + text[:length]


def pad_right(text: str, length: int, fill: str = " ") -> str | None:
    """The text made so long by characters behind it, or cut."""
    padding = _padding(text, length, fill)
    return None if padding is None else text[:length] + padding


def pad_size(_text: str, length: int, _fill: str = " ") -> int:
    """The most characters of a padded text."""
    return max(0, length)


def replace_size(text: str, old: str, new: str) -> int:
    """The most characters that a replacement makes."""
    return len(text) + (text.count(old) if old else len(text) + 1) * len(new)


_PARTS = re.compile(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|(?P<lacking>\(\?<?[=!]|\(\?>|\\[1-9k]|(?:[*+?]|\{\d+,?\d*\})\+|\\[CGhHRvVXZ])"
    r"|(?P<flag>\(\?[a-z-]*[dUux][a-zU-]*[:)])"
    r"|\\.|\[\^?\]?(?P<members>(?:\\.|[^\]\\])*)\]|.",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_LACKING = "uses {}, which is not supported (no look-ahead, look-behind, back references, possessive or atomic groups)"
_NEXT_STEP = (
    "Combine simple conditions with AND, OR and NOT instead: n.name =~ 'A.*' AND NOT n.name CONTAINS 'b'. CONTAINS, "
    "STARTS WITH and ENDS WITH need no regular expression; [a-z], (a|b), x*, x{2,5}, \\\\d, (?i) and the like work."
)


def matches_whole(text: str, expression: str) -> bool:
    """Whether a whole text matches a regular expression.

    Raises:
        InvalidArgument: the regular expression is invalid, or uses what RE2 lacks.
    """
    return _compiled(expression)(_encoded(text)) is not None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=100)
def _compiled(expression: str) -> Callable[[bytes], object | None]:
    re2 = import_module("re2")  # has no types; takes 4 ms, and few plans have a regular expression
    reason = _refusal(expression)
    if reason is None:
        options = re2.Options()
        options.log_errors, options.never_capture = False, True
        try:
            return cast("Callable[[bytes], object | None]", re2.compile(_encoded(expression), options).fullmatch)
        except re2.error as error:
            message: bytes = error.args[0]
            reason = f"is not valid in RE2: {message.decode('utf-8', 'replace')}"
    raise InvalidArgument(f"the regular expression {echoed(expression)} {reason}", next_step=_NEXT_STEP)


def _refusal(expression: str) -> str | None:
    """The reason to refuse an expression that RE2 lacks or interprets differently from Java; None if it is accepted."""
    for part in _PARTS.finditer(expression):
        if part["lacking"]:
            return _LACKING.format(part["lacking"])
        if part["flag"]:
            return f"has the flags {part['flag']}; only i, m and s are supported"
        members = _ESCAPE.sub("", part["members"] or "")
        if "&&" in members or "[" in members:
            return f"combines sets of characters: {part[0]} (write one set, such as [a-df-z])"
    return None
