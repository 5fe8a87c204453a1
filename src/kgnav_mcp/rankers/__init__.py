"""Optional rankers: a sentence model (`semantic`) and a language model (`llm`).

BM25, the default, is `kgnav_mcp.navigation.relation_lists.bm25`. The modules of the other two are imported only if they
are configured.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from kgnav_mcp.config import Settings
from kgnav_mcp.navigation.relation_lists import Ranker, bm25
from kgnav_mcp.port.terms import Embedder, MeaningOptions


def meaning_options(settings: Settings) -> MeaningOptions:
    """How adapters find entities by meaning. The first search that has an index loads the model.

    Raises:
        MissingDriver, ConfigurationError: indexes are to be built, and the model is not installed.
    """

    def load() -> Embedder:
        from kgnav_mcp.rankers.semantic import load_embedder  # noqa: PLC0415 - imported only if there is an index

        return load_embedder()

    if settings.semantic:
        from kgnav_mcp.rankers.semantic import model_folder  # noqa: PLC0415 - imported only if configured

        model_folder()
    return MeaningOptions(load, settings.similarity, settings.semantic)


def make_ranker(settings: Settings, closing: AsyncExitStack) -> Ranker:
    """The configured ranker. Its connections are closed with `closing`.

    Raises:
        MissingDriver: a package it needs is not installed.
        ConfigurationError: a setting it needs, or the weights of its model, are missing.
    """
    match settings.ranker:
        case "bm25":
            return bm25
        case "semantic":
            from kgnav_mcp.rankers.semantic import semantic_ranker  # noqa: PLC0415 - imported only if configured

            return semantic_ranker()
        case "llm":
            from kgnav_mcp.rankers.llm import llm_ranker  # noqa: PLC0415 - imported only if configured

            return llm_ranker(settings.llm, settings.top_k, closing)
