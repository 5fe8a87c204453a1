"""The order in which languages are preferred. Shared by all stores."""

from __future__ import annotations

from collections.abc import Sequence

ANY_LANGUAGE = "mul"
"""The tag of a text that serves in every language (ISO 639-2), as Wikidata's default labels do."""


def language_rank(language: str | None, preferred: Sequence[str]) -> int:
    """The rank of a text's language, best first: the preferred languages in their order, no language, any other.

    A preferred language ranks before its regional forms: `en`, then `en-GB` (RFC 4647, section 3.3.1).
    """
    if not language or language == ANY_LANGUAGE:
        return 2 * len(preferred)
    tag = language.lower()
    for place, wanted in enumerate(map(str.lower, preferred)):
        if tag == wanted or tag.startswith(f"{wanted}-"):
            return 2 * place + (tag != wanted)
    return 2 * len(preferred) + 1
