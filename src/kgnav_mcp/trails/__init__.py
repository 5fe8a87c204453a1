"""Trails: walks that are stored under a handle between calls, and their stores.

A client passes the handle as an argument; there is no session. The server uses `Trails`, which makes handles, and reads
and writes the values of `model.trails`. Below it is a small interface, `TrailStore`, which stores bytes under keys: in
memory, in a file for several processes of one machine, or in Redis for several machines.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from kgnav_mcp.errors import ConfigurationError, MissingDriver
from kgnav_mcp.trails.trail_keeper import (
    MemoryTrailStore,
    TrailLimits,
    Trails,
    TrailStore,
    trail_json,
    trail_page_json,
    trail_schema,
)

__all__ = [
    "MEMORY",
    "TrailLimits",
    "TrailStore",
    "Trails",
    "open_trail_store",
    "trail_json",
    "trail_page_json",
    "trail_schema",
]

MEMORY = "memory"


def open_trail_store(location: str, limits: TrailLimits) -> TrailStore:
    """The store at a location. Nothing is connected or written before its first use.

    Raises:
        ConfigurationError: the location is of none of the three kinds.
        MissingDriver: the package for Redis is not installed.
    """
    if location == MEMORY:
        return MemoryTrailStore(limits)
    if location.startswith(("redis://", "rediss://", "unix://")):
        try:
            return import_module("kgnav_mcp.trails.redis").RedisTrailStore(location, limits)
        except ModuleNotFoundError as error:
            raise MissingDriver("trails in Redis", "kgnav-mcp[redis]") from error
    if "://" in location:
        raise ConfigurationError(
            f"trails cannot be stored at {location.partition('://')[0]}://",
            next_step="Set --trail-store to memory, the path of a file, or redis://HOST:PORT/NUMBER.",
        )
    from kgnav_mcp.trails.sqlite import SqliteTrailStore  # noqa: PLC0415 - most servers keep none

    return SqliteTrailStore(Path(location), limits)
