"""Trails under handles: the stores of their records, and the interface that the server uses, with pages of JSON."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
import zlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

from kgnav_mcp.clipping import clipped, truncate_values
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import InvalidArgument, TrailFull, UnknownTrail
from kgnav_mcp.model import Trail, TrailStep

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


_FASTEST = 1
_CACHED_STARTS = 256
"""Trails whose first records are cached, unpacked."""
START_SIZE = 200_000
"""Maximum bytes of a trail without its steps, as JSON."""
_ARGUMENTS, _FAILED_ARGUMENTS = 100_000, 1_000
"""Maximum bytes of the arguments of a call, and of one that failed, as JSON."""
_SUMMARY = 200
"""Maximum characters of a summary, as many as a transcript shows."""
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
            f"the question and its {len(trail.topics):,} topics have {len(written):,} bytes; the limit is "
            f"{START_SIZE:,}",
            next_step="Shorten the question, or name fewer topics.",
        )
    return _packed(written)


def pack_step(step: TrailStep) -> PackedRecord:
    """The record of a step. An unpaired surrogate in the caller's arguments becomes a question mark.

    Very long arguments are truncated, and those of a failed call to much less.
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


_HANDLE_BYTES = 16
_PREFIX = "trail-"


class Trails:
    """Starts, extends and reads trails. `owner` is the caller, if known: no other caller can use the trail.

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
        """The lock for calls of this process that read a trail and then add a step that depends on the earlier ones."""
        return self._turns.setdefault(_key(handle, owner), asyncio.Lock())

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()


def _key(handle: str, owner: str | None) -> str:
    return hashlib.sha256(f"{handle}\0{owner or ''}".encode(errors="surrogatepass")).hexdigest()


PAGE_SIZE = 1_000_000
"""Maximum bytes of a page."""
_FRAME = 2_000
"""Bytes of a page besides the trail's first record and the steps: its note and the brackets."""
_TEXT, _ITEMS = 500, 50
"""Characters and items to which texts and lists are cut if one edge of a step alone is larger than a page."""


@dataclass(frozen=True, slots=True)
class TrailPage(Trail):
    """Some of a trail's steps. A step that is larger than a page is given in parts: steps with the same time."""

    page: int = 1
    pages: int = 1
    note: str = ""
    """What the page leaves out, and how to get it; empty if nothing."""


def trail_json(trail: Trail) -> str:
    """A trail as JSON that follows `trail_schema`. Default values (no language, no qualifiers) are left out."""
    return _pages().dump_json(_page(trail, trail.steps), indent=2, exclude_defaults=True).decode()


def trail_page_json(trail: Trail, number: int, how_to_continue: str) -> str:
    """A page of the JSON, from 1, of at most `PAGE_SIZE` bytes. If there is more, its note says `how_to_continue`.

    Raises:
        InvalidArgument: there is no such page.
    """
    start = len(_pages().dump_json(_page(trail, ()), indent=2, exclude_defaults=True))
    pages = list(_split(trail.steps, PAGE_SIZE - start - _FRAME)) or [()]
    if not 0 < number <= len(pages):
        raise InvalidArgument("this trail has no such page", next_step=f"Its pages are 1 to {len(pages):,}.")
    page = _page(trail, pages[number - 1])
    if len(pages) > 1:
        note = f"Page {number:,} of {len(pages):,}; a call larger than a page is in parts, which have the same time."
        note += f" {how_to_continue}" if number < len(pages) else ""
        page = replace(page, page=number, pages=len(pages), note=note)
    return _pages().dump_json(page, indent=2, exclude_defaults=True).decode()


def trail_schema() -> dict[str, Any]:
    """The JSON Schema of exported trails."""
    return _pages().json_schema(mode="validation")


def _page(trail: Trail, steps: Sequence[TrailStep]) -> TrailPage:
    return TrailPage(trail.graph, trail.question, trail.topics, trail.time, tuple(steps))


def _split(steps: Sequence[TrailStep], most: int) -> Iterator[Sequence[TrailStep]]:
    """The steps in groups of at most so many bytes."""
    group, left = list[TrailStep](), most
    for step in steps:
        for part, size in _parts(step, most):
            if size > left and group:
                yield group
                group, left = [], most
            group.append(part)
            left -= size
    if group:
        yield group


def _parts(step: TrailStep, most: int) -> Iterator[tuple[TrailStep, int]]:
    """The parts of a step with their sizes in bytes: halves of its lists, until each fits."""
    size = _size(step)
    lists = {"visited": step.visited, "entities": step.entities, "triples": step.triples}
    if size <= most:
        yield step, size
    elif max(map(len, lists.values())) > 1:
        for half in (0, 1):
            cut = {
                name: values[len(values) // 2 :] if half else values[: len(values) // 2]
                for name, values in lists.items()
            }
            yield from _parts(replace(step, **cut), most)
    else:
        cut = truncate_values(json.loads(_steps().dump_json(step)), _TEXT, _ITEMS)
        short = _steps().validate_python(cut)
        short = replace(short, summary=f"{short.summary} (recorded in full; here texts are cut to {_TEXT} characters)")
        yield short, _size(short)


def _size(step: TrailStep) -> int:
    """The bytes of a step where it stands in a page: indented by four blanks, with a comma behind it."""
    written = _steps().dump_json(step, indent=2, exclude_defaults=True)
    return len(written) + 4 * (written.count(b"\n") + 1) + 2


@cache
def _pages() -> TypeAdapter[TrailPage]:
    return TypeAdapter(TrailPage)
