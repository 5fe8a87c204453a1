"""Parameters of plans: `$name` in Cypher, `{"param": "name"}` in JSON, with values that are passed separately."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.plan import PlanProblem, Scalar

Params = Mapping[str, Scalar | tuple[Scalar, ...]]
_PARAM = "param"
_LARGEST = 2**63
_MAX_MEMBERS = 10_000


def params_of(values: Mapping[str, object] | None) -> Params:
    """Parameters as they are given in JSON, checked: each a text, a number, true, false, null, or a list of them.

    Raises:
        InvalidArgument: one is anything else, or has too many members.
    """
    params: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for name, value in (values or {}).items():
        members = cast("Sequence[object]", value) if isinstance(value, list) else (value,)
        if any(map(_is_too_large, members)):
            raise InvalidArgument(
                f"the parameter {echoed(name)} has an integer that exceeds 64 bits",
                next_step="Compare with a float, such as 9.3e18, or pass a text if the graph stores one.",
            )
        if not all(map(_is_scalar, members)):
            raise InvalidArgument(
                f"the parameter {echoed(name)} is neither a text, a number, true, false, null nor a list of these",
                next_step="Pass a node by its id or name, and the members of an object as separate parameters.",
            )
        if len(members) > _MAX_MEMBERS:
            raise InvalidArgument(
                f"the parameter {echoed(name)} has {len(members):,} members",
                next_step=f"Split it into several plans of at most {_MAX_MEMBERS:,} each.",
            )
        scalars = cast("Sequence[Scalar]", members)
        params[name.removeprefix("$")] = tuple(scalars) if isinstance(value, list) else scalars[0]
    return params


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and not -_LARGEST <= value < _LARGEST


def unused(params: Params, used: Collection[str]) -> list[PlanProblem]:
    """The problems of parameters that the plan does not use."""
    reason = "the plan does not use this parameter"
    return [
        PlanProblem(f"params, {name}", reason, tuple(f"${match}" for match in get_close_matches(name, list(used), 3)))
        for name in params
        if name not in used
    ]


def filled(tree: object, params: Params) -> tuple[object, list[PlanProblem]]:
    """A plan in JSON with values in place of its parameters, and its problems with them."""
    used: set[str] = set()
    problems: list[PlanProblem] = []

    def fill(part: object) -> object:
        match part:
            case {"param": str(name)} if len(cast("Mapping[str, object]", part)) == 1:
                name = name.removeprefix("$")
                used.add(name)
                if name not in params:
                    problems.append(
                        PlanProblem(f'{{"{_PARAM}": {echoed(name)}}}', f"the parameter {name} has no value")
                    )
                    return None
                value = params[name]
                return list(value) if isinstance(value, tuple) else value
            case dict():
                return {key: fill(value) for key, value in cast("Mapping[str, object]", part).items()}
            case list():
                return [fill(value) for value in cast("Sequence[object]", part)]
            case _:
                return part

    plan = fill(tree)
    return plan, [*problems, *unused(params, used)]


def date(value: object) -> object:
    """The text of a year given as a number. Any other value is returned unchanged."""
    return f"{value:04}" if isinstance(value, int) and not isinstance(value, bool) else value
