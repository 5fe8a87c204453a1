"""Limits on HTTP connections: their number, and the time a client may take to send a request.

Without them, a thousand idle sockets use up the process's file descriptors, and the server can no longer open a graph.
A call that is being answered and an open event stream have no time limit here.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar, Self, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEADERS_S = 10.0
"""Seconds until the headers of a request must be complete: from the connection, or from the request's first byte."""
BODY_S = 30.0
"""Seconds from the headers until the body of a request must be complete."""
KEEP_ALIVE_S = 75
"""Seconds that a connection may be idle between two requests."""

_RETRY_S = 5
"""Value of Retry-After, in seconds, when there are too many connections."""
_MAX_CONNECTIONS = 10_000
"""Connections where the process may open more files than are needed for them: each takes some 50 KB."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The number of open connections, and of those that the system accepts before the server sees the first of them."""

    connections: int
    backlog: int

    @classmethod
    def of_process(cls, connections: int = 0) -> Self:
        """The limits for this number of connections; 0: as many as the process's limit of open files allows.

        Of these files three eighths are kept for graphs, stores, and connections that are being refused.
        """
        files = _most_open_files()
        return cls(connections or max(min(files * 5 // 8, _MAX_CONNECTIONS), 1), max(min(files // 10, 2_048), 1))


def _most_open_files() -> int:
    if sys.platform == "win32":
        return 2 * _MAX_CONNECTIONS
    import resource  # noqa: PLC0415 - it exists on POSIX only

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * _MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft


def bounded_connections(limit: int) -> type[H11Protocol]:
    """The protocol of uvicorn for one server, with at most this many connections at a time."""
    return type("Connection", (BoundedConnection,), {"limit": limit})


class BoundedConnection(H11Protocol):
    """One connection. Over the limit it is answered with 503, and a request that does not arrive in time with 408."""

    limit: ClassVar[int]

    _deadline: asyncio.TimerHandle | None = None
    _is_sending_body = False
    """Whether the deadline is that of a body, not that of headers."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request, or refuse the connection."""
        super().connection_made(transport)
        if len(self.connections) > self.limit:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"Retry-After: {_RETRY_S}\r\n")
        else:
            self._expect(HEADERS_S)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """End the request. The connection is idle now, or the next request has begun to arrive."""
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._cancel()
        super().connection_lost(exc)

    def _update(self) -> None:
        """Set the deadline for what the client has to send next."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        if cycle is not None and not cycle.response_complete:
            if not cycle.more_body:
                self._cancel()
            elif self._deadline is None or not self._is_sending_body:
                self._expect(BODY_S, body=True)
        elif self._is_sending_body or (self._deadline is None and self.timeout_keep_alive_task is None):
            self._expect(HEADERS_S)

    def _expect(self, seconds: float, *, body: bool = False) -> None:
        self._cancel()
        self._is_sending_body = body
        self._deadline = self.loop.call_later(seconds, self._time_out)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline, self._is_sending_body = None, False

    def _time_out(self) -> None:
        has_part, _ = self.conn.trailing_data
        if has_part or (self._is_sending_body and not self.cycle.response_started):
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.transport.close()

    def _refuse(self, status: HTTPStatus, headers: str = "") -> None:
        """Send an answer without content and close the connection."""
        lines = f"HTTP/1.1 {status.value} {status.phrase}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
        self.transport.write(lines.encode("ascii"))
        self.transport.close()
