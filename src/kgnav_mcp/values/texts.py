"""Parts and lengths of texts, as functions of plans. The result is null where Cypher may raise an error."""

from __future__ import annotations


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
