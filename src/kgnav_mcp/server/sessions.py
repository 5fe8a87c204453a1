"""The sessions of the handshake era over HTTP, so many at most."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION_IDLE_S = 30 * 60
"""Seconds after which a session that nobody uses is dropped: longer than people think between two questions.

Its client is told by 404, and has to shake hands again. An open event stream is use.
"""

MOST_SESSIONS = 1_000
"""Sessions that are kept at a time, of some 40 KB each."""

_SESSION = "mcp-session-id"


class BoundedSessions:
    """The application with at most so many sessions: the one unused for longest makes room for a new one.

    The SDK has a bound as well, but turns new clients away there: one program that shakes hands for each of its
    questions would lock out everybody else. Sessions with an open request are never ended here.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_SESSIONS) -> None:
        self._app = app
        self._most = most
        self._open_requests: dict[str, int] = {}
        """Of each session, the one unused for longest first. Sessions that have ended leave as if they were unused."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif session := Headers(scope=scope).get(_SESSION):
            await self._use(session, scope, receive, send)
        else:
            await self._begin(scope, receive, send)

    async def _use(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        if session not in self._open_requests:
            await self._app(scope, receive, send)
            return
        self._open_requests[session] = self._open_requests.pop(session) + 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open_requests[session] -= 1

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = MutableHeaders(scope=message).get(_SESSION)
                if session is not None:
                    self._open_requests[session] = 0
            await send(message)

        await self._app(scope, receive, noting)
        while len(self._open_requests) > self._most and (unused := self._longest_unused()):
            del self._open_requests[unused]
            await self._end(unused, scope)

    def _longest_unused(self) -> str | None:
        return next((session for session, requests in self._open_requests.items() if not requests), None)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session as its client would, in the place of that client."""
        headers = [(b"host", Headers(scope=scope)["host"].encode()), (_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Nobody waits for the answer."""

        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, send)
