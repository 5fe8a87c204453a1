"""Shortens long texts, lists and JSON values for messages and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

ECHO = 200
"""Maximum characters of a caller's input that a message quotes."""


def clipped(text: str, limit: int) -> str:
    """The text, or the first `limit` characters of a longer one with its full length."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def echoed(text: str) -> str:
    """A caller's input in quotation marks, for a message: at most 200 characters of it."""
    return repr(clipped(text, ECHO))


def truncate_values(value: object, limit: int, items: int) -> object:
    """A JSON value with each text cut to `limit` characters and each list to `items` items."""
    match value:
        case str():
            return value if len(value) <= limit else f"{value[:limit]}..."
        case list():
            return [truncate_values(each, limit, items) for each in cast("list[object]", value)[:items]]
        case dict():
            inner = cast("dict[str, object]", value).items()
            return {key: truncate_values(each, limit, items) for key, each in inner}
        case _:
            return value


def comma_list(texts: Sequence[str], limit: int) -> str:
    """Texts separated by commas: as many as fit `limit` characters, at least one, and the number of omitted ones."""
    shown: list[str] = []
    for text in texts:
        limit -= len(text)
        if limit < 0 and shown:
            return f"{', '.join(shown)}, and {len(texts) - len(shown):,} more"
        shown.append(clipped(text, max(limit + len(text), 0)))
    return ", ".join(shown)
