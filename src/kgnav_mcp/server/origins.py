"""Checks the Host and Origin headers of HTTP requests, and answers CORS requests of browsers."""

from __future__ import annotations

import re

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from kgnav_mcp.config import HttpSettings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to

_METHODS = ("GET", "POST", "DELETE")
_HEADERS = ("authorization", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")
"""Headers that MCP clients of either protocol generation send, besides those that a web page may always send."""


def transport_security(http: HttpSettings) -> TransportSecuritySettings:
    """The accepted Host and Origin headers: this machine's own names, and the configured ones.

    A name without a port is accepted with any port, since a proxy may listen on another one. A server bound to all
    addresses knows only the loopback names: its public names must be configured.
    """
    own = () if http.host in (*ANY_ADDRESS, *LOOPBACK) else (url_host(http.host),)
    local = _at_any_port(*LOOPBACK, *own)
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
