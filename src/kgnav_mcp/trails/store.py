"""What a store of trails must answer: records, added one by one under a key, for as long as they are used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

RECORD_OVERHEAD: Final = 128
"""Bytes that a record takes beside its own, in any of the stores."""


@dataclass(frozen=True, slots=True)
class TrailLimits:
    """How much is kept, and for how long. Sizes are bytes of records as they are stored, which is compressed."""

    lifetime: float = 86_400.0
    """Seconds after its last use at which a trail is forgotten."""
    trails: int = 10_000
    """Trails at a time: a further one takes the place of the one unused for longest."""
    trail_size: int = 2_000_000
    """Bytes of one trail: a longer one takes no further record."""
    total_size: int = 256_000_000
    """Bytes of all trails: those unused for longest make way."""


class TrailStore(ABC):
    """Keeps the records of trails under keys that nobody can guess.

    Safe for concurrent calls, also of several processes where the store is shared: each record that was taken is
    there, once, and all readers see the records in one order. A use is to start a trail, to add to it or to read it; to
    read its first record alone need not be one.

    Raises, from any verb:
        TrailStoreUnavailable: what keeps the trails does not answer, or cannot be written to.
    """

    def __init__(self, limits: TrailLimits) -> None:
        self.limits = limits

    @abstractmethod
    async def start(self, key: str, record: bytes) -> None:
        """Keep a new trail with its first record."""

    @abstractmethod
    async def add(self, key: str, record: bytes) -> bool:
        """Add a record to a trail; False where there is none, or none any more.

        Raises:
            TrailFull: the trail would be larger than one may be. It stays as it was.
        """

    @abstractmethod
    async def first(self, key: str) -> bytes | None:
        """The first record of a trail; None where there is no such trail."""

    @abstractmethod
    async def read(self, key: str) -> tuple[bytes, ...]:
        """All records of a trail in the order in which they were added; none where there is no such trail."""

    async def close(self) -> None:  # noqa: B027 - one in memory has nothing to close
        """Give back files and connections. Safe to call twice."""


def stored_size(record: bytes) -> int:
    """The bytes that a record counts for."""
    return len(record) + RECORD_OVERHEAD
