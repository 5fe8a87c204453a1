"""A look at one node: what it is, and what is there in one direction or in both, by one statement.

A round trip to the server costs as much as all that is read on it. A tool that follows a relation whichever way it runs
asks for both directions at the same moment, and so they are asked for together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.entities import Anchor, Cell, Entities
from kgnav_mcp.adapters.neo4j.values import VECTOR
from kgnav_mcp.model import Direction

ENDS = 3
"""Far ends of a type that come with the count of its edges."""
LOOKED_AT = 1_000
"""Edges of a type that are looked at for far ends: where they all lead to the same node, there is one."""

_OWN, _FIRST_SIDE = 1, 2
"""Places in a row of `queries.LOOK`, behind the cell."""

Edge = Sequence[Any]
"""Type, properties, and the far end's cell."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is asked for in one direction: the edges of some types, None for all; with the node's properties or without.

    Where there are more edges than are wanted, those of the types in `counted` are counted instead, with a few far
    ends of each.
    """

    types: tuple[str, ...] | None
    values: bool
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a node in one direction: all edges where they are few enough, else some types counted.

    `own` are the node's properties, as `queries.OWN` gives them.
    """

    anchor: Anchor
    own: Sequence[Sequence[Any]]
    degree: int
    edges: Sequence[Edge]
    counted: Mapping[str, tuple[int, Sequence[Cell]]]


@dataclass(slots=True)
class _Asked:
    """Sides of one node that are read together, and how many wait for them."""

    reference: str
    most: int
    sides: dict[Direction, Side] = field(default_factory=dict[Direction, Side])
    waiting: int = 0


class Looks:
    """Looks at nodes."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._open: dict[tuple[str, int], tuple[_Asked, asyncio.Task[Anchor | None]]] = {}

    async def at(self, reference: str, direction: Direction, side: Side, most: int) -> Look | None:
        """One side of a node, `most` edges of it at most; None where there is no such node."""
        asked, answer = self._together(reference, direction, most)
        asked.sides[direction] = side
        asked.waiting += 1
        try:
            # One who gives up takes nothing from the other.
            anchor = await asyncio.shield(answer)
        finally:
            asked.waiting -= 1
            if not asked.waiting:
                answer.cancel()
        if anchor is None:
            return None
        degree, edges, counts = anchor.row[_FIRST_SIDE + list(asked.sides).index(direction)]
        counted = dict(zip(side.counted, counts[0] if counts else (), strict=bool(counts)))
        return Look(anchor, anchor.row[_OWN], int(degree), edges, counted)

    def _together(self, reference: str, direction: Direction, most: int) -> tuple[_Asked, asyncio.Task[Anchor | None]]:
        """What is asked of a node at this moment, but for the side that is asked for now."""
        found = self._open.get((reference, most))
        if found is None or direction in found[0].sides:
            asked = _Asked(reference, most)
            # Its first step runs when everyone who asks at this moment has asked.
            found = self._open[reference, most] = asked, asyncio.create_task(self._read(asked))
        return found

    async def _read(self, asked: _Asked) -> Anchor | None:
        key = asked.reference, asked.most
        if key in self._open and self._open[key][0] is asked:
            del self._open[key]
        sides = asked.sides
        parts = {
            "own": queries.OWN if any(side.values for side in sides.values()) else "[]",
            "sides": "".join(_part(queries.SIDE, *side) for side in sides.items()),
            "seen": ", ".join(_part(queries.SEEN, *side) for side in sides.items()),
        }
        found = await self._entities.anchors(
            [asked.reference], queries.LOOK, parts, most=asked.most, examples=ENDS, looked_at=LOOKED_AT, vector=VECTOR
        )
        return found[0] if found else None


@lru_cache(maxsize=1_000)
def _part(template: str, direction: Direction, side: Side) -> str:
    return cypher.filled(
        template,
        side=str(direction),
        degree=cypher.degree(direction, side.types),
        edge=cypher.edge(direction, side.types),
        types=cypher.types(direction, side.counted),
    )
