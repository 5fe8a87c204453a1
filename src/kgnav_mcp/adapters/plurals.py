"""Singular and plural forms of English nouns, guessed from their endings."""

from __future__ import annotations

import re
from itertools import takewhile

_ENDINGS = (
    ("y", "ies"),
    ("a", "ae"),
    ("um", "a"),
    ("on", "a"),
    ("us", "i"),
    ("is", "es"),
    ("ex", "ices"),
    ("ix", "ices"),
    ("ma", "mata"),
    ("eau", "eaux"),
    ("f", "ves"),
    ("fe", "ves"),
    ("man", "men"),
    ("child", "children"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("goose", "geese"),
    ("mouse", "mice"),
    ("person", "people"),
    ("genus", "genera"),
    ("corpus", "corpora"),
    *((ending, f"{ending}es") for ending in ("s", "x", "z", "ch", "sh", "o")),
)
"""Endings of a singular and of its plural, besides the plain `s`."""

_PAIRS = (*_ENDINGS, *((plural, singular) for singular, plural in _ENDINGS))
_OTHER_ENDINGS = {ending: [other for one, other in _PAIRS if one == ending] for ending, _ in _PAIRS}
"""For an ending of a singular or a plural, the endings that may take its place."""

_LONGEST_ENDING = max(map(len, _OTHER_ENDINGS))

_MIN_LENGTH = 3
"""The shortest word, in letters, that is given another form."""

_MAX_LENGTH, _MAX_WORDS = 200, 12
"""The longest name, in characters and in words, that is given other forms."""

_WORD = re.compile(r"[^\W_]+")


def singular_or_plural_forms(word: str) -> list[str]:
    """Possible plurals of a lower-case singular word, or singulars of a plural: `nebula` gives `nebulas` and `nebulae`.

    Every ending is tried, so some forms are not real words. They are for looking up and comparing only.
    """
    forms = [word.removesuffix("s")] if word.endswith("s") and not word.endswith("ss") else [f"{word}s"]
    for length in range(1, min(_LONGEST_ENDING, len(word)) + 1):
        forms += [word[:-length] + ending for ending in _OTHER_ENDINGS.get(word[-length:], ())]
    return [form for form in dict.fromkeys(forms) if min(len(form), len(word)) >= _MIN_LENGTH]


def equal_but_for_plurals(words: list[str], others: list[str]) -> bool:
    """Whether two lists of lower-case words are equal, apart from singular and plural."""
    return len(words) == len(others) and all(
        word == other or other in singular_or_plural_forms(word) for word, other in zip(words, others, strict=True)
    )


def plural_variants(text: str) -> list[str]:
    """Variants of a name with one word changed between singular and plural. Variants of the last word come first.

    Empty for a text too long to be a name.
    """
    found: list[str] = []
    matches = list(_WORD.finditer(text)) if len(text) <= _MAX_LENGTH else []
    for match in reversed(matches) if len(matches) <= _MAX_WORDS else ():
        word = match[0]
        for form in singular_or_plural_forms(word.lower()):
            shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(word.lower(), form, strict=False))))
            found.append(text[: match.start()] + word[:shared] + form[shared:] + text[match.end() :])
    return list(dict.fromkeys(found))
