"""Errors as a model reads them: what failed, what is near, and the next call to make."""

from __future__ import annotations

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
from kgnav_mcp.render.text import clean, named


def problem(error: KgnavError, example: str = "") -> str:
    """One error in at most four lines. `example` is a call on this very graph that works."""
    lines = [f"{_kind(error)}: {clean(error.message)}."]
    lines += [clean(line) for line in _near(error)]
    if error.next_step:
        lines.append(f"Next: {clean(error.next_step)}")
    if example:
        lines.append(f"A call that works here: {clean(example)}")
    return "\n".join(lines)


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
            return [f"Nearest: {', '.join(nearest)}"]
        case _:
            return []


def _described(entity: Entity) -> str:
    more = ", ".join(part for part in (*entity.types[:2], entity.description or "") if part)
    return f"{named(entity)}, {more}" if more else named(entity)
