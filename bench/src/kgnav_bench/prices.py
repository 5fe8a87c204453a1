"""The price of a model's tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kgnav_bench.records import Tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """The price of prompt tokens that were read from a cache; None: that of `prompt`."""

    def of(self, requests: Iterable[Tokens]) -> float:
        """The price of requests in US dollars, given the tokens of each."""
        cached = self.prompt if self.cached is None else self.cached
        return (
            sum(
                (tokens.prompt - tokens.cached) * self.prompt
                + tokens.cached * cached
                + tokens.completion * self.completion
                for tokens in requests
            )
            / 1e6
        )
