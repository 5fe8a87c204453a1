"""English nouns in the singular and in the plural, told by their endings."""

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
"""How a singular and its plural end, beside a plain `s`."""

_SHORTEST = 3
"""Letters of the shortest noun that has two forms."""

_LONGEST, _MOST_WORDS = 200, 12
"""Characters and words of the longest name that is written in its other numbers."""

_WORD = re.compile(r"[^\W_]+")


def other_numbers(word: str) -> list[str]:
    """What a lower-case word may be in the other number: `nebula` gives `nebulas` and `nebulae`.

    Every ending is tried, so that some forms are no words: they are for looking up, or for comparing with a word.
    """
    forms = [word.removesuffix("s")] if word.endswith("s") and not word.endswith("ss") else [f"{word}s"]
    for singular, plural in _ENDINGS:
        for old, new in ((singular, plural), (plural, singular)):
            if word.endswith(old):
                forms.append(word.removesuffix(old) + new)
    return [form for form in dict.fromkeys(forms) if min(len(form), len(word)) >= _SHORTEST]


def same_but_number(words: list[str], others: list[str]) -> bool:
    """Whether two phrases of lower-case words differ by singular and plural alone, if they differ."""
    return len(words) == len(others) and all(
        word == other or other in other_numbers(word) for word, other in zip(words, others, strict=True)
    )


def in_other_numbers(text: str) -> list[str]:
    """A name with one of its words in the other number, the last word first, the rest as it is spelt.

    None for what is longer than a name.
    """
    found: list[str] = []
    matches = list(_WORD.finditer(text)) if len(text) <= _LONGEST else []
    for match in reversed(matches) if len(matches) <= _MOST_WORDS else ():
        word = match[0]
        for form in other_numbers(word.lower()):
            kept = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(word.lower(), form, strict=False))))
            found.append(text[: match.start()] + word[:kept] + form[kept:] + text[match.end() :])
    return list(dict.fromkeys(found))
