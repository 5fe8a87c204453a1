"""Trails as bytes: JSON of the model's values, compressed. The same JSON, written out, is what a trail exports as."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from pydantic import TypeAdapter

from kgnav_mcp.model import Trail, TrailStep

_FASTEST = 1
_BEGINNINGS = 256
"""Trails whose beginnings are remembered, unpacked."""


def pack_start(trail: Trail) -> bytes:
    """The first record of a trail: the trail without its steps."""
    return zlib.compress(_trails().dump_json(replace(trail, steps=()), exclude_defaults=True), _FASTEST)


def pack_step(step: TrailStep) -> bytes:
    """The record of a step. Half a surrogate pair in what a caller sent becomes a question mark."""
    arguments = json.loads(json.dumps(step.arguments, ensure_ascii=False).encode(errors="replace"))
    summary = step.summary.encode(errors="replace").decode()
    told = replace(step, arguments=arguments, summary=summary)
    return zlib.compress(_steps().dump_json(told, exclude_defaults=True), _FASTEST)


@lru_cache(_BEGINNINGS)
def unpack_start(record: bytes) -> Trail:
    """The trail that was packed, without its steps: each call on it asks for that."""
    return _trails().validate_json(zlib.decompress(record))


def unpack(records: tuple[bytes, ...]) -> Trail:
    """The trail that was packed, with its steps."""
    first, *others = records
    steps = tuple(_steps().validate_json(zlib.decompress(each)) for each in others)
    return replace(unpack_start(first), steps=steps)


def trail_json(trail: Trail) -> str:
    """A trail as JSON by `trail_schema`. What is as usual (a value without a language, no qualifiers) is left out."""
    return _trails().dump_json(trail, indent=2, exclude_defaults=True).decode()


def trail_schema() -> dict[str, Any]:
    """The JSON Schema of exported trails."""
    return _trails().json_schema(mode="validation")


@cache  # made when the first trail is: reading the types takes longer than the whole start of a server may
def _trails() -> TypeAdapter[Trail]:
    return TypeAdapter(Trail)


@cache
def _steps() -> TypeAdapter[TrailStep]:
    return TypeAdapter(TrailStep)
