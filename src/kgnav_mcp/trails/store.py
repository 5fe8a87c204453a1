"""The interface of a store of trails: records that are appended under a key, and expire when they are not used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

RECORD_OVERHEAD: Final = 128
"""Bytes that a record takes in addition to its own size, in any of the stores."""
_COMPRESSION: Final = 8
"""How many times smaller than its JSON a record may count: long walks compress five to ten times."""


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
    """Stores the records of trails under keys that nobody can guess.

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

    Otherwise a trail of a few megabytes, which repeats one text, would be hundreds of megabytes where it is read.
    """
    return max(len(record) + RECORD_OVERHEAD, written // _COMPRESSION)
