"""The problems of a plan as they are found, and what would mend each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from kgnav_mcp.plan import Plan, PlanProblem
from kgnav_mcp.plan.walking import rewritten

_LIKE = 75
"""Of 100: how like a word must be to be the one that was meant."""
_PREFIX = re.compile(r".*[:/.#]")
_AHEAD = 8
"""How much more like it must be than the next."""


@dataclass(slots=True)
class Findings:
    """What is wrong with a plan, and its parts that can be mended in one way only."""

    problems: list[PlanProblem] = field(default_factory=list[PlanProblem])
    notes: list[str] = field(default_factory=list[str])
    _mended: dict[int, tuple[object, object]] = field(default_factory=dict[int, tuple[object, object]])
    _unmended: bool = False

    def problem(self, place: str, reason: str, alternatives: Sequence[str] = ()) -> None:
        """Something is wrong, and `mend` is told next where one way to mend it is sure."""
        problem = PlanProblem(place, reason, tuple(alternatives))
        if problem not in self.problems:
            self.problems.append(problem)

    def mend(self, part: object, mended: object | None) -> None:
        """What a part should be; None: there is no single way. Parts are told apart as objects."""
        if mended is None:
            self._unmended = True
        else:
            self._mended[id(part)] = (part, mended)

    def current(self, part: object) -> object:
        """The part as it was mended so far."""
        return self._mended.get(id(part), (part, part))[1]

    def mended(self, plan: Plan) -> Plan | None:
        """The plan as it was written with everything mended; None where something cannot be."""
        if self._unmended or not self._mended:
            return None

        def change(part: object) -> object | None:
            found = self._mended.get(id(part))
            return found[1] if found is not None else None

        return rewritten(plan, change, patterns=True)


def meant(name: str, alternatives: Sequence[str]) -> str | None:
    """The one alternative that a misspelt name can only mean; None where it is not sure.

    A name with another number is never meant: of ids like `P17` and `P19` nobody can tell.
    """
    same = [each for each in alternatives if _digits(each) == _digits(name)]
    likeness = sorted(((_likeness(name.casefold(), each.casefold()), each) for each in same), reverse=True)
    if not likeness or likeness[0][0] < _LIKE:
        return None
    return None if len(likeness) > 1 and likeness[1][0] > likeness[0][0] - _AHEAD else likeness[0][1]


def _likeness(name: str, other: str) -> float:
    """How like two names are, 100 at most, without the prefix of ids that both have."""
    prefix = _PREFIX.match(name)
    own = len(prefix[0]) if prefix and other.startswith(prefix[0]) else 0
    return fuzz.ratio(name[own:], other[own:])


def _digits(name: str) -> list[str]:
    return [character for character in name if character.isdecimal()]
