"""Rankers that need more than Python: a sentence model (`semantic`) and a language model (`llm`).

BM25, the default, is `kgnav_mcp.navigation.ranking.bm25`. Nothing of these two is imported unless it is chosen.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from kgnav_mcp.config import Settings
from kgnav_mcp.navigation.ranking import Ranker, bm25


def make_ranker(settings: Settings, closing: AsyncExitStack) -> Ranker:
    """The ranker that the settings choose; what it holds open is closed with `closing`.

    Raises:
        MissingDriver: a package it needs is not installed.
        ConfigurationError: a setting it needs, or the weights of its model, are missing.
    """
    match settings.ranker:
        case "bm25":
            return bm25
        case "semantic":
            from kgnav_mcp.rankers.semantic import semantic_ranker  # noqa: PLC0415 - paid for by who chooses it

            return semantic_ranker()
        case "llm":
            from kgnav_mcp.rankers.llm import llm_ranker  # noqa: PLC0415 - paid for by who chooses it

            return llm_ranker(settings.llm, settings.top_k, closing)
