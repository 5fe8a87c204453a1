"""Example calls in errors: the failed call, corrected with the nearest valid values.

Every example is run before it is shown, so that none fails or returns an empty answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

from pydantic import ValidationError
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from kgnav_mcp.errors import (
    AmbiguousEntity,
    InvalidCursor,
    InvalidRequest,
    KgnavError,
    UnknownEntity,
    UnknownName,
    UnknownRelation,
    UnresolvedEntities,
)
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import call_text, clean, printable_id
from kgnav_mcp.server.arguments import Json, nearest_argument

_TRIES = 8
_SECONDS = 1.0
"""Time limit in seconds for all tries together."""

_LISTED = 5
"""Maximum elements of a list of texts in an example."""

_PLACEHOLDER = "?"
"""Placeholder in an empty list. No relation has this name, so the error for it lists any relations as the nearest."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool's name, the JSON schema of its arguments, and the names of those that are ids."""

    tool: str
    schema: Json
    ids: frozenset[str]


async def working_call(
    signature: Signature, arguments: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    """The text of the first corrected call whose answer has rows; empty if there is none.

    `arguments` has the normalized arguments of the failed call, `call` runs a corrected one.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            return await _first_working_call(signature, arguments, error, call)
    except (TimeoutError, KgnavError):
        return ""  # The failed call itself reports what is wrong with the store.


async def _first_working_call(
    signature: Signature, arguments: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    waiting = deque(_corrections(signature, arguments, error))
    tried: set[str] = set()
    while waiting and len(tried) < _TRIES:
        corrected = _as_printed(signature, waiting.popleft())
        text = call_text(signature.tool, corrected)
        if not text or text in tried:
            continue
        tried.add(text)
        try:
            answer = await call(corrected)
        except (InvalidRequest, ValidationError) as again:
            waiting.extendleft(reversed([*_corrections(signature, corrected, again)]))
            continue
        if answer.facts["rows"]:
            return text
        waiting.extendleft(reversed([*_opposite_direction(corrected)]))
    return ""


def _as_printed(signature: Signature, arguments: Json) -> Json:
    """The arguments in schema order and printable form, without the cursor, which belongs to another call.

    In ids, invisible characters are percent-encoded.
    """

    def printed(name: str, value: object) -> object:
        if isinstance(value, list):
            return [printed(name, element) for element in cast("list[object]", value)]
        if not isinstance(value, str):
            return value
        return printable_id(value) if name in signature.ids else clean(value)

    named: Json = signature.schema.get("properties", {})
    return {name: printed(name, arguments[name]) for name in named if name in arguments and name != "cursor"}


def _corrections(signature: Signature, arguments: Json, error: Exception) -> Iterator[Json]:
    """Corrected arguments of a failed call, likeliest first."""
    match error:
        case UnknownEntity() | AmbiguousEntity():
            for near in _alternatives(error)[:3]:
                yield _replaced(arguments, signature.ids, {error.reference: near.id})
        case UnresolvedEntities(problems=problems):
            nearest = {problem.reference: _alternatives(problem) for problem in problems}
            yield _replaced(
                arguments, signature.ids, {wrong: near[0].id if near else None for wrong, near in nearest.items()}
            )
        case UnknownRelation():
            yield from _relation_corrections(signature.ids, arguments, error)
        case UnknownName(name=name, nearest=nearest):
            wrong = [argument for argument, value in arguments.items() if _holds(value, name)]
            yield from (_replaced(arguments, [argument], {name: near}) for argument in wrong for near in nearest[:4])
        case InvalidCursor():
            yield arguments
        case ValidationError():
            yield from _schema_corrections(signature.schema, arguments, error)
        case _:
            return


def _alternatives(problem: UnknownEntity | AmbiguousEntity) -> Sequence[Entity]:
    return problem.nearest if isinstance(problem, UnknownEntity) else problem.candidates


def _replaced(arguments: Json, names: Collection[str], corrections: Mapping[str, str | None]) -> Json:
    """The arguments with wrong texts in those with these names replaced, wherever they stand; None removes one."""
    return {name: _corrected(value, corrections) if name in names else value for name, value in arguments.items()}


def _corrected(value: object, corrections: Mapping[str, str | None]) -> object:
    """A value with its wrong texts replaced. Of a long list of texts a few stay, corrected ones first."""
    corrected = _within(value, corrections)
    if not _is_text_list(value):
        return corrected
    texts = [*dict.fromkeys(text for text in cast("list[str | None]", corrected) if text is not None)]
    return sorted(texts, key=lambda text: text not in corrections.values())[:_LISTED] if len(texts) > _LISTED else texts


def _within(value: object, corrections: Mapping[str, str | None]) -> object:
    """A text replaced if it is wrong; a list, such as a pair or a triple, with its wrong texts replaced."""
    if isinstance(value, list):
        return [_within(part, corrections) for part in cast("list[object]", value)]
    return corrections.get(value.strip(), value) if isinstance(value, str) else value


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in cast("list[object]", value))


def _holds(value: object, text: str) -> bool:
    """Whether a value is this text, or a list with it at any depth."""
    if isinstance(value, list):
        return any(_holds(part, text) for part in cast("list[object]", value))
    return isinstance(value, str) and value.strip() == text.strip()


def _opposite_direction(arguments: Json) -> Iterator[Json]:
    """The arguments with the opposite direction, if they have one."""
    if (direction := arguments.get("direction")) in list(Direction):
        yield {**arguments, "direction": str(Direction(direction).opposite)}


def _relation_corrections(ids: Collection[str], arguments: Json, error: UnknownRelation) -> Iterator[Json]:
    """The arguments with the relation replaced, in the opposite direction, or without it."""
    wrong = [name for name in arguments if name in ids and _holds(arguments[name], error.relation)]
    others = [name for name in arguments if name in ids and name not in wrong]
    if len(error.entities) > 1 and len(others) == 1:  # of several, it is not known which has the entities
        arguments = {**arguments, others[0]: [entity.id for entity in error.entities[:_LISTED]]}
    if error.opposite:
        alone = {name: [error.relation] if _is_text_list(arguments[name]) else arguments[name] for name in wrong}
        yield from ({**turned, **alone} for turned in _opposite_direction(arguments))
    yield from (_replaced(arguments, wrong, {error.relation.strip(): near}) for near in error.nearest[:2])
    yield {name: value for name, value in arguments.items() if name not in wrong}


def _schema_corrections(schema: Json, arguments: Json, error: ValidationError) -> Iterator[Json]:
    """The arguments with all validation errors corrected; none if the schema does not tell how."""
    properties: dict[str, Json] = schema.get("properties", {})
    corrected = dict(arguments)
    choices: dict[str, list[object]] = {}
    for finding in error.errors(include_url=False, include_input=False):
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            value, nearest = corrected.pop(name, None), nearest_argument(name, properties)
            if nearest and nearest not in arguments:
                corrected[nearest] = value
            continue
        corrected.pop(name, None)
        if name in schema.get("required", ()) or name in arguments:
            choices[name] = _choices(properties.get(name, {}), arguments.get(name), finding.get("ctx", {}))
    required = set(schema.get("required", ()))
    if any(not options for name, options in choices.items() if name in required):
        return
    offered = {name: options for name, options in choices.items() if options}
    for chosen in product(*offered.values()):
        yield {**corrected, **dict(zip(offered, chosen, strict=True))}


def _choices(schema: Json, value: object, context: dict[str, Any]) -> list[object]:
    """Valid values to replace a wrong one, likeliest first; none if the schema does not tell."""
    if "enum" in schema:
        similarity = JaroWinkler.normalized_similarity
        return [name for name, _, _ in process.extract(str(value)[:100], schema["enum"], scorer=similarity, limit=None)]
    if schema.get("type") == "array" and not value:
        return [[_PLACEHOLDER]]
    bound = context.get("le", context.get("ge"))
    return [bound] if bound is not None else []
