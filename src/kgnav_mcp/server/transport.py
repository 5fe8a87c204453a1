"""Running the server: on stdio for clients that start it, on streamable HTTP for those that reach it.

Over HTTP the Host and Origin of every request are checked whatever the address it is bound to: a page in a browser
must not reach a local server by DNS rebinding, and the SDK checks by itself on loopback addresses only.
"""

from __future__ import annotations

import anyio
from mcp.server.transport_security import TransportSecuritySettings

from kgnav_mcp.app import App
from kgnav_mcp.config import HttpSettings, Settings
from kgnav_mcp.server import build_server

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


def serve_stdio(settings: Settings) -> None:
    """Serve on stdin and stdout until the client closes them. Nothing else is ever written to stdout."""
    anyio.run(build_server(App(settings)).run_stdio_async)


def serve_http(settings: Settings) -> None:
    """Serve streamable HTTP at /mcp until interrupted."""
    http = settings.http
    server = build_server(App(settings))

    async def serve() -> None:
        await server.run_streamable_http_async(
            host=http.host, port=http.port, transport_security=transport_security(http)
        )

    anyio.run(serve)


def transport_security(http: HttpSettings) -> TransportSecuritySettings:
    """The Host and Origin headers that are let in: this machine's own names, and those that are configured.

    A server bound to every address knows no name of its own beside loopback: its public names must be configured.
    """
    own = () if http.host in (*_EVERY_ADDRESS, *_LOOPBACK) else (_bracketed(http.host),)
    hosts = [name for host in (*_LOOPBACK, *own) for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *http.allowed_hosts],
        allowed_origins=[*origins, *http.allowed_origins],
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
