"""Pages made of lists in memory, and of other pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import AnchoredPage, Count, Page, Stop, T


def select(page: AnchoredPage[T], wanted: Sequence[bool]) -> AnchoredPage[T]:
    """The page with only the wanted items; the others are subtracted from its total."""
    return replace(
        page,
        items=tuple(compress(page.items, wanted)),
        positions=tuple(compress(page.positions, wanted)),
        total=replace(page.total, value=max(page.total.value - wanted.count(False), 0)),
    )


def page_after(items: Sequence[T], after: str | None, stop: Stop = Stop.COMPLETE) -> Page[T]:
    """The rest of a list in memory after the position `after`, which is a number of items."""
    start = int(after or 0)
    return Page(tuple(items[start:]), tuple(str(n + 1) for n in range(start, len(items))), _count(items, stop), stop)


def refuse_partial(stop: Stop) -> None:
    """Check that a list that must be whole is.

    Raises:
        StoreTimeout: the store ran out of time.
        Unsupported: the store gave no more rows, or could not sort them.
    """
    step = "Ask about fewer entities or one relation. Without --paper-format, the server answers with what it has read."
    if stop is Stop.TIME_OUT:
        raise StoreTimeout(None, "the store ran out of time before the list was complete", next_step=step)
    if stop is not Stop.COMPLETE:
        raise Unsupported("the store did not give the whole list, and a paper's format is never cut", next_step=step)


def _count(items: Sequence[object], stop: Stop) -> Count:
    return Count(len(items)) if stop is Stop.COMPLETE else Count.at_least(len(items))
