"""Calls of tools as answers and errors write them: a reader copies them whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from kgnav_mcp.model import Entity, Relation
from kgnav_mcp.render.text import ID_LIMIT, identifier, quoted


def call_text(tool: str, arguments: Mapping[str, object]) -> str:
    """A call such as `search(entity="ada", direction="outgoing")`; empty where an argument is too long to be copied.

    Entities and relations stand by their ids.
    """
    written = {name: _written(value) for name, value in arguments.items()}
    if any(len(text) > ID_LIMIT for text in written.values()):
        return ""
    return f"{tool}({', '.join(f'{name}={text}' for name, text in written.items())})"


def next_call(tool: str, arguments: Mapping[str, object]) -> str:
    """A call as the step to take next, or nothing where it cannot be copied."""
    call = call_text(tool, arguments)
    return f"Next: {call}" if call else ""


def _written(value: object) -> str:
    match value:
        case Entity(id=text) | Relation(id=text):
            return quoted(identifier(text)) if len(text) <= ID_LIMIT else text
        case str():
            return quoted(value)
        case list() | tuple():
            return f"[{', '.join(map(_written, cast('Sequence[Any]', value)))}]"
        case _:
            return str(value)
