"""Which of an entity's names to show: the preferred language's, and always the same one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rdflib import Literal

from kgnav_mcp.adapters.sparql.terms import Terms, fill

_VARIABLE = re.compile(r"\?\w+")


def preferred(labels: Iterable[Literal], languages: Sequence[str]) -> Literal | None:
    """The label to show, None where there is none.

    A language of the list comes before one behind it, and its plain tag (`en`) before a region's (`en-GB`); then come
    labels without a language, then all others. Among equals the first in the order of texts is taken.
    """
    return min(labels, key=lambda label: (_rank(label, languages), label.language or "", str(label)), default=None)


def in_languages(variable: str, languages: Sequence[str]) -> Terms:
    """A condition for `FILTER ($condition)` that keeps texts in one of the languages, or in none; reads no index.

    Raises:
        ValueError: `variable` is not written `?name`.
    """
    if _VARIABLE.fullmatch(variable) is None:
        raise ValueError(f"{variable!r} is no variable")
    tag = f"LANG({variable})"
    matches = [fill(f"LANGMATCHES({tag}, $language)", language=Literal(language)) for language in languages]
    return Terms(" || ".join([f'{tag} = ""', *matches]))


def _rank(label: Literal, languages: Sequence[str]) -> tuple[int, int]:
    """Place in the list of languages, and 1 for a region's form of one (RFC 4647, section 3.3.1)."""
    tag = (label.language or "").lower()
    if not tag:
        return len(languages), 0
    for place, language in enumerate(map(str.lower, languages)):
        if tag == language:
            return place, 0
        if tag.startswith(f"{language}-"):
            return place, 1
    return len(languages) + 1, 0
