"""Words of an identifier: split at dots, slashes, underscores, punctuation and camel case."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> list[str]:
    """The lower-case words of an id or a sentence: `people.person.placeOfBirth_2` gives people, person, place, ...

    Letters outside ASCII stay together, so that names in any script are words.
    """
    return [match.lower() for match in _WORD.findall(text)]
