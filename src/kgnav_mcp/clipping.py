"""Long texts made short, in the same form wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

ECHO = 200
"""Characters of what a caller wrote that are repeated to it."""


def clipped(text: str, limit: int) -> str:
    """The text, or the first `limit` characters of a longer one with its full length."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def echoed(text: str) -> str:
    """What a caller wrote, quoted as an answer or an error repeats it: 200 characters at most."""
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
    """Texts separated by commas: as many as fit `limit` characters, at least one, and the number left out."""
    shown: list[str] = []
    for text in texts:
        limit -= len(text)
        if limit < 0 and shown:
            return f"{', '.join(shown)}, and {len(texts) - len(shown):,} more"
        shown.append(clipped(text, max(limit + len(text), 0)))
    return ", ".join(shown)
