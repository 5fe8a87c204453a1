"""Example calls in errors: the failed call, mended with what is nearest to what was wrong.

Every example is tried before it is shown, so that none fails or finds nothing.
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
"""Seconds for all tries: nobody waits longer for an example."""

_ENTITIES = 5
"""Most entities of an example."""

_ANY = "?"
"""An element for a list that was left empty: no relation has this name, so any may be the nearest."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call of a tool is written by: its name, the schema of its arguments, and which of them are ids."""

    tool: str
    schema: Json
    ids: frozenset[str]


async def working_call(
    signature: Signature, given: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    """The first call that mends the failed one and is answered with rows; empty where there is none.

    `given` are the normalized arguments of the failed call, `call` makes another.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            return await _first_that_works(signature, given, error, call)
    except (TimeoutError, KgnavError):
        return ""  # What is wrong with the store is said by the failed call itself.


async def _first_that_works(
    signature: Signature, given: Json, error: Exception, call: Callable[[Json], Awaitable[Answer]]
) -> str:
    schema = signature.schema
    waiting = deque(_mended(schema, given, error))
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
            waiting.extendleft(reversed([*_mended(schema, arguments, again)]))
            continue
        if answer.facts["rows"]:
            return text
        waiting.extendleft(reversed([*_turned(arguments)]))
    return ""


def _as_printed(signature: Signature, arguments: Json) -> Json:
    """The arguments in their order, as they can be copied, and without a cursor, which is another call's.

    In ids, what cannot be seen is percent-encoded.
    """

    def printed(name: str, value: object) -> object:
        if isinstance(value, list):
            return [printed(name, each) for each in cast("list[object]", value)]
        if not isinstance(value, str):
            return value
        return printable_id(value) if name in signature.ids else clean(value)

    named: Json = signature.schema.get("properties", {})
    return {name: printed(name, arguments[name]) for name in named if name in arguments and name != "cursor"}


def _mended(schema: Json, given: Json, error: Exception) -> Iterator[Json]:
    """Calls that may have been meant by a failed one, likeliest first."""
    match error:
        case UnknownEntity(reference=wrong, nearest=near) | AmbiguousEntity(reference=wrong, candidates=near):
            yield from (_of_entities(given, {wrong: entity.id}) for entity in near[:3])
        case UnresolvedEntities(problems=problems):
            meant = {problem.reference: _alternatives(problem) for problem in problems}
            yield _of_entities(given, {wrong: near[0].id for wrong, near in meant.items() if near})
        case UnknownRelation(entities=entities):
            few = {**given, "entity": [entity.id for entity in entities[:_ENTITIES]]} if len(entities) > 1 else given
            yield from _other_relations(few, error)
        case UnknownName(name=name, nearest=nearest):
            wrong = [argument for argument, value in given.items() if value == name]
            yield from ({**given, argument: near} for argument in wrong for near in nearest[:4])
        case InvalidCursor():
            yield given
        case ValidationError():
            yield from _valid(schema, given, error)
        case _:
            return


def _alternatives(problem: UnknownEntity | AmbiguousEntity) -> Sequence[Entity]:
    return problem.nearest if isinstance(problem, UnknownEntity) else problem.candidates


def _of_entities(given: Json, meant: Mapping[str, str]) -> Json:
    """The same call with other entities in place of some; of many only a few, beginning with these."""
    asked = given.get("entity")
    if not isinstance(asked, list):
        return {**given, "entity": next(iter(meant.values()), asked)}
    right = [one for one in cast("list[str]", asked) if one.strip() not in meant]
    return {**given, "entity": [*dict.fromkeys((*meant.values(), *right))][:_ENTITIES]}


def _turned(given: Json) -> Iterator[Json]:
    """The same call in the other direction."""
    if "direction" in given:
        yield {**given, "direction": str(Direction(given["direction"]).opposite)}


def _other_relations(given: Json, error: UnknownRelation) -> Iterator[Json]:
    for argument, value in given.items():
        if not isinstance(value, list) or error.relation not in value:
            continue
        names = cast("list[str]", value)
        if error.direction is not None and error.opposite:
            yield {**given, "direction": str(error.direction.opposite), argument: [error.relation]}
        for near in error.nearest[:2]:
            yield {**given, argument: list(dict.fromkeys(near if name == error.relation else name for name in names))}
        yield {name: value for name, value in given.items() if name != argument}


def _valid(schema: Json, given: Json, error: ValidationError) -> Iterator[Json]:
    """The arguments with every mistake mended, as far as the schema tells how."""
    known: dict[str, Json] = schema.get("properties", {})
    kept = dict(given)
    choices: dict[str, list[object]] = {}
    for finding in error.errors(include_url=False, include_input=False):
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            value, meant = kept.pop(name, None), nearest_argument(name, known)
            if meant and meant not in given:
                kept[meant] = value
            continue
        kept.pop(name, None)
        if name in schema.get("required", ()) or name in given:
            choices[name] = _choices(known.get(name, {}), given.get(name), finding.get("ctx", {}))
    required = set(schema.get("required", ()))
    if any(not options for name, options in choices.items() if name in required):
        return
    offered = {name: options for name, options in choices.items() if options}
    for chosen in product(*offered.values()):
        yield {**kept, **dict(zip(offered, chosen, strict=True))}


def _choices(schema: Json, value: object, context: dict[str, Any]) -> list[object]:
    """Valid values in place of a wrong one, likeliest first; none where the schema does not tell."""
    if "enum" in schema:
        alike = JaroWinkler.normalized_similarity
        return [name for name, _, _ in process.extract(str(value)[:100], schema["enum"], scorer=alike, limit=None)]
    if schema.get("type") == "array" and not value:
        return [[_ANY]]
    bound = context.get("le", context.get("ge"))
    return [bound] if bound is not None else []
