"""Triples of both directions as one list: outgoing first, then incoming, pageable across the border."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.model import Count, Direction, Link, Page, Stop
from kgnav_mcp.navigation.flattening import flattened
from kgnav_mcp.port import GraphAdapter, TailKind

Paths = Sequence[tuple[str, ...]] | None
"""Relations to follow in one direction: None follows every one, an empty list follows none."""


async def links(
    graph: GraphAdapter,
    ids: Sequence[str],
    *,
    outgoing: Paths = None,
    incoming: Paths = None,
    far_ends: TailKind | None = None,
    limit: int,
    room: int | None = None,
    after: str | None = None,
    met: set[str] | None = None,
) -> Page[Link]:
    """The triples at the entities in both directions, mediators folded away: `limit` at most, and what has room.

    `met` is given the ids of the relations as they are in the store's own rows.
    """
    sides = [(Direction.OUTGOING, outgoing), (Direction.INCOMING, incoming)]
    started = Direction(after.partition("|")[0]) if after else Direction.OUTGOING
    items: list[Link] = []
    positions: list[str] = []
    total = Count(0)
    stop = Stop.COMPLETE
    notes: list[str] = []
    for direction, paths in sides:
        if paths is not None and not paths:
            continue
        passed = direction is Direction.OUTGOING and started is Direction.INCOMING
        left = 0 if passed or stop is Stop.LIMIT else limit - len(items)
        inner = after.partition("|")[2] if after and direction is started else None
        # A side that is passed or does not fit any more still counts: the total is of the whole list.
        page = await flattened(
            graph,
            ids,
            direction,
            paths=paths,
            far_ends=far_ends,
            limit=max(left, 1),
            room=room,
            after=inner or None,
            met=met,
        )
        total += page.total
        notes.append(page.note)
        shown = min(left, len(page.items)) if left < 1 else len(page.items)
        items.extend(Link(direction, triple) for triple in page.items[:shown])
        positions.extend(f"{direction}|{position}" for position in page.positions[:shown])
        if page.stop is not Stop.COMPLETE and not passed:
            stop = page.stop
        elif left < 1 and not passed and page.items:
            stop = Stop.LIMIT
    return Page(tuple(items), tuple(positions), total, stop, " ".join(filter(None, notes)))
