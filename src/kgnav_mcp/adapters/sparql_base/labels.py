"""Chooses which of an entity's names to show: by preferred language, and always the same one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rdflib import Literal

from kgnav_mcp.adapters.naming import language_rank
from kgnav_mcp.adapters.sparql_base.terms import Fragment, fill

_VARIABLE = re.compile(r"\?\w+")


def preferred(labels: Iterable[Literal], languages: Sequence[str]) -> Literal | None:
    """The label to show: by language, then the first in alphabetical order; None where there is none."""
    return min(labels, key=lambda label: (*label_rank(label, languages), str(label)), default=None)


def label_rank(label: Literal, languages: Sequence[str]) -> tuple[int, str]:
    """Sort key of a label: the rank of its language; unwanted languages by their tags."""
    return language_rank(label.language, languages), label.language or ""


def in_languages(variable: str, languages: Sequence[str]) -> Fragment:
    """A condition for `FILTER ($condition)` that keeps texts in one of the languages, or without one. Uses no index.

    Raises:
        ValueError: `variable` is not of the form `?name`.
    """
    if _VARIABLE.fullmatch(variable) is None:
        raise ValueError(f"{variable!r} is no variable")
    tag = f"LANG({variable})"
    matches = [fill(f"LANGMATCHES({tag}, $language)", language=Literal(language)) for language in languages]
    return Fragment(" || ".join([f'{tag} = ""', *matches]))
