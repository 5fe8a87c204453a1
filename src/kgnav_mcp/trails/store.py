"""Stores of trails: the interface, and the store in memory."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kgnav_mcp.errors import TrailFull

RECORD_OVERHEAD: Final = 128
"""Bytes that a record takes in addition to its own size, in any of the stores."""
_COMPRESSION: Final = 8
"""Maximum compression factor that counts against the limits: long walks compress five to ten times."""


@dataclass(frozen=True, slots=True)
class TrailLimits:
    """Limits of stored trails. Sizes are bytes of records as `stored_size` counts them."""

    lifetime: float = 86_400.0
    """Seconds after its last use until a trail expires."""
    trails: int = 10_000
    """Number of trails: a further one replaces the least recently used."""
    trail_size: int = 2_000_000
    """Bytes of one trail: a record that would exceed them is refused."""
    total_size: int = 256_000_000
    """Bytes of all trails: beyond them the least recently used trails are deleted."""


class TrailStore(ABC):
    """Stores the records of trails under keys that cannot be guessed.

    Safe for concurrent calls, also from several processes if the store is shared: every accepted record is stored once,
    and all readers see the records in the same order. Starting a trail, adding to it and reading it count as uses;
    reading only its first record need not.

    Raises, from any method:
        TrailStoreUnavailable: the store does not answer, or cannot be written to.
    """

    def __init__(self, limits: TrailLimits) -> None:
        self.limits = limits

    @abstractmethod
    async def start(self, key: str, record: bytes, written: int = 0) -> None:
        """Store a new trail with its first record, which has `written` bytes when it is unpacked.

        Raises:
            TrailFull: the record is larger than a trail may be.
        """

    @abstractmethod
    async def add(self, key: str, record: bytes, written: int = 0) -> bool:
        """Add a record to a trail; False if there is no such trail, or if it has expired.

        Raises:
            TrailFull: the trail would become larger than a trail may be. It is not changed.
        """

    @abstractmethod
    async def first(self, key: str) -> bytes | None:
        """The first record of a trail; None if there is no such trail."""

    @abstractmethod
    async def read(self, key: str) -> tuple[bytes, ...]:
        """All records of a trail in the order in which they were added; empty if there is no such trail."""

    async def close(self) -> None:  # noqa: B027 - one in memory has nothing to close
        """Release files and connections. Safe to call twice."""


def stored_size(record: bytes, written: int) -> int:
    """The size of a record against the limits, in bytes: as stored, or an eighth of it unpacked, whichever is more.

    Otherwise a trail of a few megabytes that repeats one text would take hundreds of megabytes when it is read.
    """
    return max(len(record) + RECORD_OVERHEAD, written // _COMPRESSION)


@dataclass(slots=True)
class _StoredTrail:
    records: list[bytes]
    size: int
    used: float


class MemoryTrailStore(TrailStore):
    """For one event loop: no method awaits anything, so calls never interleave."""

    def __init__(self, limits: TrailLimits, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(limits)
        self._clock = clock
        self._trails: OrderedDict[str, _StoredTrail] = OrderedDict()
        """Least recently used first."""
        self.size = 0
        """Bytes of all records."""

    async def start(self, key: str, record: bytes, written: int = 0) -> None:
        size = stored_size(record, written)
        self._check(size)
        self._trails[key] = _StoredTrail([record], size, self._clock())
        self._make_room(size)

    async def add(self, key: str, record: bytes, written: int = 0) -> bool:
        trail = self._use(key)
        if trail is None:
            return False
        size = stored_size(record, written)
        self._check(trail.size + size)
        trail.records.append(record)
        trail.size += size
        self._make_room(size)
        return True

    async def first(self, key: str) -> bytes | None:
        trail = self._use(key)
        return None if trail is None else trail.records[0]

    async def read(self, key: str) -> tuple[bytes, ...]:
        trail = self._use(key)
        return () if trail is None else tuple(trail.records)

    def _use(self, key: str) -> _StoredTrail | None:
        self._delete_expired()
        trail = self._trails.get(key)
        if trail is not None:
            trail.used = self._clock()
            self._trails.move_to_end(key)
        return trail

    def _check(self, size: int) -> None:
        if size > self.limits.trail_size:
            raise TrailFull(self.limits.trail_size)

    def _make_room(self, added: int) -> None:
        """Count the added bytes, and delete the least recently used trails until all limits are met."""
        self.size += added
        self._delete_expired()
        while len(self._trails) > self.limits.trails or self.size > self.limits.total_size:
            self._delete_oldest()

    def _delete_expired(self) -> None:
        oldest = self._clock() - self.limits.lifetime
        while self._trails and next(iter(self._trails.values())).used <= oldest:
            self._delete_oldest()

    def _delete_oldest(self) -> None:
        _, deleted = self._trails.popitem(last=False)
        self.size -= deleted.size
