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


async def read_all(reader: Reader, pattern: str, listings: Sequence[Listing], select: Select, most: int) -> Read:
    """The answer of a query on a pattern.

    If the row cap cuts it, the query is asked for windows of a listing instead, and their rows are returned together,
    or some more than `most`. The listing's nodes must be among those by which the query groups. If the store does not
    answer for a window, the cut answer is returned.
    """
    whole = await select(pattern, "")
    if whole.stop is not Stop.ROW_CAP or not reader.stable_order:
        return whole
    for listing in listings:
        terms = {"nodes": Fragment(" ".join(node.text for node in listing.nodes)), "listing": listing.text}
        with suppress(StoreTimeout):
            numbers = (await reader.select(reader.filled(queries.LISTED, **terms))).all_rows()[0]
            size = number_in(numbers, "n")
            if size == number_in(numbers, "t"):  # else some are listed several times: by several graphs

                def window(start: int, width: int, terms: dict[str, Fragment] = terms) -> Awaitable[Read]:
                    some = reader.filled(queries.WINDOW, **terms, skip=start, most=width)
                    # The store may not know how few nodes a window has.
                    return select(f"{some} {pattern}", reader.dialect.in_written_order)

                return Read(await _windows(window, size, len(whole.rows), most))
    return whole


async def _windows(window: Callable[[int, int], Awaitable[Read]], size: int, cap: int, most: int) -> tuple[Row, ...]:
    """The rows of windows. A window whose answer the row cap cut is halved and read again.

    Raises:
        StoreTimeout: the store stopped one of the queries.
    """
    rows: list[Row] = []
    start, width = 0, _FIRST
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
