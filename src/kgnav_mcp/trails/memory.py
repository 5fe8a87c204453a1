"""Trails in the memory of one process: they are lost when it ends."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from kgnav_mcp.errors import TrailFull
from kgnav_mcp.trails.store import TrailLimits, TrailStore, stored_size


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
