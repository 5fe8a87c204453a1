"""Pictures of what a trail walked. Roles differ by shape as well as by colour, and text of the graph stays text."""

from __future__ import annotations

from kgnav_mcp.render.pictures.mermaid import mermaid
from kgnav_mcp.render.pictures.svg import svg

__all__ = ["mermaid", "svg"]
