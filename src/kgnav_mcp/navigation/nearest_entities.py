"""The entities nearest to a reference that means none: by similar names, or by the same id otherwise written."""

from __future__ import annotations

import re
from itertools import product

from kgnav_mcp.model import Entity
from kgnav_mcp.port import GraphAdapter

_NUMBERED = re.compile(r"(\S*?)0*(\d{1,12})", re.ASCII)
_OBO_DIGITS = 7
"""Digits of most numbers of the OBO Foundry, as in `GO:0008150`."""


async def nearest_entities(graph: GraphAdapter, reference: str, limit: int) -> list[Entity]:
    """Entities with a name like a reference; else those whose ids differ from it in letter case or leading zeros.

    An id with another number is not near: it means something else.
    """
    page = await graph.find(reference, limit=limit)
    if page.items:
        return [candidate.entity for candidate in page.items]
    found = await graph.describe(rewritten_ids(reference))
    return list({entity.id: entity for entity in found.values()}.values())[:limit]


def rewritten_ids(reference: str) -> list[str]:
    """An id that ends with a number, in other letter cases and with other leading zeros; empty for other texts."""
    if (match := _NUMBERED.fullmatch(reference)) is None:
        return []
    before, number = match.groups()
    cases = (before, before.upper(), before.lower())
    forms = product(cases, (number, number.zfill(_OBO_DIGITS)))
    return list(dict.fromkeys(case + digits for case, digits in forms if case + digits != reference))
