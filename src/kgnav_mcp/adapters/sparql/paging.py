"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

A position of neighbours is `<entity>|<group>|<row>|<path>`: the entity's place among those asked for, the place of the
next row (see `Place`), and the relation, or the two of them with a blank between. Positions of other lists are a number
of items.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeVar

from kgnav_mcp.model import Certainty, Count, Page, Stop
from kgnav_mcp.port.lists import invalid

T = TypeVar("T")

WHOLE = 5_000
"""A list with at most so many items is read whole and sorted."""

UNSORTED = f"These are more than {WHOLE:,} values, in the order of the store's index: not sorted."
"""The note of a page of a longer list of values."""

_FORM = re.compile(r"(\d{1,13})\|(\d{1,13})\|(\d{1,13})\|([^ ]+(?: [^ ]+)?)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A row's place within one path at one entity: the group that it is in, and how many rows of that come before it.

    In a two-hop path a group is what lies behind one mediator. In one hop it is the rows of one triple, where several
    statements about it make several of them; where rows have no groups, all are in the first.
    """

    group: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    entity: int
    path: tuple[str, ...]
    place: Place

    def write(self) -> str:
        """The text a page gives."""
        return f"{self.entity}|{self.place.group}|{self.place.row}|{' '.join(self.path)}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise invalid(text)
        return cls(int(match[1]), tuple(match[4].split(" ")), Place(int(match[2]), int(match[3])))


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
