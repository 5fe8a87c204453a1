"""Plans in JSON mended as they were written, where only names and values in them were wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.plan import Column, Plan, Scalar, Variable
from kgnav_mcp.plan.walking import members, rewritten
from kgnav_mcp.spelling import WrittenPlan, read_plan
from kgnav_mcp.spelling.patterns import SUBCLASSES


def mended_json(written: WrittenPlan, mended: Plan) -> str | None:
    """The JSON of a plan with its names mended: read again it is `mended`. None where other than names has changed."""
    changes = {_key(old): new for old, new in _changes(written.plan, mended)}
    if None in changes.values():
        return None
    given = _changed(written.given, changes)
    try:
        read = read_plan(given).plan
    except InvalidPlan:
        return None  # a name that stands for two things
    return json.dumps(given, ensure_ascii=False) if read == _with_its_names(mended, changes) else None


_Changes = dict[tuple[type, Scalar], Scalar]


def _key(value: Scalar) -> tuple[type, Scalar]:
    return type(value), value


def _changes(part: object, other: object) -> Iterator[tuple[Scalar, Scalar]]:
    """The names and values that differ between two plans; one that became null where their forms do."""
    if isinstance(part, str | int | float) and isinstance(other, str | int | float):
        if _key(part) != _key(other):
            yield part, other
        return
    mine, others = [*members(part)], [*members(other)]
    if type(part) is not type(other) or len(mine) != len(others):
        yield "", None
        return
    for each in zip(mine, others, strict=True):
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
    """A name, or a value; a label with its subclasses; a name behind the dot of what is returned."""
    if _key(word) in changes or not isinstance(word, str):
        return changes.get(_key(word), word)
    label = changes.get(_key(word.removesuffix(SUBCLASSES)))
    if label is not None:
        return f"{label}{SUBCLASSES}"
    owner, dot, rest = word.partition(".")
    name, bracket, end = re.split(r"(\)?)$", rest, maxsplit=1) if dot else ("", "", "")
    return f"{owner}.{changes.get(_key(name), name)}{bracket}{end}" if dot else word


def _with_its_names(plan: Plan, changes: _Changes) -> Plan:
    """A plan whose columns are called as they are once what they return is mended."""

    def change(part: object) -> object | None:
        match part:
            case Column(name, value):
                return Column(str(_renamed(name, changes)), rewritten(value, change))
            case Variable(name) if "." in name:
                return Variable(str(_renamed(name, changes)))
            case _:
                return None

    return rewritten(plan, change, patterns=True)
