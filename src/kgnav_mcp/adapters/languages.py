"""The order of languages, the same for every store."""

from __future__ import annotations

from collections.abc import Sequence


def language_rank(language: str | None, preferred: Sequence[str]) -> tuple[int, bool]:
    """The place of a language among the preferred ones, then whether it is a region's form (RFC 4647, section 3.3.1).

    `en` comes before `en-GB`, both in the place of `en`. Behind the preferred ones come texts without a language, then
    all other languages.
    """
    if not language:
        return len(preferred), False
    tag = language.lower()
    for place, wanted in enumerate(map(str.lower, preferred)):
        if tag == wanted or tag.startswith(f"{wanted}-"):
            return place, tag != wanted
    return len(preferred) + 1, False
