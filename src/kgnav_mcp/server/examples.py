"""Example calls in errors: the failed call, corrected with the nearest valid values.

Every example is tried before it is shown, so that none fails or returns an empty answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
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
from kgnav_mcp.render.calls import call_text
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.text import clean, printable_id
from kgnav_mcp.server.arguments import Json, nearest_argument

_TRIES = 8
_SECONDS = 1.0
"""Seconds for all tries together."""

_ENTITIES = 5
"""Most entities of an example."""

_PLACEHOLDER = "?"
"""Placeholder in an empty list. No relation has this name, so the error for it lists any relations as the nearest."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool's name, the JSON schema of its arguments, and the names of those that are ids."""

    tool: str
    schema: Json
    ids: frozenset[str]


async def working_call(
    signature: Signature, given: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    """The text of the first corrected call whose answer has rows; empty if there is none.

    `given` has the normalized arguments of the failed call, `call` runs a corrected one.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            return await _first_working_call(signature, given, error, call)
    except (TimeoutError, KgnavError):
        return ""  # The failed call itself reports what is wrong with the store.


async def _first_working_call(
    signature: Signature, given: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    schema = signature.schema
    waiting = deque(_corrections(schema, given, error))
    tried: set[str] = set()
    while waiting and len(tried) < _TRIES:
        arguments = _as_printed(signature, waiting.popleft())
        text = call_text(signature.tool, arguments)
        if not text or text in tried:
            continue
        tried.add(text)
        try:
            answer = await call(arguments)
        except (InvalidRequest, ValidationError) as again:
            waiting.extendleft(reversed([*_corrections(schema, arguments, again)]))
            continue
        if answer.facts["rows"]:
            return text
        waiting.extendleft(reversed([*_opposite_direction(arguments)]))
    return ""


def _as_printed(signature: Signature, arguments: Json) -> Json:
    """The arguments in schema order and printable form, without the cursor, which belongs to another call.

    In ids, invisible characters are percent-encoded.
    """

    def printed(name: str, value: object) -> object:
        if isinstance(value, list):
            return [printed(name, each) for each in cast("list[object]", value)]
        if not isinstance(value, str):
            return value
        return printable_id(value) if name in signature.ids else clean(value)

    named: Json = signature.schema.get("properties", {})
    return {name: printed(name, arguments[name]) for name in named if name in arguments and name != "cursor"}


def _corrections(schema: Json, given: Json, error: Exception) -> Iterator[Json]:
    """Corrected arguments of a failed call, likeliest first."""
    match error:
        case UnknownEntity(reference=wrong, nearest=near) | AmbiguousEntity(reference=wrong, candidates=near):
            yield from (_replace_entities(given, {wrong: entity.id}) for entity in near[:3])
        case UnresolvedEntities(problems=problems):
            suggestions = {problem.reference: _alternatives(problem) for problem in problems}
            yield _replace_entities(given, {wrong: near[0].id for wrong, near in suggestions.items() if near})
        case UnknownRelation(entities=entities):
            shortened = (
                {**given, "entity": [entity.id for entity in entities[:_ENTITIES]]} if len(entities) > 1 else given
            )
            yield from _relation_corrections(shortened, error)
        case UnknownName(name=name, nearest=nearest):
            wrong = [argument for argument, value in given.items() if value == name]
            yield from ({**given, argument: near} for argument in wrong for near in nearest[:4])
        case InvalidCursor():
            yield given
        case ValidationError():
            yield from _schema_corrections(schema, given, error)
        case _:
            return


def _alternatives(problem: UnknownEntity | AmbiguousEntity) -> Sequence[Entity]:
    return problem.nearest if isinstance(problem, UnknownEntity) else problem.candidates


def _replace_entities(given: Json, corrections: Mapping[str, str]) -> Json:
    """The arguments with wrong entities replaced. Of a list only the first few stay, corrected ones first."""
    entities = given.get("entity")
    if not isinstance(entities, list):
        return {**given, "entity": next(iter(corrections.values()), entities)}
    valid = [entity for entity in cast("list[str]", entities) if entity.strip() not in corrections]
    return {**given, "entity": [*dict.fromkeys((*corrections.values(), *valid))][:_ENTITIES]}


def _opposite_direction(given: Json) -> Iterator[Json]:
    """The arguments with the opposite direction."""
    if "direction" in given:
        yield {**given, "direction": str(Direction(given["direction"]).opposite)}


def _relation_corrections(given: Json, error: UnknownRelation) -> Iterator[Json]:
    for argument, value in given.items():
        if not isinstance(value, list) or error.relation not in value:
            continue
        names = cast("list[str]", value)
        if error.direction is not None and error.opposite:
            yield {**given, "direction": str(error.direction.opposite), argument: [error.relation]}
        for near in error.nearest[:2]:
            yield {**given, argument: list(dict.fromkeys(near if name == error.relation else name for name in names))}
        yield {name: value for name, value in given.items() if name != argument}


def _schema_corrections(schema: Json, given: Json, error: ValidationError) -> Iterator[Json]:
    """The arguments with all validation errors corrected; none if the schema does not tell how."""
    properties: dict[str, Json] = schema.get("properties", {})
    arguments = dict(given)
    choices: dict[str, list[object]] = {}
    for finding in error.errors(include_url=False, include_input=False):
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            value, nearest = arguments.pop(name, None), nearest_argument(name, properties)
            if nearest and nearest not in given:
                arguments[nearest] = value
            continue
        arguments.pop(name, None)
        if name in schema.get("required", ()) or name in given:
            choices[name] = _choices(properties.get(name, {}), given.get(name), finding.get("ctx", {}))
    required = set(schema.get("required", ()))
    if any(not options for name, options in choices.items() if name in required):
        return
    offered = {name: options for name, options in choices.items() if options}
    for chosen in product(*offered.values()):
        yield {**arguments, **dict(zip(offered, chosen, strict=True))}


def _choices(schema: Json, value: object, context: dict[str, Any]) -> list[object]:
    """Valid values to replace a wrong one, likeliest first; none if the schema does not tell."""
    if "enum" in schema:
        similarity = JaroWinkler.normalized_similarity
        return [name for name, _, _ in process.extract(str(value)[:100], schema["enum"], scorer=similarity, limit=None)]
    if schema.get("type") == "array" and not value:
        return [[_PLACEHOLDER]]
    bound = context.get("le", context.get("ge"))
    return [bound] if bound is not None else []
