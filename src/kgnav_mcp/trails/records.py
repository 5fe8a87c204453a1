"""Trails as bytes: compressed JSON of the model's values."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

from pydantic import TypeAdapter

from kgnav_mcp.clipping import clipped, truncate_values
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import Trail, TrailStep

_FASTEST = 1
_CACHED_STARTS = 256
"""Trails whose first records are cached, unpacked."""
START_SIZE = 200_000
"""Most bytes of a trail without its steps, as JSON."""
_ARGUMENTS, _FAILED_ARGUMENTS = 100_000, 1_000
"""Most bytes of the arguments of a call, and of one that failed, as JSON."""
_SUMMARY = 200
"""Most characters of a summary, as many as a transcript shows."""
_CUTS = (10_000, 1_000, 200, 50, 10)
"""Characters of a text, and items of a list, to which long arguments are cut; in this order until they fit."""


class PackedRecord(NamedTuple):
    """A record as it is stored, and how many bytes of JSON it has."""

    record: bytes
    written: int


def pack_start(trail: Trail) -> PackedRecord:
    """The first record of a trail: the trail without its steps.

    Raises:
        InvalidArgument: the question and its topics are too long. Each page of an exported trail repeats them.
    """
    written = _trails().dump_json(replace(trail, steps=()), exclude_defaults=True)
    if len(written) > START_SIZE:
        raise InvalidArgument(
            f"the question and its {len(trail.topics):,} topics have {len(written):,} bytes, and a trail begins with "
            f"at most {START_SIZE:,}",
            next_step="Shorten the question, or name fewer topics.",
        )
    return _packed(written)


def pack_step(step: TrailStep) -> PackedRecord:
    """The record of a step. An unpaired surrogate in the caller's arguments becomes a question mark.

    Arguments that are very long are cut; more so those of a failed call, which has nothing else worth keeping.
    """
    arguments = _bounded(step.arguments, _FAILED_ARGUMENTS if step.failed else _ARGUMENTS)
    summary = clipped(step.summary, _SUMMARY).encode(errors="replace").decode()
    return _packed(_steps().dump_json(replace(step, arguments=arguments, summary=summary), exclude_defaults=True))


def _packed(written: bytes) -> PackedRecord:
    return PackedRecord(zlib.compress(written, _FASTEST), len(written))


def _bounded(arguments: Mapping[str, object], size: int) -> Mapping[str, object]:
    """The arguments as JSON values of at most `size` bytes; none if cutting texts and lists is not enough."""
    written = json.dumps(dict(arguments), ensure_ascii=False).encode(errors="replace")
    values: dict[str, object] = json.loads(written)
    if len(written) <= size:
        return values
    for limit in _CUTS:
        cut = {name: truncate_values(value, limit, limit) for name, value in values.items()}
        if len(json.dumps(cut, ensure_ascii=False).encode()) <= size:
            return cut
    return {}


@lru_cache(_CACHED_STARTS)
def unpack_start(record: bytes) -> Trail:
    """The trail in a first record, without its steps. Cached, because every call on a trail needs it."""
    return _trails().validate_json(zlib.decompress(record))


def unpack(records: tuple[bytes, ...]) -> Trail:
    """The trail in these records, with its steps."""
    first, *others = records
    steps = tuple(_steps().validate_json(zlib.decompress(each)) for each in others)
    return replace(unpack_start(first), steps=steps)


@cache  # made with the first trail: analysing the types takes longer than the whole start of a server may
def _trails() -> TypeAdapter[Trail]:
    return TypeAdapter(Trail)


@cache
def _steps() -> TypeAdapter[TrailStep]:
    return TypeAdapter(TrailStep)
