"""What users write as plans, each language in a module of its own; nothing of a store is in here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.plan import Plan, PlanProblem


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A plan as it was written, in one of three languages."""

    plan: Plan
    one_node: frozenset[str] = frozenset()
    """Variables that name one node: a name that several nodes have is a mistake there."""


def read_plan(given: object) -> WrittenPlan:
    """The plan that Cypher or GQL (a text), a pattern (an object) or steps (a list) ask for; JSON as text, too.

    Raises:
        InvalidPlan: it is none of these, with every reason.
    """
    if isinstance(given, str) and given.lstrip().startswith(("{", "[")):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"it begins like JSON and is none: {error}") from error
    match given:
        case str() if given.strip():
            from kgnav_mcp.spelling.cypher import parse_cypher  # noqa: PLC0415 - the parser takes time to import

            return WrittenPlan(parse_cypher(given))
        case dict() if given:
            from kgnav_mcp.spelling.patterns import parse_pattern  # noqa: PLC0415

            return WrittenPlan(parse_pattern(cast("object", given)))
        case list() if given:
            from kgnav_mcp.spelling.steps import parse_steps  # noqa: PLC0415

            return WrittenPlan(*parse_steps(cast("Sequence[object]", given)))
        case _:
            raise _invalid("it is empty, or neither a text nor an object nor a list")


def _invalid(reason: str) -> InvalidPlan:
    return InvalidPlan(
        [PlanProblem("the plan", reason)],
        next_step='Write Cypher: "MATCH (a)-[:relation]->(b) RETURN b". describe_graph() lists labels and relations.',
    )
