"""Reads answers of more rows than a store returns: for some nodes of a label, or edges of a relation, at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, number_in
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Stop

_FIRST = 20_000
"""Size of the first window. Virtuoso takes about as long for all windows of this size as for the whole."""
_FEW_ROWS = 4
"""The next window has twice the size if one has fewer rows than this fraction (1 / n) of the row cap."""
Select = Callable[[str, str], Awaitable[Read]]
"""Asks a query on a pattern; the second text precedes the query."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A triple pattern that is a part of a larger one, and the nodes in it: each match of the larger has one of its."""

    nodes: tuple[Fragment, ...]
    text: Fragment

    @property
    def columns(self) -> Fragment:
        """The nodes as columns of a query."""
        return Fragment(" ".join(node.text for node in self.nodes))


def matches_in(group: Row) -> int:
    """The number of matches of a group: 1 where it is unbound."""
    return number_in(group, "n") if "n" in group else 1


class WindowReader:
    """Reads queries that group the matches of a pattern by some variables, `names`, and count each group as ?n."""

    def __init__(self, reader: Reader, names: Sequence[str], listings: Sequence[Listing]) -> None:
        """`listings` are parts of the pattern whose nodes are among `names`."""
        self._reader, self._names, self._listings = reader, names, listings

    async def read(self, pattern: str, select: Select, most: int) -> Read:
        """The answer of a query on a pattern.

        If the row cap cuts it, the query is asked for windows of a listing instead, and their rows are returned
        together, or some more than `most`. The cut answer is returned if the store does not answer for a window, or if
        the rows do not have all matches of the pattern.
        """
        whole = await select(pattern, "")
        if whole.stop is not Stop.ROW_CAP or not self._reader.stable_order:
            return whole
        for listing in self._listings:
            with suppress(StoreTimeout):
                size = await self._size(listing)
                if size is None:
                    continue
                cap = len(whole.rows)
                first = _FIRST
                if len(listing.nodes) == len(self._names):  # each item has at most one row
                    first = min(first, max(cap - 1, 1))
                rows = await _windows(partial(self._window, listing, pattern, select), size, cap, most, first)
                if len(rows) > most or await self._has_all_matches(rows, pattern):
                    return Read(rows)
        return whole

    async def _size(self, listing: Listing) -> int | None:
        """The number of items of a listing; None if some are listed several times, as by several graphs."""
        read = await self._reader.select(queries.LISTED, nodes=listing.columns, listing=listing.text)
        numbers = read.all_rows()[0]
        size = number_in(numbers, "n")
        return size if size == number_in(numbers, "t") else None

    async def _window(self, listing: Listing, pattern: str, select: Select, start: int, width: int) -> Read:
        terms = {"nodes": listing.columns, "listing": listing.text}
        window = self._reader.filled(queries.WINDOW, **terms, skip=start, most=width)
        # The store may not know how few nodes a window has.
        return await select(f"{window} {pattern}", self._reader.dialect.in_written_order)

    async def _has_all_matches(self, rows: Sequence[Row], pattern: str) -> bool:
        """Whether the groups add up to the matches of the pattern: a store might list nodes in another order."""
        names = [name.removeprefix("?") for name in self._names]
        groups = {tuple(row.get(name) for name in names): matches_in(row) for row in rows}
        read = await self._reader.select(queries.BOUNDED_COUNT, pattern=self._reader.each_once(pattern))
        return sum(groups.values()) == number_in(read.all_rows()[0], "size")


async def _windows(
    window: Callable[[int, int], Awaitable[Read]], size: int, cap: int, most: int, first: int
) -> tuple[Row, ...]:
    """The rows of windows, the first of this size. A window whose answer the row cap cut is halved and read again.

    Raises:
        StoreTimeout: the store stopped one of the queries.
    """
    rows: list[Row] = []
    start, width = 0, first
    while start < size and len(rows) <= most:
        read = await window(start, width)
        if read.stop is Stop.ROW_CAP and width > 1:
            width //= 2
            continue
        rows += read.all_rows()
        start += width
        if len(read.rows) * _FEW_ROWS < cap:
            width *= 2
    return tuple(rows)
