"""Variants of a name: its last word in the singular or the plural, or one typo."""

from __future__ import annotations

import random
import re
from string import ascii_lowercase

_LATIN = {
    "nebula": "nebulae",
    "nova": "novae",
    "corona": "coronae",
    "alga": "algae",
    "spectrum": "spectra",
    "continuum": "continua",
    "bacterium": "bacteria",
    "phenomenon": "phenomena",
    "criterion": "criteria",
    "nucleus": "nuclei",
    "radius": "radii",
    "analysis": "analyses",
    "hypothesis": "hypotheses",
    "synthesis": "syntheses",
    "crisis": "crises",
    "axis": "axes",
    "index": "indices",
    "matrix": "matrices",
    "vertex": "vertices",
    "woman": "women",
    "man": "men",
    "child": "children",
    "person": "people",
}
"""Endings of words with irregular plurals."""
_NO_PLURALS = re.compile(r".*(ss|us|is|ics|news|series|species)")
_HISSING = ("s", "x", "z", "ch", "sh")
_LAST = re.compile(r"[^\W\d_]{3,}$")


def singular(name: str) -> str:
    """The name with its last word in the singular; unchanged if that is not a plural."""
    return _LAST.sub(lambda found: _singular(found[0]), name)


def plural(name: str) -> str:
    """The name with its last word in the plural; unchanged if it is a plural already, or has no plural."""
    return _LAST.sub(lambda found: found[0] if _singular(found[0]) != found[0] else _plural(found[0]), name)


def typo(name: str, chance: random.Random) -> str:
    """The name with one letter omitted, doubled, replaced or swapped with the next, in a word of four or more letters.

    Unchanged if no word is that long: a shorter word has too many similar ones.
    """
    places = [n for word in re.finditer(r"[^\W\d_]{4,}", name) for n in range(word.start() + 1, word.end() - 1)]
    if not places:
        return name
    n = chance.choice(places)
    written = chance.choice(
        (
            name[:n] + name[n + 1 :],
            name[:n] + name[n] + name[n:],
            name[:n] + chance.choice(ascii_lowercase) + name[n + 1 :],
            name[:n] + name[n + 1] + name[n] + name[n + 2 :],
        )
    )
    return written if written != name else typo(name, chance)


def _singular(word: str) -> str:
    small = word.lower()
    for one, many in _LATIN.items():
        if small.endswith(many):
            return word[: len(word) - len(many)] + one
    if small.endswith("ies") and len(word) > 4 and not _NO_PLURALS.fullmatch(small):
        return word[:-3] + "y"
    if small.endswith("es") and small[:-2].endswith(_HISSING) and not small.endswith("ses"):
        return word[:-2]
    if small.endswith("sses"):
        return word[:-2]
    return word[:-1] if small.endswith("s") and not _NO_PLURALS.fullmatch(small) else word


def _plural(word: str) -> str:
    small = word.lower()
    for one, many in _LATIN.items():
        if small.endswith(one):
            return word[: len(word) - len(one)] + many
    if re.fullmatch(r".*(ics|news|series|species)", small):
        return word
    if small.endswith("y") and small[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if small.endswith(_HISSING) else "s")
