"""Parses and writes plans in the read-only part of Cypher, and in GQL's equivalents."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from kgnav_mcp.languages.cypher.values import quoted
from kgnav_mcp.languages.cypher.writer import write_cypher, write_part, write_relations
from kgnav_mcp.languages.parameters import unused
from kgnav_mcp.plan import Plan, Scalar

__all__ = ["parse_cypher", "quoted", "write_cypher", "write_part", "write_relations"]

_CACHE_SIZE = 64
Param = tuple[str, "Scalar | tuple[Scalar, ...]"]


@lru_cache(_CACHE_SIZE, typed=True)
def parse_cypher(text: str, cache: Path | None = None, params: tuple[Param, ...] = ()) -> Plan:
    """Parse a text in Cypher. `cache` is a folder in which the parser keeps its tables for later processes.

    `params` are the names and values of its parameters: each must be used, and each that is used must have a value.

    Raises:
        InvalidPlan: the error lists all problems that can be found without a graph.
    """
    # The parser takes half a second at first use, so a server without plans never loads it.
    from kgnav_mcp.languages.cypher.clauses import Clauses  # noqa: PLC0415
    from kgnav_mcp.languages.cypher.reader import Reading  # noqa: PLC0415
    from kgnav_mcp.languages.cypher.syntax import invalid_plan, parse_tree  # noqa: PLC0415

    tree = parse_tree(text, cache)
    reading = Reading(text, params=dict(params))
    plan = Clauses(reading).plan(tree)
    reading.problems += unused(dict(params), reading.used)
    if reading.problems:
        raise invalid_plan(reading.problems, plan)
    return plan
