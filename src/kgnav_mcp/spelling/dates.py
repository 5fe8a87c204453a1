"""Dates as plans state them: texts of any precision, and years as numbers."""

from __future__ import annotations


def date(given: object) -> object:
    """The text of a year that is given as a number; anything else as it is."""
    return f"{given:04}" if isinstance(given, int) and not isinstance(given, bool) else given
