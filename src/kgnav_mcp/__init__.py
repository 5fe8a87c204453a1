"""An MCP server that lets a client navigate knowledge graphs."""

from importlib.metadata import version

__version__ = version("kgnav-mcp")
