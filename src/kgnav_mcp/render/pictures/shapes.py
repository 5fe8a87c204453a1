"""The outlines of nodes and the curves of edges, as paths of SVG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]

HEIGHT = 24.0
"""Least height of a node, in pixels."""
_SLANT = 8.0
_BAR = 5.0


def outline(kind: str, left: float, middle: float, width: float, height: float = HEIGHT) -> str:
    """The outline of a node: a pill for topics, a hexagon for answers, double sides for visited nodes."""
    right, top, bottom = left + width, middle - height / 2, middle + height / 2
    match kind:
        case "topic":
            radius = HEIGHT / 2
            down, up = (
                f"a{radius:g} {radius:g} 0 0 1 {radius * sign:g} {radius * sign:g}v{(height - HEIGHT) * sign:g}"
                f"a{radius:g} {radius:g} 0 0 1 {-radius * sign:g} {radius * sign:g}"
                for sign in (1, -1)
            )
            return f"M{left + radius:.1f} {top:.1f}H{right - radius:.1f}{down}H{left + radius:.1f}{up}z"
        case "answer":
            return _polygon(
                (left, middle),
                (left + _SLANT, top),
                (right - _SLANT, top),
                (right, middle),
                (right - _SLANT, bottom),
                (left + _SLANT, bottom),
            )
        case "visited":
            bars = "".join(f"M{x:.1f} {top:.1f}V{bottom:.1f}" for x in (left + _BAR, right - _BAR))
            return _polygon((left, top), (right, top), (right, bottom), (left, bottom)) + bars
        case "value":
            return _polygon((left + _SLANT, top), (right, top), (right - _SLANT, bottom), (left, bottom))
        case _:
            return _polygon((left, top), (right, top), (right, bottom), (left, bottom))


def _polygon(*points: Point) -> str:
    return f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}z"


def curve(points: Sequence[Point]) -> str:
    """A smooth line through these points, horizontal at each of them."""
    (x, y), *_ = points
    path = f"M{x:.1f} {y:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (x0 + x1) / 2
        path += f"C{half:.1f} {y0:.1f} {half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return path


def loop(left: float, top: float) -> str:
    """An edge from a node to itself, drawn above the node."""
    return f"M{left + 14:.1f} {top:.1f}c0 -12 22 -12 22 0"
