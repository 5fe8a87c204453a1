"""Relations re-ranked by a language model, over any API with OpenAI's chat completions (GraphWalker, re-ranking).

request     makes the request and parses the answer, without I/O
ranking     the ranker: calls the model with a time limit, and falls back to BM25
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from kgnav_mcp.config import LlmSettings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.rankers.llm.ranking import LlmRanker

__all__ = ["LlmRanker", "llm_ranker"]


def llm_ranker(settings: LlmSettings, best: int, closing: AsyncExitStack) -> LlmRanker:
    """The ranker for the configured endpoint, which is asked for `best` relations. It does not connect yet.

    Raises:
        ConfigurationError: no endpoint or no model is configured.
    """
    for name, value in (("base_url", settings.base_url), ("model", settings.model)):
        if not value:
            raise ConfigurationError(
                f"the ranker llm needs the setting llm.{name}",
                next_step=f"Set KGNAV_LLM__{name.upper()}, or `{name}` under [llm] in kgnav.toml.",
            )
    key = settings.api_key.get_secret_value()
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(
            "llm.api_key has characters that no HTTP header can carry",
            next_step="Copy the key anew, without a line break or quotation marks around it.",
        )
    ranker = LlmRanker(settings, best)
    closing.push_async_callback(ranker.close)
    return ranker
