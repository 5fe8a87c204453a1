"""A page of the edges between two sets of entities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic

from kgnav_mcp.adapters.paging.counts import E
from kgnav_mcp.adapters.paging.positions import Place, Position
from kgnav_mcp.adapters.paging.segments import R
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Page, Stop, Triple
from kgnav_mcp.port.lists import invalid_cursor

_PATH = ("edges",)
"""Placeholder for the path in a position: all edges of a head are one list, whatever their relation."""


class EdgeSource(ABC, Generic[E, R]):
    """How a store finds the edges that lead to a given set of tails. Adapters derive from it."""

    heads_at_once: ClassVar[int] = 1_000

    @abstractmethod
    async def edges(self, heads: Sequence[E]) -> tuple[Mapping[E, Sequence[R]], Stop]:
        """The edges to the tails, by head and in order; and the reason why some may be missing (COMPLETE: none is)."""

    @abstractmethod
    async def triples(self, edges: Sequence[tuple[E, R]]) -> Sequence[Triple]:
        """Edges as triples, with the labels of their entities and relations."""


async def edges_page(source: EdgeSource[E, R], heads: Sequence[E], *, limit: int, after: str | None) -> Page[Triple]:
    """One page of edges, as `GraphAdapter.edges` defines it. Heads are read in batches until the page is full.

    Raises:
        InvalidCursor: `after` is no position of this list.
    """
    start = Position.parse(after) if after is not None else Position(0, _PATH)
    if start.entity >= len(heads) or start.path != _PATH:
        raise invalid_cursor(after or "")
    found: list[tuple[E, R, str]] = []
    stop, begin = Stop.COMPLETE, start.entity
    while begin < len(heads) and len(found) <= limit and stop is Stop.COMPLETE:
        batch = heads[begin : begin + source.heads_at_once]
        edges, stop = await source.edges(batch)
        found += await in_thread(len(batch), partial(_with_positions, edges, batch, begin, start))
        begin += len(batch)
    more = len(found) > limit
    total = Count.at_least(len(found)) if more or after is not None or stop is not Stop.COMPLETE else Count(len(found))
    shown = found[:limit]
    return Page(
        items=tuple(await source.triples([(head, edge) for head, edge, _ in shown])),
        positions=tuple(position for _, _, position in shown),
        total=total,
        stop=Stop.LIMIT if more else stop,
    )


def _with_positions(
    edges: Mapping[E, Sequence[R]], heads: Sequence[E], begin: int, start: Position
) -> list[tuple[E, R, str]]:
    """The edges of a batch of heads from a position on, each with the position after it."""
    found: list[tuple[E, R, str]] = []
    for index, head in enumerate(heads, begin):
        skip = start.place[0] if index == start.entity else 0
        for n, edge in enumerate(edges.get(head, ())[skip:], skip + 1):
            found.append((head, edge, Position(index, _PATH, Place(n)).write()))
    return found
