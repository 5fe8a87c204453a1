"""Validation of plans in JSON: unknown keys are refused with an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from kgnav_mcp.plan import PlanProblem


class Strict(BaseModel):
    """Base class of the objects in a plan. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def form_problems(
    error: ValidationError, place: str, whole: type[Strict], parts: Mapping[str, type[Strict]]
) -> Iterator[PlanProblem]:
    """The problems in the form of a plan or of its part at `place`. For an unknown key they list the valid ones.

    `parts` has the form of the objects under each key of the plan.
    """
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        where = " ".join(filter(None, (place, ".".join(map(str, found["loc"]))))) or "the plan"
        if found["type"] != "extra_forbidden":
            own = found["type"] == "value_error"
            yield PlanProblem(where, found["msg"].removeprefix("Value error, ") if own else found["msg"].lower())
            continue
        known = parts.get(str(found["loc"][0]), whole)
        keys = [field.alias or name for name, field in known.model_fields.items()]
        yield PlanProblem(where, "there is no such key", tuple(keys))
