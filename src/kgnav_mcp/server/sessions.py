"""A limit on the sessions of the handshake era over HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION_IDLE_S = 30 * 60
"""Seconds after which an unused session ends: longer than people think between two questions.

Its client gets 404 and has to shake hands again. A session with an open event stream is in use.
"""

MAX_SESSIONS = 1_000
"""Most sessions at a time, of some 40 KB each."""

_SESSION = "mcp-session-id"


@dataclass(slots=True)
class _Session:
    """Where a session is served, and its requests that are open. One that has ended counts as unused."""

    path: str
    open_requests: int = 0


class BoundedSessions:
    """The application with a limit on its sessions: a new one ends the one that is unused for longest.

    The SDK refuses new clients at its own limit: one program that shakes hands for each question would lock out
    everybody else. A session with an open request is never ended here.
    """

    def __init__(self, app: ASGIApp, max_sessions: int | None = None) -> None:
        self._app = app
        self._max_sessions = max_sessions or MAX_SESSIONS
        self._sessions: dict[str, _Session] = {}
        """The one unused for longest first."""

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
        try:
            await self._app(scope, receive, send)
        finally:
            known.open_requests -= 1

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = MutableHeaders(scope=message).get(_SESSION)
                if session is not None:
                    self._sessions[session] = _Session(scope["path"])
            await send(message)

        await self._app(scope, receive, noting)
        while len(self._sessions) > self._max_sessions and (unused := self._longest_unused()):
            await self._end(unused, self._sessions.pop(unused).path, scope)

    def _longest_unused(self) -> str | None:
        return next((session for session, known in self._sessions.items() if not known.open_requests), None)

    async def _end(self, session: str, path: str, scope: Scope) -> None:
        """End a session by the request its client would send."""
        headers = [(b"host", Headers(scope=scope)["host"].encode()), (_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Nobody waits for the answer."""

        await self._app({**scope, "method": "DELETE", "path": path, "headers": headers}, receive, send)
