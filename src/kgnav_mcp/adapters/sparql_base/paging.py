"""Pages of lists of nodes and values: whether more follow, and how to mark an incomplete list."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeVar

from kgnav_mcp.adapters.paging.positions import Key
from kgnav_mcp.model import Certainty, Count, Page, Stop
from kgnav_mcp.port.lists import items_before

T = TypeVar("T")

_FIRST = Key()

_FORM = re.compile(r"(\d{1,13})(:\d{1,13}:.*)", re.ASCII | re.DOTALL)

MAX_SORTED = 5_000
"""A list of at most this many items is read in full and sorted."""

UNSORTED = f"These are more than {MAX_SORTED:,} values, in the store's own order: not sorted."
"""The note on a page of a longer list of values."""


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position in a list: the number of items before it and, in a list that is read by key, the key."""

    skip: int = 0
    key: Key = _FIRST

    def write(self) -> str:
        """The position as text, as pages give it out."""
        return f"{self.skip}{self.key.write()}"

    @classmethod
    def parse(cls, after: str | None) -> ListPosition:
        """The position that a page gave out as text; None is the start of the list.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        match = None if after is None else _FORM.fullmatch(after)
        return cls(items_before(after)) if match is None else cls(int(match[1]), Key.parse(match[2]))


def page_stop(total: Count, skip: int, read: int, limit: int) -> Stop:
    """Stop.LIMIT if more items follow the page, else Stop.COMPLETE.

    Without an exact total, a full page is assumed not to be the last.
    """
    more = skip + read < total.value if total.certainty is Certainty.EXACT else read >= limit
    return Stop.LIMIT if more else Stop.COMPLETE


def raised_total(total: Count, shown: int) -> Count:
    """The total of a list of which `shown` items have been shown: a lower bound is raised to at least that."""
    return total if total.certainty is Certainty.EXACT else Count.at_least(max(total.value, shown))


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the nodes of a list. It may be narrower than what the user asked for; `note` then says so."""

    text: str | None
    """The SPARQL pattern; None: no node can meet the condition."""
    stop: Stop = Stop.COMPLETE
    """Why nodes may be missing from the list."""
    note: str = ""
    """What the condition leaves out."""

    def of(self, page: Page[T]) -> Page[T]:
        """Mark a page of the nodes that meet the condition as incomplete, where the condition is narrower."""
        return truncated(page, self.stop, self.note)


def truncated(page: Page[T], stop: Stop = Stop.COMPLETE, note: str = "") -> Page[T]:
    """Mark a page of a list that may lack items, because of `stop` or as `note` says.

    Its total becomes a lower bound. With a `stop`, even the last page does not end the list.
    """
    if stop is Stop.COMPLETE and not note:
        return page
    total = page.total
    if total.certainty is Certainty.EXACT:
        total = Count.at_least(total.value)
    note = " ".join(filter(None, (page.note, note)))
    return replace(page, total=total, stop=stop if page.stop is Stop.COMPLETE else page.stop, note=note)
