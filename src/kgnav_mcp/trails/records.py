"""Trails as bytes: compressed JSON of the model's values. Exported trails are the same JSON, uncompressed."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from pydantic import TypeAdapter

from kgnav_mcp.model import Trail, TrailStep

_FASTEST = 1
_CACHED_STARTS = 256
"""Trails whose first records are cached, unpacked."""


def pack_start(trail: Trail) -> bytes:
    """The first record of a trail: the trail without its steps."""
    return zlib.compress(_trails().dump_json(replace(trail, steps=()), exclude_defaults=True), _FASTEST)


def pack_step(step: TrailStep) -> bytes:
    """The record of a step. An unpaired surrogate in the caller's arguments becomes a question mark."""
    arguments = json.loads(json.dumps(step.arguments, ensure_ascii=False).encode(errors="replace"))
    summary = step.summary.encode(errors="replace").decode()
    cleaned = replace(step, arguments=arguments, summary=summary)
    return zlib.compress(_steps().dump_json(cleaned, exclude_defaults=True), _FASTEST)


@lru_cache(_CACHED_STARTS)
def unpack_start(record: bytes) -> Trail:
    """The trail in a first record, without its steps. Cached, because every call on a trail needs it."""
    return _trails().validate_json(zlib.decompress(record))


def unpack(records: tuple[bytes, ...]) -> Trail:
    """The trail in these records, with its steps."""
    first, *others = records
    steps = tuple(_steps().validate_json(zlib.decompress(each)) for each in others)
    return replace(unpack_start(first), steps=steps)


def trail_json(trail: Trail) -> str:
    """A trail as JSON that follows `trail_schema`. Default values (no language, no qualifiers) are left out."""
    return _trails().dump_json(trail, indent=2, exclude_defaults=True).decode()


def trail_schema() -> dict[str, Any]:
    """The JSON Schema of exported trails."""
    return _trails().json_schema(mode="validation")


@cache  # made with the first trail: analysing the types takes longer than the whole start of a server may
def _trails() -> TypeAdapter[Trail]:
    return TypeAdapter(Trail)


@cache
def _steps() -> TypeAdapter[TrailStep]:
    return TypeAdapter(TrailStep)
