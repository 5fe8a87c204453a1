"""Collects the problems of a plan and their corrections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.plan import Column, Connective, Constant, Exists, Joined, Not, Plan, PlanProblem, Property, Variable
from kgnav_mcp.plan.walking import parts, rewritten

_MIN_SIMILARITY = 75
"""Minimum similarity, out of 100, of an alternative that replaces a misspelt name."""
_PREFIX = re.compile(r".*[:/.#]")
_MIN_LEAD = 8
"""How much more similar it must be than the next alternative."""
_NOTED = 5
"""Unknown names of one list that have notes of their own."""
Unknown = tuple[PlanProblem, Constant]
"""The problem of an unknown name or id, and the constant as it was written."""


@dataclass(slots=True)
class PlanProblems:
    """The problems of a plan, and corrections of parts that have only one."""

    entries: list[PlanProblem] = field(default_factory=list[PlanProblem])
    notes: list[str] = field(default_factory=list[str])
    several: dict[Property, None] = field(default_factory=dict[Property, None])
    """The properties, as written, that have several values in a place where the rule for those applies."""
    _corrected: dict[int, tuple[object, object]] = field(default_factory=dict[int, tuple[object, object]])
    _uncorrectable: set[int] = field(default_factory=set[int])
    """The identities of parts that have no single correction."""
    _absent: dict[int, tuple[object, Sequence[Unknown]]] = field(
        default_factory=dict[int, tuple[object, Sequence[Unknown]]]
    )
    """By identity, the conditions that hold for no node, with the unknown names that they compare with."""

    def add(self, place: str, reason: str, alternatives: Sequence[str] = ()) -> PlanProblem:
        """Record a problem. The caller then calls `correct` with its correction, or with None."""
        problem = PlanProblem(place, reason, tuple(alternatives))
        self.entries.append(problem)
        return problem

    def correct(self, part: object, corrected: object | None) -> None:
        """Record the correction of a part; None if there is no single one. Parts are compared by object identity."""
        if corrected is None:
            self._uncorrectable.add(id(part))
        else:
            self._corrected[id(part)] = (part, corrected)

    def absent(self, condition: object, unknown: Sequence[Unknown]) -> None:
        """Record that a condition holds for no node, as all that it compares with is unknown."""
        self._absent[id(condition)] = condition, unknown

    def note_absent_alternatives(self, conditions: Sequence[object]) -> None:
        """Make notes of the unknown names in conditions that hold for no node, if another of the conditions may hold.

        Each is an alternative with its parts, as it was checked.
        """
        absent = [one for one in conditions if self._is_absent(one)]
        if len(absent) == len(conditions):
            return
        for part in parts(tuple(absent), patterns=True):
            self.note_unknown(self._absent.get(id(part), (part, ()))[1])

    def _is_absent(self, condition: object) -> bool:
        """Whether unknown names alone decide a condition."""
        if id(condition) in self._absent:
            return True
        match condition:
            case Joined(Connective.AND, conditions):
                return any(map(self._is_absent, conditions))
            case Joined(_, conditions):
                return all(map(self._is_absent, conditions))
            case Not(negated):
                return self._is_absent(negated)
            case Exists(match):
                return self._is_absent(match.where)
            case _:
                return False

    def note_unknown(self, unknown: Sequence[Unknown]) -> None:
        """Make notes of unknown names, whose problems the plan does not have: others may be matched in their place."""
        noted = {id(problem) for problem, _ in unknown}
        self.entries = [one for one in self.entries if id(one) not in noted]
        for _, written in unknown:
            self._uncorrectable.discard(id(written))
            self._corrected.pop(id(written), None)
        for problem, _ in unknown[:_NOTED]:
            nearest = f" (nearest: {', '.join(problem.alternatives)})" if problem.alternatives else ""
            note = f"{problem.place}: {problem.reason}{nearest}."
            self.notes += [note] if note not in self.notes else []
        if len(unknown) > _NOTED:
            self.notes.append(f"{len(unknown) - _NOTED:,} more names of the list are unknown.")

    def current(self, part: object) -> object:
        """The part with the corrections so far."""
        return self._corrected.get(id(part), (part, part))[1]

    def corrected(self, plan: Plan) -> Plan | None:
        """The written plan with all corrections; None if a problem has no single correction."""
        if self._uncorrectable or not self._corrected:
            return None

        def change(part: object) -> object | None:
            found = self._corrected.get(id(part))
            return found[1] if found is not None else None

        corrected = rewritten(plan, change, patterns=True)
        return corrected if len(plan.pipelines) > 1 else _with_renamed_columns(plan, corrected)


def _with_renamed_columns(plan: Plan, corrected: Plan) -> Plan:
    """The corrected plan with the columns that have no name but their text renamed to the corrected text."""
    written = [part for part in parts(plan) if isinstance(part, Column)]
    columns = [part for part in parts(corrected) if isinstance(part, Column)]
    if [column.name for column in columns] != [column.name for column in written]:
        return corrected
    texts = {
        old.name: write_part(new.value)
        for old, new in zip(written, columns, strict=True)
        if old.value != new.value and old.name == write_part(old.value)
    }

    def rename(part: object) -> object | None:
        match part:
            case Column(name, value) if name in texts:
                return Column(texts[name], value)
            case Variable(name) if name in texts:
                return Variable(texts[name])
            case _:
                return None

    return rewritten(corrected, rename)


def closest_alternative(name: str, alternatives: Sequence[str]) -> str | None:
    """The only alternative that a misspelt name can mean; None if there is no clear one.

    Alternatives with other digits never count: ids like `P17` and `P19` are similar, but mean different things.
    """
    with_same_digits = [each for each in alternatives if _digits(each) == _digits(name)]
    ranked = sorted(((_similarity(name.casefold(), each.casefold()), each) for each in with_same_digits), reverse=True)
    if not ranked or ranked[0][0] < _MIN_SIMILARITY:
        return None
    return None if len(ranked) > 1 and ranked[1][0] > ranked[0][0] - _MIN_LEAD else ranked[0][1]


def _similarity(name: str, other: str) -> float:
    """The similarity of two names, from 0 to 100, without a common prefix of ids, or one that only the other has."""
    prefix, other_prefix = _PREFIX.match(name), _PREFIX.match(other)
    if prefix is None and other_prefix is not None:
        return fuzz.ratio(name, other[other_prefix.end() :])
    common = len(prefix[0]) if prefix and other.startswith(prefix[0]) else 0
    return fuzz.ratio(name[common:], other[common:])


def _digits(name: str) -> list[str]:
    return [character for character in name if character.isdecimal()]
