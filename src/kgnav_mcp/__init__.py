"""Walk a knowledge graph from any MCP client: see the relations that leave an entity, follow one, prove the answer."""

from importlib.metadata import version

__version__ = version("kgnav-mcp")
