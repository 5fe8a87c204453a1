"""Errors as a model reads them: what failed, what is near, and the next call to make."""

from __future__ import annotations

from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import (
    AmbiguousEntity,
    ConfigurationError,
    InvalidStore,
    KgnavError,
    RateLimited,
    StoreTimeout,
    StoreUnavailable,
    UnknownEntity,
    UnknownGraph,
    UnknownName,
    UnknownRelation,
    Unsupported,
)
from kgnav_mcp.model import Entity
from kgnav_mcp.render.text import NAME_LIMIT, clean, joined, name_and_id


def error_text(error: KgnavError) -> str:
    """An error in at most three lines: what failed, what is near, what to do next."""
    lines = [f"{_kind(error)}: {error.message}.", *_near(error)]
    if error.next_step:
        lines.append(f"Next: {error.next_step}")
    return "\n".join(clean(clipped(line, _LINE)) for line in lines)


def with_example(text: str, call: str) -> str:
    """The text of an error with a call that works instead of the failed one; without one the text alone."""
    return f"{text}\nA call that works here: {call}" if call else text


_NAME = 300
"""Characters of the longest name or id of a label or relation that is offered in place of an unknown one."""

_LINE = 3_000
"""Characters of the longest line of an error; what a caller wrote is clipped where it is repeated."""


_KINDS: tuple[tuple[type[KgnavError] | tuple[type[KgnavError], ...], str], ...] = (
    ((UnknownEntity, UnknownRelation, UnknownName, UnknownGraph), "Not found"),
    (AmbiguousEntity, "Ambiguous"),
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
        case UnknownRelation(nearest=nearest) | UnknownName(nearest=nearest) if nearest:
            return [f"Nearest: {', '.join(clipped(name, _NAME) for name in nearest)}"]
        case _:
            return []


def _described(entity: Entity) -> str:
    about = (joined(entity.types[:2], NAME_LIMIT), clipped(entity.description or "", NAME_LIMIT))
    more = ", ".join(filter(None, about))
    return f"{name_and_id(entity)}, {more}" if more else name_and_id(entity)
