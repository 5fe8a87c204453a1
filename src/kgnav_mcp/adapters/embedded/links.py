"""Rows of a segment as links with their positions."""

from __future__ import annotations

from collections.abc import Iterable

from kgnav_mcp.adapters.embedded.paging import START, Kind, Segment
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Direction, Entity, Link, Triple

Placed = tuple[str, Link]
"""A link with the position of its row."""


def links(builder: Builder, index: int, anchor: Entity, segment: Segment, rows: Iterable[Row]) -> list[Placed]:
    """The rows of a segment at an anchor, which has this place among those asked for."""
    relation, prefix = builder.path(segment.path), segment.prefix(index)
    entity, qualifiers = builder.entity, builder.qualifiers
    match segment.kind:
        case Kind.TAIL:
            return [
                (
                    f"{prefix}{node}.{n}",
                    Link(Direction.OUTGOING, Triple(anchor, relation, entity(*end), qualifiers(stored))),
                )
                for _, _, node, n, stored, *end in rows
            ]
        case Kind.HEAD:
            return [
                (
                    f"{prefix}{node}.{n}",
                    Link(Direction.INCOMING, Triple(entity(*end), relation, anchor, qualifiers(stored))),
                )
                for _, _, node, n, stored, *end in rows
            ]
        case Kind.ATTRIBUTE:
            return [
                (
                    f"{prefix}{n}",
                    Link(Direction.OUTGOING, Triple(anchor, relation, builder.literal(*value), qualifiers(stored))),
                )
                for _, _, n, stored, *value in rows
            ]
        case _:
            return [_through(builder, prefix, anchor, segment, row) for row in rows]


def _through(builder: Builder, prefix: str, anchor: Entity, segment: Segment, row: Row) -> Placed:
    """A row of a two-hop relation: the numbers that order it, both edges' qualifiers, mediator, far end."""
    kind, relation = segment.kind, builder.path(segment.path)
    width = len(START[kind])
    seek, (first, second, key, *far) = row[:width], row[width:]
    qualifiers = builder.qualifiers(first) + builder.qualifiers(second)
    via = builder.entity(key, None, 1)
    if kind is Kind.HEAD_THROUGH:
        triple = Triple(builder.entity(*far), relation, anchor, qualifiers, via)
    else:
        end = builder.literal(*far) if kind is Kind.ATTRIBUTE_THROUGH else builder.entity(*far)
        triple = Triple(anchor, relation, end, qualifiers, via)
    return prefix + ".".join(map(str, seek)), Link(kind.direction, triple)
