"""Problems of a plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One reason why a plan cannot run: its place, an explanation, and alternatives.

    `place` is the part as the user wrote it: a clause with line and column, the key of a pattern, or a step.
    `alternatives` are valid texts for that place, nearest first.
    """

    place: str
    reason: str
    alternatives: tuple[str, ...] = ()
