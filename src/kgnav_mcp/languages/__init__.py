"""Parsers for the three languages of plans, one module each. Nothing here depends on a store."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import cast

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.json_patterns import SUBCLASSES
from kgnav_mcp.languages.parameters import Params, filled
from kgnav_mcp.plan import Column, Plan, PlanProblem, Scalar, Variable
from kgnav_mcp.plan.walking import members_in, rewritten


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """A parsed plan, with what is needed to correct it in the language in which it was written."""

    plan: Plan
    source_json: object = None
    """The input, if it was JSON; None for Cypher."""
    single_node_variables: frozenset[str] = frozenset()
    """Variables whose name must identify a single node: a name shared by several nodes is an error there."""


def parse_plan(source: object, cache: Path | None = None, params: Params | None = None) -> ParsedPlan:
    """Parse a plan from Cypher or GQL (a text), a pattern (an object) or steps (a list). JSON may be a text, too.

    Steps may also be an object: `{"steps": [...], "return": [...]}`, whose other keys are the last step.

    `cache` is a folder in which the parser of Cypher keeps its tables for later processes. `params` are the values of
    the plan's parameters, `$name` in Cypher and `{"param": "name"}` in JSON.

    Raises:
        InvalidPlan: the plan cannot be parsed. The error lists every problem.
    """
    if isinstance(source, str) and source.lstrip().startswith(("{", "[")):
        try:
            source = json.loads(source)
        except JSONDecodeError as error:
            raise _json_error(error) from error
        except RecursionError as error:
            raise InvalidPlan([PlanProblem("the plan", "the JSON is nested too deeply")], next_step=_JSON) from error
    if not isinstance(source, str):
        source, problems = filled(source, params or {})
        if problems:
            raise InvalidPlan(problems, next_step='Give each parameter once: params={"name": "value"}.')
    source = _as_list(source)
    match source:
        case str() if source.strip():
            from kgnav_mcp.languages.cypher import parse_cypher  # noqa: PLC0415 - the parser takes time to import

            return ParsedPlan(parse_cypher(source, cache, tuple((params or {}).items())))
        case dict() if source:
            from kgnav_mcp.languages.json_patterns import parse_pattern  # noqa: PLC0415

            return ParsedPlan(parse_pattern(cast("object", source)), cast("object", source))
        case list() if source:
            from kgnav_mcp.languages.json_steps import parse_steps  # noqa: PLC0415

            plan, one_node = parse_steps(cast("Sequence[object]", source))
            return ParsedPlan(plan, cast("object", source), one_node)
        case _:
            raise InvalidPlan(
                [PlanProblem("the plan", "the plan is empty, or not a text, an object or a list")],
                next_step='Write Cypher: "MATCH (a)-[:relation]->(b) RETURN b". describe_graph() lists all names.',
            )


def _as_list(source: object) -> object:
    """Steps that are given as an object, as a list."""
    if not isinstance(source, dict):
        return source
    parts = dict(cast("Mapping[str, object]", source))
    steps = parts.pop("steps", None)
    if not isinstance(steps, list):
        return cast("object", source)
    return [*cast("list[object]", steps), *([parts] if parts else [])]


_JSON = "Correct the JSON, or pass the plan as an object instead of a text."
_EXCERPT = 20
"""Characters shown before and after the place of an error in JSON."""


def _json_error(error: JSONDecodeError) -> InvalidPlan:
    """The error for a text that begins like JSON but is not valid, with the place."""
    excerpt = error.doc[max(error.pos - _EXCERPT, 0) : error.pos + _EXCERPT]
    reason = f"{error.msg[:1].lower()}{error.msg[1:]}, near {echoed(excerpt)}"
    return InvalidPlan([PlanProblem(f"JSON, line {error.lineno}, column {error.colno}", reason)], next_step=_JSON)


def corrected_json(written: ParsedPlan, corrected: Plan) -> str | None:
    """The JSON of the written plan with corrected names. Parsing it gives `corrected`.

    None if more than names and values differ.
    """
    changes = {_key(old): new for old, new in _changes(written.plan, corrected)}
    if None in changes.values():
        return None
    source = _changed(written.source_json, changes)
    try:
        reparsed = parse_plan(source).plan
    except InvalidPlan:
        return None  # one name has two corrections
    return json.dumps(source, ensure_ascii=False) if reparsed == _with_renamed_columns(corrected, changes) else None


_Changes = dict[tuple[type, Scalar], Scalar]


def _key(value: Scalar) -> tuple[type, Scalar]:
    return type(value), value


def _changes(old: object, new: object) -> Iterator[tuple[Scalar, Scalar]]:
    """Pairs of a name or value and its correction. A pair with None means that the plans differ in structure."""
    if isinstance(old, str | int | float) and isinstance(new, str | int | float):
        if _key(old) != _key(new):
            yield old, new
        return
    old_members, new_members = [*members_in(old)], [*members_in(new)]
    if type(old) is not type(new) or len(old_members) != len(new_members):
        yield "", None
        return
    for pair in zip(old_members, new_members, strict=True):
        yield from _changes(*pair)


def _changed(part: object, changes: _Changes) -> object:
    match part:
        case dict():
            pairs = cast("dict[str, object]", part).items()
            return {str(_renamed(key, changes)): _changed(value, changes) for key, value in pairs}
        case list():
            return [_changed(member, changes) for member in cast("list[object]", part)]
        case str() | int() | float():
            return _renamed(part, changes)
        case _:
            return part


def _renamed(word: Scalar, changes: _Changes) -> Scalar:
    """A corrected name or value. It may also be a label with `*`, or a property after the dot of a returned value."""
    if _key(word) in changes or not isinstance(word, str):
        return changes.get(_key(word), word)
    label = changes.get(_key(word.removesuffix(SUBCLASSES)))
    if label is not None:
        return f"{label}{SUBCLASSES}"
    owner, dot, rest = word.partition(".")
    name, bracket, end = re.split(r"(\)?)$", rest, maxsplit=1) if dot else ("", "", "")
    return f"{owner}.{changes.get(_key(name), name)}{bracket}{end}" if dot else word


def _with_renamed_columns(plan: Plan, changes: _Changes) -> Plan:
    """The plan with columns renamed as their values are corrected."""

    def change(part: object) -> object | None:
        match part:
            case Column(name, value):
                return Column(str(_renamed(name, changes)), rewritten(value, change))
            case Variable(name) if "." in name:
                return Variable(str(_renamed(name, changes)))
            case _:
                return None

    return rewritten(plan, change, patterns=True)
