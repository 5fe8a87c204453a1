"""The baseline: a bare server of the `mcp` package with one tool that does nothing.

`python -m kgnav_bench.noop` serves over stdio, and with the argument `http` over HTTP on a free port.
"""

from __future__ import annotations

import socket
import sys

from mcp.server.mcpserver import MCPServer

TOOL = "noop"


def noop(text: str) -> str:
    """Return the text."""
    return text


def main() -> None:
    """Serve until the client closes stdin, or until the process is ended."""
    server = MCPServer[None]("noop", log_level="WARNING")
    server.add_tool(noop, name=TOOL, structured_output=False)
    if sys.argv[1:] == ["http"]:
        _serve_http(server)
    else:
        server.run("stdio")


def _serve_http(server: MCPServer[None]) -> None:
    import uvicorn  # noqa: PLC0415 - stdio starts without it

    with socket.socket(
        proto=socket.IPPROTO_TCP
    ) as listening:  # without the explicit protocol, uvicorn's answers are 40 ms late
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        host, port = listening.getsockname()
        sys.stderr.write(f"Serving MCP at http://{host}:{port}/mcp\n")
        uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_config=None, timeout_keep_alive=60)).run(
            [listening]
        )


if __name__ == "__main__":
    main()
