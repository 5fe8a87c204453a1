"""Sessions of HTTP clients: a limit on their number, and recent events, from which an interrupted stream resumes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from mcp_types.jsonrpc import jsonrpc_message_adapter
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgnav_mcp.server.trail_recorder import ClientTrails, session_trails

RETRY_MS = 1_000
"""Milliseconds after which a client should reconnect, sent with the first event of a stream."""

MAX_BYTES = 16 * 2**20
"""Maximum bytes of all kept events together: about five hundred of the longest answers."""

_EVENT_BYTES = 500
"""Bytes of an event besides its message."""

_session = ContextVar[object]("_session", default=None)


@contextmanager
def events_of(session: object) -> Generator[None]:
    """Assign what is stored and replayed within this block, and in tasks started there, to this session."""
    token = _session.set(session)
    try:
        yield
    finally:
        _session.reset(token)


@dataclass(frozen=True, slots=True)
class _Event:
    """A message of a stream. The first event of a stream has an empty message."""

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
        """Keep an event of the current session, and forget the oldest ones beyond the limit. Returns its id."""
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

        Returns the stream if it is still open; None if it has ended, belongs to another session or is no longer kept.
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


SESSION_IDLE_S = 30 * 60
"""Seconds after which an unused session ends: longer than the usual pause between two questions.

Its client then gets 404 and must repeat the handshake. A session with an open event stream is in use.
"""

MAX_SESSIONS = 1_000
"""Maximum sessions at a time, about 40 KB each."""

_SESSION = "mcp-session-id"


@dataclass(slots=True)
class _Session:
    """The path at which a session is served, its number of open requests, and the trails that its client uses.

    An ended session counts as unused.
    """

    path: str
    open_requests: int = 0
    trails: ClientTrails = field(default_factory=ClientTrails)


class BoundedSessions:
    """The application with a limit on its sessions: over the limit, a new session ends the least recently used one.

    The SDK would refuse new clients at its own limit, so one program with a handshake per question could lock out all
    others. A session with an open request is never ended here.
    """

    def __init__(self, app: ASGIApp, max_sessions: int | None = None) -> None:
        self._app = app
        self._max_sessions = max_sessions or MAX_SESSIONS
        self._sessions: dict[str, _Session] = {}
        """Sessions by id, least recently used first."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif session := Headers(scope=scope).get(_SESSION):
            await self._use(session, scope, receive, send)
        else:
            await self._begin(scope, receive, send)

    async def _use(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        state = self._sessions.pop(session, None)
        if state is None:
            await self._app(scope, receive, send)
            return
        self._sessions[session] = state
        state.open_requests += 1
        token = session_trails.set(state.trails)
        try:
            with events_of(state):
                await self._app(scope, receive, send)
        finally:
            session_trails.reset(token)
            state.open_requests -= 1

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = _Session(scope["path"])

        async def send_and_register(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = MutableHeaders(scope=message).get(_SESSION)
                if session is not None:
                    self._sessions[session] = begun
            await send(message)

        with events_of(begun):
            await self._app(scope, receive, send_and_register)
        while len(self._sessions) > self._max_sessions and (oldest := self._least_recently_used()):
            await self._end(oldest, self._sessions.pop(oldest).path, scope)

    def _least_recently_used(self) -> str | None:
        return next((session for session, state in self._sessions.items() if not state.open_requests), None)

    async def _end(self, session: str, path: str, scope: Scope) -> None:
        """End a session by the DELETE request that its client would send."""
        headers = [(b"host", Headers(scope=scope)["host"].encode()), (_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Drop the answer: nobody waits for it."""

        await self._app({**scope, "method": "DELETE", "path": path, "headers": headers}, receive, send)
