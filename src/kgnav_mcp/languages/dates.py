"""Dates in plans: texts of any precision, and years as numbers."""

from __future__ import annotations


def date(given: object) -> object:
    """The text of a year given as a number. Any other value is returned unchanged."""
    return f"{given:04}" if isinstance(given, int) and not isinstance(given, bool) else given
