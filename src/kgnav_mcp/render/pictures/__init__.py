"""Pictures of a trail's walk. Roles differ by shape as well as colour. Text of the graph is escaped."""

from __future__ import annotations

from kgnav_mcp.render.pictures.mermaid import mermaid
from kgnav_mcp.render.pictures.svg import svg

__all__ = ["mermaid", "svg"]
