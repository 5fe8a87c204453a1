"""Lists of nodes and values: where a page of one ends, and what of a list could not be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from kgnav_mcp.model import Certainty, Count, Page, Stop

T = TypeVar("T")

WHOLE = 5_000
"""A list with at most so many items is read whole and sorted."""

UNSORTED = f"These are more than {WHOLE:,} values, in the order of the store's index: not sorted."
"""The note of a page of a longer list of values."""


def cut(total: Count, skip: int, read: int, limit: int) -> Stop:
    """Whether a page ends before its list does; of a list that was not counted, a full page is taken not to be last."""
    more = skip + read < total.value if total.certainty is Certainty.EXACT else read >= limit
    return Stop.LIMIT if more else Stop.COMPLETE


def seen(total: Count, shown: int) -> Count:
    """The size of a list of which so many items have been shown: a lower bound is not below that."""
    return total if total.certainty is Certainty.EXACT else Count.at_least(max(total.value, shown))


@dataclass(frozen=True, slots=True)
class Condition:
    """What a query asks of the nodes of a list; it may ask for a part of what the user meant."""

    text: str | None
    """None: nothing can meet the condition."""
    stop: Stop = Stop.COMPLETE
    """Why other nodes may belong to the list."""
    note: str = ""
    """What was not looked for."""

    def of(self, page: Page[T]) -> Page[T]:
        """The page of the nodes that meet the condition, as a page of the list that the user meant."""
        return truncated(page, self.stop, self.note)


def truncated(page: Page[T], stop: Stop = Stop.COMPLETE, note: str = "") -> Page[T]:
    """A page of a list that may lack items, because of `stop` or as `note` says: its total becomes a lower bound.

    With a `stop` the last page does not end the list either.
    """
    if stop is Stop.COMPLETE and not note:
        return page
    total = page.total
    if total.certainty is Certainty.EXACT:
        total = Count.at_least(total.value)
    note = " ".join(filter(None, (page.note, note)))
    return replace(page, total=total, stop=stop if page.stop is Stop.COMPLETE else page.stop, note=note)
