"""The rows at entities as plain triples, for tests that look in one direction at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgnav_mcp.model import Direction, Page, Triple
from kgnav_mcp.port import GraphAdapter


async def triples_at(graph: GraphAdapter, ids: Sequence[str], direction: Direction, **narrowing: Any) -> Page[Triple]:
    """A page of `neighbours` without its anchors, each row seen in the direction asked for."""
    page = await graph.neighbours(ids, direction, **narrowing)
    assert all(link.direction is direction for link in page.items)
    triples = tuple(link.triple for link in page.items)
    return Page(triples, page.positions, page.total, page.stop, page.note)
