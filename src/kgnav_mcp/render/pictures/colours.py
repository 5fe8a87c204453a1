"""The colour of each role, from Okabe and Ito's palette, which is safe for all kinds of colour blindness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kgnav_mcp.model import Role

FILLS: Final[Mapping[Role, tuple[str, str]]] = {
    Role.TOPIC: ("#0072b2", "#ffffff"),
    Role.ANSWER: ("#e69f00", "#000000"),
    Role.VISITED: ("#56b4e9", "#000000"),
}
"""Fill of a shape and colour of the text on it. Nodes that were only seen take the colours of the background."""
PROOF: Final = "#d55e00"
"""The colour of edges that prove an answer, readable on white and on black."""
