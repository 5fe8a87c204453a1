"""Who is let in over HTTP: the Host and Origin headers to accept, and what a browser is told about them."""

from __future__ import annotations

import re

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from kgnav_mcp.config import HttpSettings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to

_METHODS = ("GET", "POST", "DELETE")
_HEADERS = ("authorization", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")
"""What clients of either era send, beside the headers that a page may always send."""


def transport_security(http: HttpSettings) -> TransportSecuritySettings:
    """The Host and Origin headers that are let in: this machine's own names, and those that are configured.

    A name without a port stands for itself at any port: the port that a client names is the one it has to use, behind
    a proxy another than ours. A server bound to every address knows no name of its own beside loopback: its public
    names must be configured.
    """
    own = () if http.host in (*EVERY_ADDRESS, *LOOPBACK) else (bracketed(http.host),)
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
    """The application for browsers, whose pages are of other origins.

    Only those that are let in are told what they may do: requests of the others reach the application, which turns
    them away.
    """

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
    """The regular expression of an allowed origin, which may stand for any port."""
    name, any_port, _ = origin.partition(":*")
    return re.escape(name) + (r":\d+" if any_port else "")


def _at_any_port(*names: str) -> list[str]:
    return [form for name in names for form in (name, f"{name}:*")]


def bracketed(host: str) -> str:
    """A host as URLs and headers have it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
