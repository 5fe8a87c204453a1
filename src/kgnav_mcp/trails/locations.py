"""Opens the store of trails that the setting `trails` names: `memory`, the path of a file, or `redis://...`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from kgnav_mcp.errors import ConfigurationError, MissingDriver
from kgnav_mcp.trails.memory import MemoryTrailStore
from kgnav_mcp.trails.store import TrailLimits, TrailStore

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
            f"trails cannot be kept at {location.partition('://')[0]}://",
            next_step="Set trails to memory, to the path of a file, or to redis://HOST:PORT/NUMBER.",
        )
    from kgnav_mcp.trails.sqlite import SqliteTrailStore  # noqa: PLC0415 - most servers keep none

    return SqliteTrailStore(Path(location), limits)
