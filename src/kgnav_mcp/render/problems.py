"""Errors as a model reads them: what failed, what is near, and the next call to make."""

from __future__ import annotations

from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.errors import (
    AmbiguousEntity,
    ConfigurationError,
    InvalidPlan,
    InvalidStep,
    InvalidStore,
    KgnavError,
    PlanTooLarge,
    RateLimited,
    StoreTimeout,
    StoreUnavailable,
    UnknownEntity,
    UnknownGraph,
    UnknownName,
    UnknownRelation,
    UnknownTrail,
    UnresolvedEntities,
    Unsupported,
)
from kgnav_mcp.model import Entity
from kgnav_mcp.render.text import NAME_LIMIT, clean, edge_text, joined, name_and_id


def error_text(error: KgnavError) -> str:
    """An error in three lines: what failed, what is near (a line for each of several entities), what to do next."""
    if isinstance(error, InvalidPlan):
        return invalid_plan_text(error)
    lines = [f"{_kind(error)}: {error.message}.", *_near(error)]
    if error.next_step:
        lines.append(f"Next: {error.next_step}")
    return "\n".join(clean(clipped(line, _LINE)) for line in lines)


def invalid_plan_text(error: InvalidPlan) -> str:
    """Every problem of a plan on a line of its own, with what could stand there, and the plan mended."""
    many = len(error.problems) > 1
    lines = [f"Invalid plan: {len(error.problems):,} problems." if many else "Invalid plan:"]
    for problem in error.problems[:_PROBLEMS]:
        instead = ", ".join(clipped(each, _NAME) for each in problem.alternatives)
        lines.append(f"- {problem.place}: {problem.reason}" + (f" (possible: {instead})" if instead else ""))
    if len(error.problems) > _PROBLEMS:
        lines.append(f"- and {len(error.problems) - _PROBLEMS:,} more")
    if error.mended is not None:
        lines.append(f"Mended, {'in Cypher, ' if error.in_cypher else ''}it would run: {error.mended}")
    if error.next_step:
        lines.append(f"Next: {error.next_step}")
    return "\n".join(clean(clipped(line, _LINE)) for line in lines)


def with_example(text: str, call: str) -> str:
    """The text of an error with a call that works instead of the failed one; without one the text alone."""
    return f"{text}\nA call that works here: {call}" if call else text


_NAME = 300
"""Characters of the longest name or id of a label or relation that is offered in place of an unknown one."""

_PROBLEMS = 20
"""Problems of one plan that are told."""

_CHOICES = 120
"""Characters of what one of several entities may be."""

_LINE = 3_000
"""Characters of the longest line of an error; what a caller wrote is clipped where it is repeated."""


_KINDS: tuple[tuple[type[KgnavError] | tuple[type[KgnavError], ...], str], ...] = (
    ((UnknownEntity, UnresolvedEntities, UnknownRelation, UnknownName, UnknownGraph, UnknownTrail), "Not found"),
    (AmbiguousEntity, "Ambiguous"),
    (PlanTooLarge, "Too large"),
    (StoreTimeout, "Timed out"),
    (StoreUnavailable, "Store down"),
    (InvalidStore, "Store unusable"),
    (RateLimited, "Rate limited"),
    (Unsupported, "Not supported by this store"),
    (ConfigurationError, "Not set up"),
    (KgnavError, "Invalid call"),
)
"""The first words of an error: the first kind that fits."""


def _kind(error: KgnavError) -> str:
    return next(words for kinds, words in _KINDS if isinstance(error, kinds))


def _near(error: KgnavError) -> list[str]:
    match error:
        case UnknownEntity(nearest=nearest) if nearest:
            return [f"Nearest: {'; '.join(map(_described, nearest))}"]
        case AmbiguousEntity(candidates=candidates):
            return [f"They are: {'; '.join(map(_described, candidates))}"]
        case InvalidStep(instead=instead) if instead:
            return [f"It has: {'; '.join(map(edge_text, instead))}"]
        case UnresolvedEntities(problems=problems):
            return [_in_a_line(problem) for problem in problems]
        case UnknownRelation(nearest=nearest) | UnknownName(nearest=nearest) if nearest:
            return [f"Nearest: {', '.join(clipped(name, _NAME) for name in nearest)}"]
        case _:
            return []


def _in_a_line(problem: UnknownEntity | AmbiguousEntity) -> str:
    meant = problem.nearest if isinstance(problem, UnknownEntity) else problem.candidates
    names = joined([*map(name_and_id, meant)], _CHOICES)
    if isinstance(problem, UnknownEntity):
        return f"{echoed(problem.reference)} is unknown" + (f"; nearest: {names}" if names else "")
    return f"{echoed(problem.reference)} may be {names}"


def _described(entity: Entity) -> str:
    about = (joined(entity.types[:2], NAME_LIMIT), clipped(entity.description or "", NAME_LIMIT))
    more = ", ".join(filter(None, about))
    return f"{name_and_id(entity)}, {more}" if more else name_and_id(entity)
