"""Runs the server: on stdio for the client that starts it, or on streamable HTTP for many clients.

Over HTTP the Host and Origin of every request are checked at any address: a web page must not reach a local server by
DNS rebinding, and the SDK checks only on loopback addresses.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import re
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from typing import cast

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgnav_mcp.app import App
from kgnav_mcp.config import HttpSettings, LogLevel, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.server import build_server
from kgnav_mcp.server.sessions import RETRY_MS, SESSION_IDLE_S, BoundedSessions, RecentEvents

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to

_METHODS = ("GET", "POST", "DELETE")
_HEADERS = ("authorization", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")
"""Headers that MCP clients of either protocol version send, besides those that a web page may always send."""


def transport_security(http: HttpSettings) -> TransportSecuritySettings:
    """The accepted Host and Origin headers: this machine's own names, and the configured ones.

    A name without a port is accepted with any port, since a proxy may listen on another one. A server bound to all
    addresses knows only the loopback names: its public names must be configured.
    """
    hosts = () if http.host in (*ANY_ADDRESS, *LOOPBACK) else (url_host(http.host),)
    local = _at_any_port(*LOOPBACK, *hosts)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*local, *_at_any_port(*http.allowed_hosts)],
        allowed_origins=[
            *(f"{scheme}://{name}" for scheme in ("http", "https") for name in local),
            *http.allowed_origins,
        ],
    )


class CrossOrigin(CORSMiddleware):
    """CORS for the accepted origins. Requests of other origins are passed on, and the application refuses them."""

    def __init__(self, app: ASGIApp, http: HttpSettings) -> None:
        super().__init__(
            app,
            allow_methods=_METHODS,
            allow_headers=_HEADERS,
            allow_origin_regex="|".join(map(_pattern, transport_security(http).allowed_origins)),
            expose_headers=("mcp-session-id",),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        if origin is not None and self.is_allowed_origin(origin):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _pattern(origin: str) -> str:
    """The regular expression of an allowed origin. `:*` matches any port."""
    name, any_port, _ = origin.partition(":*")
    return re.escape(name) + (r":\d+" if any_port else "")


def _at_any_port(*names: str) -> list[str]:
    return [form for name in names for form in (name, f"{name}:*")]


def url_host(host: str) -> str:
    """The host as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


_PATH = "/mcp"
_STRUCTURED_PATH = "/mcp/structured"
_GRACE_S = 0.3
"""Seconds to wait for open requests when the server stops, and again after they are cancelled: it ends within a second.

A client's event stream never ends by itself, and a heavy plan not soon.
"""


def serve_stdio(settings: Settings) -> None:
    """Serve on stdin and stdout until the client closes them. Nothing but messages is ever written to stdout.

    A signal ends the process at once: there is no unfinished work to save, and if stdin is a terminal the thread that
    waits for its next line could not be stopped.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server = build_server(App(settings))
    _prepare_interpreter()
    anyio.run(server.run_stdio_async)


_SWITCH_S = 0.0001
"""Interpreter switch interval in seconds (`sys.setswitchinterval`).

A call switches threads dozens of times, once for each row that SQLite reads. With Python's default of 5 ms a plan that
computes in another thread delays each switch. Beside two heavy plans, 19 of 20 calls took 15 to 20 ms instead of 35
with 0.5 ms.
"""


_FULL_COLLECTION = 1000
"""Collections of younger objects before a full one, instead of Python's 10.

A full one scans the rows of running plans, and no other thread runs meanwhile: 65 ms with 300,000 rows.
"""

_M_ARENA_MAX = -8
"""The option of glibc's `mallopt` for the number of its arenas.

By default each thread has its own, and keeps what it frees: two plans in turn took twice the memory.
"""


def _prepare_interpreter() -> None:
    """Let threads switch more often and share freed memory, and make full garbage collections short and rare.

    The server's objects live as long as the process. A full collection would scan them every few dozen calls, for 50
    ms.
    """
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], _FULL_COLLECTION)
    with suppress(AttributeError, OSError, TypeError):  # another C library than glibc has no arenas
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def serve_http(settings: Settings) -> None:
    """Serve streamable HTTP at /mcp and /mcp/structured until interrupted. The URLs are printed on stderr.

    Raises:
        ConfigurationError: the server cannot listen at the address.
    """
    served = application(App(settings))
    _prepare_interpreter()
    listen(served, settings.http, settings.log_level)


def application(app: App, *, session_idle_s: float = SESSION_IDLE_S) -> ASGIApp:
    """The server as an ASGI application that checks Host and Origin headers.

    Answers have the configured form at /mcp, and are always structured content at /mcp/structured.
    """
    http = app.settings.http
    events = RecentEvents()
    parts = [
        server.streamable_http_app(
            host=http.host,
            streamable_http_path=path,
            event_store=events,
            retry_interval=RETRY_MS,
            session_idle_timeout=session_idle_s,
            transport_security=transport_security(http),
        )
        for path, server in ((_PATH, build_server(app)), (_STRUCTURED_PATH, build_server(app, structured=True)))
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as running:
            for part in parts:
                await running.enter_async_context(part.router.lifespan_context(part))
            yield

    return with_request_guards(
        Starlette(routes=[route for part in parts for route in part.routes], lifespan=lifespan), http
    )


def with_request_guards(app: ASGIApp, http: HttpSettings) -> ASGIApp:
    """The application with CORS answers for browsers, and with a limit on sessions that refuses no new client."""
    return CrossOrigin(BoundedSessions(app), http)


def listen(app: ASGIApp, http: HttpSettings, log_level: LogLevel) -> None:
    """Serve this application over HTTP until interrupted.

    Raises:
        ConfigurationError: the server cannot listen at the address.
    """
    from kgnav_mcp.server import connections  # noqa: PLC0415 - its HTTP parser is not needed on stdio

    sockets = listening_sockets(http)
    for bound in sockets:
        sys.stderr.write(f"Serving MCP at {_url(bound, _PATH)}\n")
        sys.stderr.write(f"Answers as structured content at {_url(bound, _STRUCTURED_PATH)}\n")
    if http.host in ANY_ADDRESS and not http.allowed_hosts:
        sys.stderr.write(f"Only requests for {', '.join(LOOPBACK)} are accepted: add hosts by --http-allowed-hosts.\n")
    # Without its own log configuration uvicorn uses the root logger's: stderr.
    limits = connections.ConnectionLimits.of_process(http.connections)
    config = uvicorn.Config(
        _Interruptible(app),
        http=connections.bounded_connections(limits.connections),
        backlog=limits.backlog,
        ws="none",
        timeout_keep_alive=connections.KEEP_ALIVE_S,
        log_level=log_level.lower(),
        log_config=None,
        timeout_graceful_shutdown=_GRACE_S,  # pyright: ignore[reportArgumentType] - asyncio takes fractions, too
    )
    anyio.run(uvicorn.Server(config).serve, sockets)


class _Interruptible:
    """The application with a clean shutdown of requests that are open when the server stops.

    uvicorn cancels them after a while, logs each as a crash, and closes the application without waiting for them. Here
    they are answered with 503, and the application closes after them, so that their clean-up can still use the graph.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = set[asyncio.Task[None]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def after_requests() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._open:
                await asyncio.wait(self._open, timeout=_GRACE_S)
            return message

        if scope["type"] == "lifespan":
            await self._app(scope, after_requests, send)
            return
        task = cast("asyncio.Task[None]", asyncio.current_task())  # uvicorn runs each request in its own task
        self._open.add(task)
        try:
            await self._answer(scope, receive, send)
        finally:
            self._open.discard(task)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            if not started:
                await send({"type": "http.response.start", "status": HTTPStatus.SERVICE_UNAVAILABLE, "headers": []})
                await send({"type": "http.response.body", "body": b"The server is shutting down."})


def listening_sockets(http: HttpSettings) -> list[socket.socket]:
    """Listening sockets for all addresses of the host, all on one port. `localhost` may have two addresses.

    Raises:
        ConfigurationError: the host has no address on this machine, or the port is in use.
    """
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(http):
            port = bound[0].getsockname()[1] if bound else http.port
            created = socket.create_server((address, port), family=family)
            # IPPROTO_TCP must be explicit: otherwise asyncio leaves Nagle's algorithm on, which delays every answer's
            # second packet by 40 ms.
            bound.append(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, created.detach()))
    except OSError as error:
        # A name may have an address of a protocol that this machine has disabled.
        if error.errno != errno.EADDRNOTAVAIL or not bound:
            for opened in bound:
                opened.close()
            reason = (error.strerror or str(error)).partition(" (")[0]
            raise ConfigurationError(
                f"cannot listen on {url_host(http.host)}:{http.port}: {reason}",
                next_step="Choose another address with --http HOST:PORT; port 0 takes any free one.",
            ) from error
    return bound


def _addresses(http: HttpSettings) -> list[tuple[int, str]]:
    """The addresses of the host with their families, IPv4 first."""
    infos = socket.getaddrinfo(http.host, http.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return sorted({(int(family), str(address[0])) for family, _, _, _, address in infos})


def _url(bound: socket.socket, path: str) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://{url_host(host)}:{port}{path}"
