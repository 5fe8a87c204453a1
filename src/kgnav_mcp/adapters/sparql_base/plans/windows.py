"""Reads answers of more rows than a store returns: for some nodes of a label, or edges of a relation, at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

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
            windows = _Windows(self._reader, self._names, listing, pattern, select)
            with suppress(StoreTimeout):
                rows = await windows.rows(len(whole.rows), most)
                if rows is not None:
                    return Read(rows)
        return whole


@dataclass(frozen=True, slots=True)
class _Windows:
    """The answers of a query on a pattern for some items of a listing at a time."""

    reader: Reader
    names: Sequence[str]
    listing: Listing
    pattern: str
    select: Select

    async def rows(self, cap: int, most: int) -> tuple[Row, ...] | None:
        """The rows of all windows, or some more than `most`; None if these are not all matches.

        A window whose answer the row cap cut is halved and read again.

        Raises:
            StoreTimeout: the store stopped one of the queries.
        """
        size = await self._size()
        if size is None:
            return None
        start, width = 0, _FIRST
        if len(self.listing.nodes) == len(self.names):  # each item has at most one row
            width = min(width, max(cap - 1, 1))
        order, begun = await self._order(width)
        rows: list[Row] = []
        while start < size and len(rows) <= most:
            read = begun or await self._read(order, start, width)
            begun = None
            if read.stop is Stop.ROW_CAP and width > 1:
                width //= 2
                continue
            rows += read.all_rows()
            start += width
            if len(read.rows) * _FEW_ROWS < cap:
                width *= 2
        return tuple(rows) if len(rows) > most or await self._has_all_matches(rows, self.pattern) else None

    async def _size(self) -> int | None:
        """The number of items of the listing; None if some are listed several times, as by several graphs."""
        read = await self.reader.select(queries.LISTED, nodes=self.listing.columns, listing=self.listing.text)
        numbers = read.all_rows()[0]
        size = number_in(numbers, "n")
        return size if size == number_in(numbers, "t") else None

    async def _order(self, width: int) -> tuple[str, Read | None]:
        """What precedes the queries, and the first window, of this width, if it was read so.

        The store may not know how few nodes a window has, so its patterns are joined in written order. But Virtuoso
        7.2.5 then loses groups of large graphs, other ones each time: a third of 17,638 beside three million edges.
        """
        order = self.reader.dialect.in_written_order
        if not order:
            return "", None
        begun = await self._read(order, 0, width)
        if begun.stop is Stop.COMPLETE and not await self._has_all_matches(begun.rows, self._pattern_of(0, width)):
            return "", None
        return order, begun

    def _pattern_of(self, start: int, width: int) -> str:
        """The pattern for the items of a window."""
        terms = {"nodes": self.listing.columns, "listing": self.listing.text}
        return f"{self.reader.filled(queries.WINDOW, **terms, skip=start, most=width)} {self.pattern}"

    async def _read(self, order: str, start: int, width: int) -> Read:
        return await self.select(self._pattern_of(start, width), order)

    async def _has_all_matches(self, rows: Sequence[Row], pattern: str) -> bool:
        """Whether the groups add up to the matches of the pattern: a store might list nodes in another order."""
        names = [name.removeprefix("?") for name in self.names]
        groups = {tuple(row.get(name) for name in names): matches_in(row) for row in rows}
        read = await self.reader.select(queries.BOUNDED_COUNT, pattern=self.reader.each_once(pattern))
        return sum(groups.values()) == number_in(read.all_rows()[0], "size")
