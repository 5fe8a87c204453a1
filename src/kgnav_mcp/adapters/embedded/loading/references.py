"""Ids as users write them, in options and in files of names: as they are stored, or short by a prefix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kgnav_mcp.adapters.embedded.ids import Prefixes
from kgnav_mcp.adapters.wellknown import PREFIXES

_NEAREST = 3


def known_prefixes(declared: Mapping[str, str]) -> dict[str, str]:
    """The prefixes that sources declare, then the well-known ones."""
    return {**declared, **{prefix: iri for prefix, iri in PREFIXES.items() if prefix not in declared}}


class References:
    """What ids may mean, by the prefixes of the sources and the well-known ones."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self._prefixes = Prefixes(known_prefixes(declared))

    def keys(self, reference: str) -> tuple[str, ...]:
        """The stored ids that a text may mean, the text itself first."""
        return self._prefixes.keys(reference)

    def short(self, key: str) -> str:
        """The form of a stored id that answers print."""
        return self._prefixes.short(key)

    def stored(self, reference: str, stored: Collection[str]) -> str | None:
        """The stored id that a text means; None where it means none."""
        return next((key for key in self.keys(reference) if key in stored), None)

    def nearest(self, reference: str, stored: Collection[str]) -> Sequence[str]:
        """The stored ids that are most like a text, in their short form, the best first."""
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong id needs it

        short = sorted(map(self.short, stored))
        return [found for found, _, _ in process.extract(reference, short, scorer=fuzz.WRatio, limit=_NEAREST)]
