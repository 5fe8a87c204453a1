"""Trails under handles: the interface that the server uses."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from weakref import WeakValueDictionary

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import UnknownTrail
from kgnav_mcp.model import Trail, TrailStep
from kgnav_mcp.trails.records import pack_start, pack_step, unpack, unpack_start
from kgnav_mcp.trails.store import TrailStore

_HANDLE_BYTES = 16
_PREFIX = "trail-"


class Trails:
    """Starts, extends and reads trails. `owner` is the caller, if known: nobody else can use the trail.

    A handle has 128 random bits. The store never sees it: a trail is stored under a hash of handle and owner, so that
    neither access to the store nor knowing someone else's handle gives access to a trail.
    """

    def __init__(self, store: TrailStore) -> None:
        self._store = store
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    @property
    def lifetime(self) -> float:
        """Seconds after its last use until a trail expires."""
        return self._store.limits.lifetime

    async def start(self, trail: Trail, owner: str | None = None) -> str:
        """Store a new trail, and return its handle.

        Raises:
            InvalidArgument: the question or the topics are too long.
        """
        handle = _PREFIX + secrets.token_urlsafe(_HANDLE_BYTES)
        await self._store.start(_key(handle, owner), *pack_start(trail))
        return handle

    async def add(self, handle: str, step: TrailStep, owner: str | None = None) -> None:
        """Add a step.

        Raises:
            UnknownTrail: there is no such trail, or it has expired.
            TrailFull: the trail would become too large.
        """
        packed = await in_thread(len(step.triples) + len(step.entities), lambda: pack_step(step))
        if not await self._store.add(_key(handle, owner), *packed):
            raise UnknownTrail(handle, self.lifetime)

    async def beginning(self, handle: str, owner: str | None = None) -> Trail:
        """The trail without its steps.

        Raises:
            UnknownTrail: there is no such trail, or it has expired.
        """
        record = await self._store.first(_key(handle, owner))
        if record is None:
            raise UnknownTrail(handle, self.lifetime)
        return unpack_start(record)

    async def read(self, handle: str, owner: str | None = None) -> Trail:
        """The trail with all its steps.

        Raises:
            UnknownTrail: there is no such trail, or it has expired.
        """
        records = await self._store.read(_key(handle, owner))
        if not records:
            raise UnknownTrail(handle, self.lifetime)
        return await in_thread(sum(map(len, records)) // 100, lambda: unpack(records))

    def turn(self, handle: str, owner: str | None = None) -> asyncio.Lock:
        """The lock for calls of this process that read a trail and then add to it what depends on its steps."""
        return self._turns.setdefault(_key(handle, owner), asyncio.Lock())

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()


def _key(handle: str, owner: str | None) -> str:
    return hashlib.sha256(f"{handle}\0{owner or ''}".encode(errors="surrogatepass")).hexdigest()
