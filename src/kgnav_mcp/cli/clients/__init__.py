"""The usual MCP clients: where each keeps its servers, and how an entry for this one is written there."""

from kgnav_mcp.cli.clients.entry import NAME, ServerEntry, server_command
from kgnav_mcp.cli.clients.machine import Machine
from kgnav_mcp.cli.clients.registry import CLIENTS, Client

__all__ = ["CLIENTS", "NAME", "Client", "Machine", "ServerEntry", "server_command"]
