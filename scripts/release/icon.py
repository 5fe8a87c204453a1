"""The icon: a walk of two steps through a graph. Drawn pixel by pixel, so that no image program is needed."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from math import hypot

SIZE = 256
"""Pixels a side."""

Point = tuple[float, float]
Color = tuple[int, int, int]

_BACKGROUND: Color = (20, 33, 61)
_EDGE: Color = (120, 136, 170)
_WALK: Color = (252, 163, 17)
_NODE: Color = (229, 229, 229)
_NODES: tuple[Point, ...] = ((62, 186), (96, 78), (190, 70), (160, 160), (214, 196), (52, 110))
_EDGES = ((0, 1), (1, 2), (0, 3), (3, 4), (5, 1), (2, 3))
_WALKED = (0, 3, 2)
_RADIUS, _CORNER, _LINE = 17, 48, 5


def icon_png() -> bytes:
    """The icon as a PNG file with transparency."""
    rows = b"".join(b"\0" + b"".join(_pixel(x + 0.5, y + 0.5) for x in range(SIZE)) for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixel(x: float, y: float) -> bytes:
    color = _BACKGROUND
    for first, second in _EDGES:
        color = _blend(color, _EDGE, _LINE / 2 - _distance_to_line((x, y), _NODES[first], _NODES[second]))
    for first, second in pairwise(_WALKED):
        color = _blend(color, _WALK, _LINE - _distance_to_line((x, y), _NODES[first], _NODES[second]))
    for number, (left, top) in enumerate(_NODES):
        node = _WALK if number in _WALKED else _NODE
        color = _blend(color, node, _RADIUS - hypot(x - left, y - top))
    inner = SIZE / 2 - _CORNER
    outside = hypot(max(abs(x - SIZE / 2) - inner, 0), max(abs(y - SIZE / 2) - inner, 0))
    return bytes((*color, round(255 * _share(_CORNER - outside))))


def _blend(below: Color, above: Color, inside: float) -> Color:
    share = _share(inside)
    red, green, blue = (round(low + (high - low) * share) for low, high in zip(below, above, strict=True))
    return red, green, blue


def _share(inside: float) -> float:
    """How much of a pixel is covered by a shape whose border is so many pixels away: negative outside."""
    return min(max(inside + 0.5, 0.0), 1.0)


def _distance_to_line(point: Point, start: Point, end: Point) -> float:
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    share = ((point[0] - start[0]) * along_x + (point[1] - start[1]) * along_y) / (along_x**2 + along_y**2)
    share = min(max(share, 0.0), 1.0)
    return hypot(point[0] - start[0] - share * along_x, point[1] - start[1] - share * along_y)
