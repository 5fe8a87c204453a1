"""Plans are trees of frozen values: all parts of one, and a copy with some of them changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

P = TypeVar("P")


def parts(tree: object) -> Iterator[object]:
    """A part of a plan and all parts within it, outer ones first, in the order in which they are written."""
    if isinstance(tree, tuple):
        for each in cast("tuple[object, ...]", tree):
            yield from parts(each)
    elif is_dataclass(tree):
        yield tree
        for field in fields(tree):
            yield from parts(getattr(tree, field.name))


async def rewritten(tree: P, change: Callable[[object], Awaitable[object | None]]) -> P:
    """A copy in which each part is what `change` makes of it; where that is None, the parts within it are asked."""
    if isinstance(tree, tuple):
        return cast("P", tuple([await rewritten(each, change) for each in cast("tuple[object, ...]", tree)]))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed = await change(tree)
    if changed is not None:
        return cast("P", changed)
    inner: dict[str, Any] = {field.name: getattr(tree, field.name) for field in fields(tree)}
    new = {name: await rewritten(value, change) for name, value in inner.items()}
    return cast("P", replace(tree, **new))
