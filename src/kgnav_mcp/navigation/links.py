"""Triples of both directions as one list: outgoing first, then incoming, pageable across the border."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Direction, Link, Page, Stop, Triple
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

    Both directions of a first page are asked for at once: few lists need their second one shortened.

    `met` is given the ids of the relations as they are in the store's own rows.
    """
    paths = {Direction.OUTGOING: outgoing, Direction.INCOMING: incoming}
    sides = [side for side in paths if paths[side] is None or paths[side]]
    started = Direction(after.partition("|")[0]) if after else None

    def read(side: Direction, most: int, at: str | None) -> Awaitable[Page[Triple]]:
        return flattened(
            graph, ids, side, paths=paths[side], far_ends=far_ends, limit=most, room=room, after=at, met=met
        )

    first = await gathered(*(read(side, limit, None) for side in sides)) if started is None else ()
    items: list[Link] = []
    positions: list[str] = []
    total = Count(0)
    stop = Stop.COMPLETE
    notes: list[str] = []
    for place, side in enumerate(sides):
        passed = side is Direction.OUTGOING and started is Direction.INCOMING
        left = 0 if passed or stop is Stop.LIMIT else limit - len(items)
        inner = after.partition("|")[2] if after and side is started else None
        # A side that is passed or does not fit any more still counts: the total is of the whole list.
        page = first[place] if first else await read(side, max(left, 1), inner or None)
        shown = min(left, len(page.items))
        total += page.total
        notes.append(page.note)
        items.extend(Link(side, triple) for triple in page.items[:shown])
        positions.extend(f"{side}|{position}" for position in page.positions[:shown])
        if not passed and shown < len(page.items):
            stop = Stop.LIMIT
        elif not passed and page.stop is not Stop.COMPLETE:
            stop = page.stop
    return Page(tuple(items), tuple(positions), total, stop, " ".join(filter(None, notes)))
