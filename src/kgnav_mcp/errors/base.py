"""The base class of all errors, and pauses in words."""

from __future__ import annotations

from math import ceil, isnan
from typing import Final

LONGEST_PAUSE: Final = 86_400.0
"""Seconds. A longer pause is reported as more than a day, and the store is tried again after a day."""


def in_words(seconds: float) -> str:
    """The length of a pause, rounded up: `40 s`, `5 minutes`, `2 hours`."""
    if seconds > LONGEST_PAUSE:
        return "more than a day"
    whole_seconds = max(ceil(bounded(seconds)), 1)
    minutes = ceil(whole_seconds / 60)
    if whole_seconds < 120:
        return f"{whole_seconds} s"
    return f"{minutes} minutes" if minutes < 120 else f"{ceil(minutes / 60)} hours"


def bounded(seconds: float) -> float:
    """A pause limited to the range from 0 to LONGEST_PAUSE seconds; 0 for NaN."""
    return 0.0 if isnan(seconds) else min(max(seconds, 0.0), LONGEST_PAUSE)


class KgnavError(Exception):
    """Base of all errors raised on purpose: what failed, and what to do about it."""

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
