"""Recent events of the sessions' streams: a client whose connection was cut off continues the stream where it ended.

Protocol version 2025-11-25 defines this: a stream begins with an event that has an id and no data, and a client comes
back with the id of the last event it has. Earlier versions know no such event, and 2026-07-28 has no streams to resume.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from mcp_types.jsonrpc import jsonrpc_message_adapter

RETRY_MS = 1_000
"""Milliseconds after which a client should come back, sent with the first event of a stream."""

MAX_BYTES = 16 * 2**20
"""Most bytes of all kept events together: some five hundred of the longest answers, and far more of the usual ones."""

_EVENT_BYTES = 500
"""Bytes of an event besides its message."""

_session = ContextVar[object]("_session", default=None)


@contextmanager
def events_of(session: object) -> Generator[None]:
    """What is stored and replayed within this block, and in tasks begun there, belongs to this session."""
    token = _session.set(session)
    try:
        yield
    finally:
        _session.reset(token)


@dataclass(frozen=True, slots=True)
class _Event:
    """A message of a stream; the one that begins the stream is empty."""

    session: object
    stream: StreamId
    message: bytes
    is_last: bool
    """Whether it answers the stream's request, and so ends the stream."""

    def is_on_stream_of(self, other: _Event) -> bool:
        return self.session is other.session and self.stream == other.stream

    @property
    def size(self) -> int:
        return _EVENT_BYTES + len(self.message)


class RecentEvents(EventStore):
    """The last events of all sessions, up to a number of bytes; older ones are forgotten.

    The SDK numbers streams within a session only. So each event has its session, and nothing is replayed to another.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._events = OrderedDict[EventId, _Event]()
        self._ids = map(str, count(1))
        self.bytes = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        text = message.model_dump_json(by_alias=True, exclude_unset=True).encode() if message is not None else b""
        event = _Event(_session.get(), stream_id, text, isinstance(message, JSONRPCResponse | JSONRPCError))
        event_id = next(self._ids)
        self._events[event_id] = event
        self.bytes += event.size
        while self.bytes > self._max_bytes:
            self.bytes -= self._events.popitem(last=False)[1].size
        return event_id

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send the events that followed this one on its stream.

        Returns the stream if it goes on, and None if it has ended, was another session's or is forgotten.
        """
        last = self._events.get(last_event_id)
        if last is None or last.is_last or last.session is not _session.get():
            return None
        for event_id, event in [*self._events.items()]:
            if event.message and int(event_id) > int(last_event_id) and event.is_on_stream_of(last):
                await send_callback(EventMessage(jsonrpc_message_adapter.validate_json(event.message), event_id))
                if event.is_last:
                    return None
        return last.stream
