"""The floor: a server of the `mcp` package with one tool that does nothing. `python -m kgnav_bench.noop` serves it."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

TOOL = "noop"


def noop(text: str) -> str:
    """Give the text back."""
    return text


def main() -> None:
    """Serve on stdin and stdout until the client closes them."""
    server = MCPServer[None]("noop", log_level="WARNING")
    server.add_tool(noop, name=TOOL, structured_output=False)
    server.run("stdio")


if __name__ == "__main__":
    main()
