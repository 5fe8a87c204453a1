"""The order of languages, the same for every store."""

from __future__ import annotations

from collections.abc import Sequence


def language_rank(language: str | None, preferred: Sequence[str]) -> int:
    """The place of a language: the preferred ones, texts without a language, then all other languages alike.

    A preferred language comes before its regional forms: `en`, then `en-GB` (RFC 4647, section 3.3.1).
    """
    if not language:
        return 2 * len(preferred)
    tag = language.lower()
    for place, wanted in enumerate(map(str.lower, preferred)):
        if tag == wanted or tag.startswith(f"{wanted}-"):
            return 2 * place + (tag != wanted)
    return 2 * len(preferred) + 1
