"""Trails in the memory of one process: they end with it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from kgnav_mcp.errors import TrailFull
from kgnav_mcp.trails.store import TrailLimits, TrailStore, stored_size


@dataclass(slots=True)
class _Kept:
    records: list[bytes]
    size: int
    used: float


class MemoryTrailStore(TrailStore):
    """For one event loop: no verb waits for anything, so none is ever half done when another begins."""

    def __init__(self, limits: TrailLimits, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(limits)
        self._clock = clock
        self._trails: OrderedDict[str, _Kept] = OrderedDict()
        """The one unused for longest first."""
        self.size = 0
        """Bytes of all records."""

    async def start(self, key: str, record: bytes) -> None:
        self._check(0, record)
        self._trails[key] = _Kept([record], stored_size(record), self._clock())
        self._make_room(stored_size(record))

    async def add(self, key: str, record: bytes) -> bool:
        kept = self._use(key)
        if kept is None:
            return False
        self._check(kept.size, record)
        kept.records.append(record)
        kept.size += stored_size(record)
        self._make_room(stored_size(record))
        return True

    async def first(self, key: str) -> bytes | None:
        kept = self._use(key)
        return None if kept is None else kept.records[0]

    async def read(self, key: str) -> tuple[bytes, ...]:
        kept = self._use(key)
        return () if kept is None else tuple(kept.records)

    def _use(self, key: str) -> _Kept | None:
        self._forget_outlived()
        kept = self._trails.get(key)
        if kept is not None:
            kept.used = self._clock()
            self._trails.move_to_end(key)
        return kept

    def _check(self, size: int, record: bytes) -> None:
        if size + stored_size(record) > self.limits.trail_size:
            raise TrailFull(self.limits.trail_size)

    def _make_room(self, added: int) -> None:
        """Count what was added, and forget those unused for longest until all limits hold."""
        self.size += added
        self._forget_outlived()
        while len(self._trails) > self.limits.trails or self.size > self.limits.total_size:
            self._forget_first()

    def _forget_outlived(self) -> None:
        oldest = self._clock() - self.limits.lifetime
        while self._trails and next(iter(self._trails.values())).used <= oldest:
            self._forget_first()

    def _forget_first(self) -> None:
        _, forgotten = self._trails.popitem(last=False)
        self.size -= forgotten.size
