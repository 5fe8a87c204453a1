"""A limit on the number of HTTP sessions, which clients of the older protocol open by a handshake."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgnav_mcp.server.client_trails import ClientTrails, session_trails
from kgnav_mcp.server.events import events_of

SESSION_IDLE_S = 30 * 60
"""Seconds after which an unused session ends: longer than the usual pause between two questions.

Its client then gets 404 and must repeat the handshake. A session with an open event stream is in use.
"""

MAX_SESSIONS = 1_000
"""Most sessions at a time, about 40 KB each."""

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

    The SDK would refuse new clients at its own limit, so that one program with a handshake per question could lock out
    everybody else. A session with an open request is never ended here.
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
        known = self._sessions.pop(session, None)
        if known is None:
            await self._app(scope, receive, send)
            return
        self._sessions[session] = known
        known.open_requests += 1
        token = session_trails.set(known.trails)
        try:
            with events_of(known):
                await self._app(scope, receive, send)
        finally:
            session_trails.reset(token)
            known.open_requests -= 1

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
        return next((session for session, known in self._sessions.items() if not known.open_requests), None)

    async def _end(self, session: str, path: str, scope: Scope) -> None:
        """End a session by the DELETE request that its client would send."""
        headers = [(b"host", Headers(scope=scope)["host"].encode()), (_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Drop the answer: nobody waits for it."""

        await self._app({**scope, "method": "DELETE", "path": path, "headers": headers}, receive, send)
