"""Cypher's reading half, and GQL's forms of the same, to plans and back."""

from __future__ import annotations

from functools import lru_cache

from kgnav_mcp.plan import Plan
from kgnav_mcp.spelling.cypher.values import quoted
from kgnav_mcp.spelling.cypher.writing import write_cypher, write_part, write_relations

__all__ = ["parse_cypher", "quoted", "write_cypher", "write_part", "write_relations"]

_CACHED = 64


@lru_cache(_CACHED)
def parse_cypher(text: str) -> Plan:
    """The plan that a text in Cypher is.

    Raises:
        InvalidPlan: with all that is wrong with it, as far as can be seen without a graph.
    """
    # The parser costs half a second at first use: a server that gets no plans never loads it.
    from kgnav_mcp.spelling.cypher.clauses import Clauses  # noqa: PLC0415
    from kgnav_mcp.spelling.cypher.reading import Reading  # noqa: PLC0415
    from kgnav_mcp.spelling.cypher.syntax import parse_tree, refused  # noqa: PLC0415

    tree = parse_tree(text)
    reading = Reading(text)
    plan = Clauses(reading).plan(tree)
    if reading.problems:
        raise refused(reading.problems, plan)
    return plan
