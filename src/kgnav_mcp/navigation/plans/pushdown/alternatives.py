"""Alternatives that a value equals one of several texts or numbers, as one list.

A store looks up the members of a list, but tests alternatives on each node.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.plan import Compare, Comparison, Connective, Constant, Expression, Joined, ListOf, Plan
from kgnav_mcp.plan.walking import rewritten

_Kind = tuple[Expression, type]
"""A value and the kind of the constants that it equals one of: `str`, or `float` for numbers."""


def with_lists(plan: Plan) -> Plan:
    """The same question with lists: `n.v = 1 OR n.v = 2` is `n.v IN [1, 2]`."""
    return rewritten(plan, _with_lists, patterns=True)


def _with_lists(part: object) -> Expression | None:
    match part:
        case Joined(Connective.OR, parts):
            merged = _merged([rewritten(each, _with_lists, patterns=True) for each in parts])
            return merged[0] if len(merged) == 1 else Joined(Connective.OR, tuple(merged))
        case _:
            return None


def _merged(alternatives: Sequence[Expression]) -> list[Expression]:
    """The alternatives with a list in place of all that the same value equals constants of one kind."""
    merged: list[Expression] = []
    lists: dict[_Kind, tuple[int, dict[Constant, None]]] = {}
    for each in alternatives:
        equals = _equals(each)
        if equals is None:
            merged.append(each)
            continue
        kind, constants = equals
        if kind in lists:
            place, members = lists[kind]
            members.update(dict.fromkeys(constants))
            merged[place] = Compare(kind[0], Comparison.IN, ListOf(tuple(members)))
        else:
            lists[kind] = len(merged), dict.fromkeys(constants)
            merged.append(each)
    return merged


def _equals(condition: Expression) -> tuple[_Kind, Sequence[Constant]] | None:
    """The value and the constants of a condition that it equals one of them; None for any other condition."""
    match condition:
        case Compare(left, Comparison.EQUAL, Constant() as constant):
            constants = [constant]
        case Compare(left, Comparison.IN, ListOf(items)):
            constants = [item for item in items if isinstance(item, Constant)]
            if len(constants) < len(items):
                return None
        case _:
            return None
    kinds = {type(constant.value) for constant in constants}
    if kinds <= {str}:
        return (left, str), constants
    return ((left, float), constants) if kinds <= {int, float} else None
