"""Okabe and Ito's colours, which people with any kind of colour blindness tell apart, for each role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kgnav_mcp.model import Role

FILLS: Final[Mapping[Role, tuple[str, str]]] = {
    Role.TOPIC: ("#0072b2", "#ffffff"),
    Role.ANSWER: ("#e69f00", "#000000"),
    Role.VISITED: ("#56b4e9", "#000000"),
}
"""The fill of a shape and the colour of text on it, on any background. What was only seen has the background's own."""
PROOF: Final = "#d55e00"
"""The colour of edges that prove an answer, readable on white and on black."""
