"""What users write as plans, each language in a module of its own; nothing of a store is in here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import cast

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.plan import Plan, PlanProblem


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A plan as it was written, in one of three languages."""

    plan: Plan
    given: object = None
    """What was written, where it was JSON."""
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
        except JSONDecodeError as error:
            raise _broken(error) from error
        except RecursionError as error:
            raise InvalidPlan([PlanProblem("the plan", "its JSON is nested too deeply")], next_step=_JSON) from error
    match given:
        case str() if given.strip():
            from kgnav_mcp.spelling.cypher import parse_cypher  # noqa: PLC0415 - the parser takes time to import

            return WrittenPlan(parse_cypher(given))
        case dict() if given:
            from kgnav_mcp.spelling.patterns import parse_pattern  # noqa: PLC0415

            return WrittenPlan(parse_pattern(cast("object", given)), cast("object", given))
        case list() if given:
            from kgnav_mcp.spelling.steps import parse_steps  # noqa: PLC0415

            plan, one_node = parse_steps(cast("Sequence[object]", given))
            return WrittenPlan(plan, cast("object", given), one_node)
        case _:
            raise InvalidPlan(
                [PlanProblem("the plan", "it is empty, or neither a text nor an object nor a list")],
                next_step='Write Cypher: "MATCH (a)-[:relation]->(b) RETURN b". describe_graph() lists what there is.',
            )


_JSON = "Mend the JSON there, or give the plan as an object instead of a text."
_AROUND = 20
"""Characters before and behind the place of a mistake in JSON that are shown."""


def _broken(error: JSONDecodeError) -> InvalidPlan:
    """What is wrong with a text that begins like JSON, and where."""
    around = error.doc[max(error.pos - _AROUND, 0) : error.pos + _AROUND]
    reason = f"{error.msg[:1].lower()}{error.msg[1:]}, near {echoed(around)}"
    return InvalidPlan([PlanProblem(f"JSON, line {error.lineno}, column {error.colno}", reason)], next_step=_JSON)
