"""The form of plans in JSON: strict in their keys, and told where they are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from kgnav_mcp.plan import PlanProblem


class Strict(BaseModel):
    """An object of a plan. Any other key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def form_problems(
    error: ValidationError, place: str, whole: type[Strict], parts: Mapping[str, type[Strict]]
) -> Iterator[PlanProblem]:
    """What is wrong with the form of a plan, or of a part of it at a place; of an unknown key, with those there are.

    `parts` are the forms of what stands under the first key.
    """
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        where = " ".join(filter(None, (place, ".".join(map(str, found["loc"]))))) or "the plan"
        if found["type"] != "extra_forbidden":
            yield PlanProblem(where, found["msg"].lower())
            continue
        known = parts.get(str(found["loc"][0]), whole)
        keys = [field.alias or name for name, field in known.model_fields.items()]
        yield PlanProblem(where, "there is no such key", tuple(keys))
