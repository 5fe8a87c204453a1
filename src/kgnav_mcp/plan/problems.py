"""What is wrong with a plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One thing that keeps a plan from running: where it stands, why it cannot be, and what could stand there.

    `place` is the part as its writer spelt it: a clause with line and column, the key of a pattern, or a step.
    `alternatives` are nearest first, each as it could be written in that place.
    """

    place: str
    reason: str
    alternatives: tuple[str, ...] = ()
