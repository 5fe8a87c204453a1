"""Corrects plans in JSON in their original form, if only names and values in them are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages import ParsedPlan, parse_plan
from kgnav_mcp.languages.json_patterns import SUBCLASSES
from kgnav_mcp.plan import Column, Plan, Scalar, Variable
from kgnav_mcp.plan.walking import members_in, rewritten


def corrected_json(written: ParsedPlan, corrected: Plan) -> str | None:
    """The JSON of the written plan with corrected names. Parsing it gives `corrected`.

    None if more than names and values differ.
    """
    changes = {_key(old): new for old, new in _changes(written.plan, corrected)}
    if None in changes.values():
        return None
    given = _changed(written.source_json, changes)
    try:
        read = parse_plan(given).plan
    except InvalidPlan:
        return None  # one name has two corrections
    return json.dumps(given, ensure_ascii=False) if read == _with_renamed_columns(corrected, changes) else None


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
    for each in zip(old_members, new_members, strict=True):
        yield from _changes(*each)


def _changed(given: object, changes: _Changes) -> object:
    match given:
        case dict():
            pairs = cast("dict[str, object]", given).items()
            return {str(_renamed(key, changes)): _changed(value, changes) for key, value in pairs}
        case list():
            return [_changed(each, changes) for each in cast("list[object]", given)]
        case str() | int() | float():
            return _renamed(given, changes)
        case _:
            return given


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
