"""Trails in Redis: shared by several machines behind a load balancer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from redis._parsers import _AsyncRESP2Parser
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.exceptions import AuthenticationError, InvalidResponse, RedisError, ResponseError

from kgnav_mcp.errors import TrailFull, TrailStoreUnavailable
from kgnav_mcp.trails.trail_keeper import TrailLimits, TrailStore, stored_size

_PREFIX = "{kgnav:trails}"
"""Prefix of all keys. The part in braces keeps them on one node of a cluster, so that a script can use all of them."""
_TIMEOUT_S = 5.0
"""Seconds to wait for a connection, or for an answer."""
_CONNECTIONS = 16
_ANSWER_OVERHEAD = 65_536
"""Bytes that an answer may take in addition to the records of one trail."""
_LINE_OVERHEAD = 32
"""Bytes that each value of an answer counts besides its own size, so that arrays of empty values are bounded, too."""
_FULL = "TRAIL IS FULL"
_UNAUTHENTICATED = "unauthenticated"
"""In Redis 7's error for a call with more than ten arguments and no password; one with fewer gets NOAUTH."""

_SCRIPT = f"""
local used, sizes, kept = KEYS[1], KEYS[2], KEYS[3]
local key, records = ARGV[1], KEYS[4]
local now, lifetime = tonumber(ARGV[2]), tonumber(ARGV[3])
local most, trail_size, total_size = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function forget(trail)
  redis.call('DECRBY', kept, redis.call('HGET', sizes, trail) or 0)
  redis.call('HDEL', sizes, trail)
  redis.call('ZREM', used, trail)
  redis.call('DEL', '{_PREFIX}:' .. trail)
end

for _, trail in ipairs(redis.call('ZRANGE', used, '-inf', now - lifetime, 'BYSCORE')) do
  forget(trail)
end
local size = tonumber(redis.call('HGET', sizes, key) or '-1')
if ARGV[7] ~= 'start' and size < 0 then
  return false
end
if ARGV[7] == 'start' or ARGV[7] == 'add' then
  local added = tonumber(ARGV[9])
  if math.max(size, 0) + added > trail_size then
    return redis.error_reply('{_FULL}')
  end
  redis.call('RPUSH', records, ARGV[8])
  redis.call('HSET', sizes, key, math.max(size, 0) + added)
  redis.call('INCRBY', kept, added)
end
redis.call('ZADD', used, now, key)
while redis.call('ZCARD', used) > most or tonumber(redis.call('GET', kept) or '0') > total_size do
  forget(redis.call('ZRANGE', used, 0, 0)[1])
end
local left = math.ceil(lifetime) + 60
for _, each in ipairs({{used, sizes, kept, records}}) do
  redis.call('EXPIRE', each, left)
end
if ARGV[7] == 'first' then
  return redis.call('LRANGE', records, 0, 0)
elseif ARGV[7] == 'read' then
  return redis.call('LRANGE', records, 0, -1)
end
return 1
"""
"""One method as one atomic script: delete expired trails, do the work, delete trails beyond the limits."""


class _BoundedParser(_AsyncRESP2Parser):
    """Reads answers of `bound` bytes at most.

    The client reads as many bytes as an answer announces, so a server that is not Redis can fill the memory. It has
    no setting for this; its connections take another parser, whose base has the same two methods since version 5.
    """

    def __init__(self, socket_read_size: int, bound: int) -> None:
        super().__init__(socket_read_size)
        self._bound = self._left = bound

    async def read_response(self, disable_decoding: bool = False) -> Any:  # noqa: ANN401 - as in its base
        self._left = self._bound
        try:
            return await super().read_response(disable_decoding)
        except (ValueError, RecursionError) as error:
            raise InvalidResponse("not an answer of Redis") from error

    async def _read(self, length: int) -> bytes:
        self._count(length)
        return await super()._read(length)

    async def _readline(self) -> bytes:
        line = await super()._readline()
        self._count(len(line) + _LINE_OVERHEAD)
        return line

    def _count(self, size: int) -> None:
        self._left -= size
        if size < 0 or self._left < 0:
            raise InvalidResponse(f"an answer of more than {self._bound:,} bytes, or of less than none")


class RedisTrailStore(TrailStore):
    """One list of records per trail; and for all trails the times of last use, the sizes, and the sum of all sizes."""

    def __init__(self, url: str, limits: TrailLimits, clock: Callable[[], float] = time.time) -> None:
        super().__init__(limits)
        self._clock = clock
        parser = partial(_BoundedParser, bound=limits.trail_size + _ANSWER_OVERHEAD)
        timeouts = dict.fromkeys(("timeout", "socket_timeout", "socket_connect_timeout"), _TIMEOUT_S)
        options: dict[str, Any] = {
            **timeouts,
            **parse_url(url),
            "protocol": 2,
            "parser_class": parser,
        }  # other protocols, other parsers
        # This pool lets callers wait for a connection. The default pool raises an error if all are in use.
        pool = BlockingConnectionPool(max_connections=_CONNECTIONS, **options)
        self._redis = Redis.from_pool(pool)
        self._script = self._redis.register_script(_SCRIPT)

    async def start(self, key: str, record: bytes, written: int = 0) -> None:
        await self._call("start", key, record, stored_size(record, written))

    async def add(self, key: str, record: bytes, written: int = 0) -> bool:
        return await self._call("add", key, record, stored_size(record, written)) is not None

    async def first(self, key: str) -> bytes | None:
        return next(iter(await self._records("first", key)), None)

    async def read(self, key: str) -> tuple[bytes, ...]:
        return tuple(await self._records("read", key))

    async def close(self) -> None:
        await self._redis.aclose()

    async def _records(self, verb: str, key: str) -> Sequence[bytes]:
        records = await self._call(verb, key)
        if records is None:
            return ()
        if not isinstance(records, list) or not all(isinstance(each, bytes) for each in cast("list[object]", records)):
            raise _not_redis()
        return cast("list[bytes]", records)

    async def _call(self, verb: str, key: str, *record: bytes | int) -> object:
        limits = self.limits
        keys = [f"{_PREFIX}:used", f"{_PREFIX}:sizes", f"{_PREFIX}:kept", f"{_PREFIX}:{key}"]
        bounds = (limits.lifetime, limits.trails, limits.trail_size, limits.total_size)
        try:
            return await self._script(keys=keys, args=[key, self._clock(), *bounds, verb, *record])
        except AuthenticationError as error:
            raise _unauthenticated(str(error)) from error
        except InvalidResponse as error:
            raise _not_redis() from error
        except ResponseError as error:
            if _FULL in str(error):
                raise TrailFull(limits.trail_size) from error
            if _UNAUTHENTICATED in str(error):
                raise _unauthenticated(str(error)) from error
            raise _unavailable() from error
        except (RedisError, OSError) as error:
            raise _unavailable() from error


def _unavailable() -> TrailStoreUnavailable:
    return TrailStoreUnavailable(
        "Redis, the trail store, does not answer", next_step="Check that it runs; or call without a trail."
    )


def _not_redis() -> TrailStoreUnavailable:
    return TrailStoreUnavailable(
        "the server of the trail store is not Redis, or its answer is too large",
        next_step="Check that --trail-store names the host and port of a Redis; or call without a trail.",
    )


def _unauthenticated(problem: str) -> TrailStoreUnavailable:
    wanted = _UNAUTHENTICATED in problem or "required" in problem
    what = "requires a password" if wanted else "rejects the user or password of its address"
    return TrailStoreUnavailable(
        f"Redis, the trail store, {what}",
        next_step="Put them into --trail-store: redis://:PASSWORD@HOST:PORT/NUMBER or redis://USER:PASSWORD@..., with "
        "%XX for special characters; or call without a trail.",
    )
