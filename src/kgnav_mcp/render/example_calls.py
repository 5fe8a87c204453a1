"""Example calls of tools in answers and errors, written so that a reader can copy them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from kgnav_mcp.clipping import ECHO
from kgnav_mcp.model import Entity, Relation
from kgnav_mcp.render.text import is_printable, printable_id, quoted


def call_text(tool: str, arguments: Mapping[str, object]) -> str:
    """A call such as `search(entity="ada", direction="outgoing")`. Empty if an argument is too long to repeat.

    An entity or a relation is written as its id.
    """
    if any(_too_long(value) for value in arguments.values()):
        return ""
    written = {name: _argument_text(value) for name, value in arguments.items()}
    return f"{tool}({', '.join(f'{name}={text}' for name, text in written.items())})"


def next_call(tool: str, arguments: Mapping[str, object]) -> str:
    """`Next: ` and the call. Empty if an argument is too long to repeat."""
    call = call_text(tool, arguments)
    return f"Next: {call}" if call else ""


def next_call_for(tool: str, entities: Sequence[Entity], arguments: Mapping[str, object]) -> str:
    """`next_call` for a tool that takes one entity or a list. A list is not repeated but called "the same entities"."""
    if len(entities) == 1:
        return next_call(tool, {"entity": entities[0], **arguments})
    if any(map(_too_long, arguments.values())):
        return ""
    others = ", ".join(f"{name}={_argument_text(value)}" for name, value in arguments.items())
    return f"Next: {tool} with the same entities, {others}"


def _too_long(value: object) -> bool:
    match value:
        case Entity(id=text) | Relation(id=text):
            return not is_printable(text)
        case str():
            return len(value) > ECHO
        case list() | tuple():
            return any(map(_too_long, cast("Sequence[object]", value)))
        case dict():
            return any(map(_too_long, cast("Mapping[str, object]", value).values()))
        case _:
            return False


def _argument_text(value: object) -> str:
    match value:
        case Entity(id=text) | Relation(id=text):
            return quoted(printable_id(text))
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_argument_text, cast('Sequence[Any]', value)))}]"
        case dict():
            parts = cast("Mapping[str, object]", value).items()
            return f"{{{', '.join(f'{quoted(name)}: {_argument_text(part)}' for name, part in parts)}}}"
        case _:
            return str(value)
