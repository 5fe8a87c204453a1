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
from kgnav_mcp.port.lists import invalid

_PATH = ("edges",)
"""Stands for the relations in a position: the edges of a head are one list."""


class EdgeSource(ABC, Generic[E, R]):
    """How a store finds the edges that lead to some tails."""

    heads_at_once: ClassVar[int] = 1_000

    @abstractmethod
    async def edges(self, heads: Sequence[E]) -> tuple[Mapping[E, Sequence[R]], Stop]:
        """The edges from each of some heads to the tails, in their order, and why some may be missing."""

    @abstractmethod
    async def triples(self, edges: Sequence[tuple[E, R]]) -> Sequence[Triple]:
        """Edges as triples, with the names of all that is in them."""


async def edges_page(source: EdgeSource[E, R], heads: Sequence[E], *, limit: int, after: str | None) -> Page[Triple]:
    """One page of the edges, as `GraphAdapter.edges` has it: heads are looked at until there are edges enough.

    Raises:
        InvalidCursor: `after` is no position of this list.
    """
    start = Position.parse(after) if after is not None else Position(0, _PATH)
    if start.entity >= len(heads) or start.path != _PATH:
        raise invalid(after or "")
    found: list[tuple[E, R, str]] = []
    stop, begin = Stop.COMPLETE, start.entity
    while begin < len(heads) and len(found) <= limit and stop is Stop.COMPLETE:
        some = heads[begin : begin + source.heads_at_once]
        edges, stop = await source.edges(some)
        found += await in_thread(len(some), partial(_placed, edges, some, begin, start))
        begin += len(some)
    more = len(found) > limit
    total = Count.at_least(len(found)) if more or after is not None or stop is not Stop.COMPLETE else Count(len(found))
    shown = found[:limit]
    return Page(
        items=tuple(await source.triples([(head, edge) for head, edge, _ in shown])),
        positions=tuple(position for _, _, position in shown),
        total=total,
        stop=Stop.LIMIT if more else stop,
    )


def _placed(edges: Mapping[E, Sequence[R]], heads: Sequence[E], begin: int, start: Position) -> list[tuple[E, R, str]]:
    """The edges of some heads from a position on, each with the position behind it."""
    found: list[tuple[E, R, str]] = []
    for index, head in enumerate(heads, begin):
        skip = start.place[0] if index == start.entity else 0
        for n, edge in enumerate(edges.get(head, ())[skip:], skip + 1):
            found.append((head, edge, Position(index, _PATH, Place(n)).write()))
    return found
