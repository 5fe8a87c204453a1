"""A server whose one graph never opens: what a client that cancels a call, or leaves, has to do with. Run by tests."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from unittest.mock import create_autospec, patch

import anyio

from kgnav_mcp.config import HttpSettings, Settings
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.server.transport import serve_http, serve_stdio


async def open_forever() -> None:
    """Never done; says on stderr when it begins and when it has stopped, and prints where it must not.

    Like a store that has to end a query it takes a moment to stop.
    """
    sys.stdout.write("a stray print\n")
    sys.stdout.flush()
    sys.stderr.write("the call has begun\n")
    try:
        await asyncio.Event().wait()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.3)
        sys.stderr.write("the call has stopped\n")


def main() -> None:
    """Serve it, over HTTP where the first argument says so."""
    adapter: Any = create_autospec(GraphAdapter, instance=True)
    adapter.open.side_effect = open_forever
    with patch("kgnav_mcp.app.open_adapter", return_value=adapter):
        if sys.argv[1:] == ["http"]:
            serve_http(Settings(http=HttpSettings(port=0)))
        else:
            serve_stdio(Settings())


if __name__ == "__main__":
    main()
