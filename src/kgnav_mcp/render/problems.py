"""Error messages for a model: what failed, the nearest valid names, and the next call to make."""

from __future__ import annotations

from kgnav_mcp.clipping import clipped, comma_list, echoed
from kgnav_mcp.errors import (
    AmbiguousEntity,
    AnswerTooLarge,
    ConfigurationError,
    InvalidPlan,
    InvalidStep,
    InvalidStore,
    KgnavError,
    PlanOverBudget,
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
from kgnav_mcp.render.text import NAME_LIMIT, clean, edge_text, name_and_id


def error_text(error: KgnavError) -> str:
    """An error in three lines: what failed, the nearest matches (one line per entity), what to do next."""
    if isinstance(error, InvalidPlan):
        return invalid_plan_text(error)
    lines = [f"{_kind(error)}: {error.message}.", *_nearest_lines(error)]
    if error.next_step:
        lines.append(f"Next: {error.next_step}")
    return "\n".join(clean(clipped(line, _LINE)) for line in lines)


def invalid_plan_text(error: InvalidPlan) -> str:
    """Every problem of a plan on its own line with the valid alternatives, then the corrected plan."""
    many = len(error.problems) > 1
    lines = [f"Invalid plan: {len(error.problems):,} problems." if many else "Invalid plan:"]
    for problem in error.problems[:_PROBLEMS]:
        alternatives = ", ".join(clipped(alternative, _NAME) for alternative in problem.alternatives)
        lines.append(f"- {problem.place}: {problem.reason}" + (f" (possible: {alternatives})" if alternatives else ""))
    if len(error.problems) > _PROBLEMS:
        lines.append(f"- and {len(error.problems) - _PROBLEMS:,} more")
    if error.corrected is not None:
        lines.append(f"Corrected plan{', in Cypher' if error.in_cypher else ''}: {error.corrected}")
    if error.next_step:
        lines.append(f"Next: {error.next_step}")
    return "\n".join(clean(clipped(line, _LINE)) for line in lines)


def with_example(text: str, call: str) -> str:
    """The text of an error with an example call that works; the text alone if `call` is empty."""
    return f"{text}\nA call that works here: {call}" if call else text


_NAME = 300
"""Maximum characters of a label's or relation's name that is suggested for an unknown one."""

_PROBLEMS = 20
"""Maximum problems of one plan that are listed."""

_CHOICES = 120
"""Maximum characters of the suggestions for one of several entities."""

_LINE = 3_000
"""Maximum characters of a line of an error. Quoted input of the caller is clipped before that."""


_KINDS: tuple[tuple[type[KgnavError] | tuple[type[KgnavError], ...], str], ...] = (
    ((UnknownEntity, UnresolvedEntities, UnknownRelation, UnknownName, UnknownGraph, UnknownTrail), "Not found"),
    (AmbiguousEntity, "Ambiguous"),
    ((PlanTooLarge, PlanOverBudget, AnswerTooLarge), "Too large"),
    (StoreTimeout, "Timed out"),
    (StoreUnavailable, "Store down"),
    (InvalidStore, "Store unusable"),
    (RateLimited, "Rate limited"),
    (Unsupported, "Not supported by this store"),
    (ConfigurationError, "Not set up"),
    (KgnavError, "Invalid call"),
)
"""The first words of an error message. The first matching class counts."""


def _kind(error: KgnavError) -> str:
    return next(words for kinds, words in _KINDS if isinstance(error, kinds))


def _nearest_lines(error: KgnavError) -> list[str]:
    match error:
        case UnknownEntity(nearest=nearest) if nearest:
            return [f"Nearest: {'; '.join(map(_described, nearest))}"]
        case AmbiguousEntity(candidates=candidates):
            return [f"They are: {'; '.join(map(_described, candidates))}"]
        case InvalidStep(instead=instead) if instead:
            return [f"It has: {'; '.join(map(edge_text, instead))}"]
        case UnresolvedEntities(problems=problems):
            return [_entity_problem(problem) for problem in problems]
        case UnknownRelation(nearest=nearest) | UnknownName(nearest=nearest) if nearest:
            return [f"Nearest: {', '.join(clipped(name, _NAME) for name in nearest)}"]
        case _:
            return []


def _entity_problem(problem: UnknownEntity | AmbiguousEntity) -> str:
    suggestions = problem.nearest if isinstance(problem, UnknownEntity) else problem.candidates
    names = comma_list([*map(name_and_id, suggestions)], _CHOICES)
    if isinstance(problem, UnknownEntity):
        return f"{echoed(problem.reference)} is unknown" + (f"; nearest: {names}" if names else "")
    return f"{echoed(problem.reference)} may be {names}"


def _described(entity: Entity) -> str:
    about = (comma_list(entity.types[:2], NAME_LIMIT), clipped(entity.description or "", NAME_LIMIT))
    more = ", ".join(filter(None, about))
    return f"{name_and_id(entity)}, {more}" if more else name_and_id(entity)
