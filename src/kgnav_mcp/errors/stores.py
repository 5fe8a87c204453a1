"""Errors of stores: the call was valid."""

from __future__ import annotations

from kgnav_mcp.errors.base import KgnavError, bounded, in_words


class StoreError(KgnavError):
    """The store failed; the call was valid."""


class StoreUnavailable(StoreError):
    """The store does not answer, or the graph file does not exist."""


class StoreTimeout(StoreError):
    """The store did not answer within `seconds`. A `message` may say instead that it aborted or refused the query.

    `seconds` is the time that was too short; None if it is not known.
    """

    def __init__(self, seconds: float | None, message: str = "", *, next_step: str = "") -> None:
        time = "in time" if seconds is None else f"within {seconds:g} s"
        super().__init__(message or f"the store did not answer {time}", next_step=next_step)
        self.seconds = seconds


class StepLimitReached(StoreTimeout):
    """The store stopped a query after as many steps of its engine as the caller allowed, whatever time they took."""

    def __init__(self, steps: int) -> None:
        super().__init__(None, f"the store stopped the query after {steps:,} steps")
        self.steps = steps


class RateLimited(StoreError):
    """The store refuses more calls for now.

    `retry_after` is in seconds, limited to the range from 0 to LONGEST_PAUSE; None if the store did not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        pause = "a minute" if retry_after is None else in_words(retry_after)
        super().__init__(message, next_step=f"Try again in {pause}.")
        self.retry_after = None if retry_after is None else bounded(retry_after)


class TrailStoreUnavailable(StoreError):
    """The store of the trails does not answer, or cannot be written to. The graph may be fine."""


class InvalidStore(StoreError):
    """The store answers, but its data cannot be read: damaged, of another version, or not a graph."""
