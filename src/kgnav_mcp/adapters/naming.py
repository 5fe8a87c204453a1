"""Names for what a graph gives no name: read from the id, the same way for every store."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_DOTTED = re.compile(r"\w+(\.\w+)+")
"""A dotted name of Freebase, such as `people.person.place_of_birth`."""
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in `birthPlace` and in `hasDNASequence`."""
_SHOUTED = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
"""The usual form of a relationship type: `ACTED_IN`."""
_SHORT = re.compile(r"[\w.-]*:[^\s/:][^\s:]*")
"""A prefixed name such as `dbo:birthPlace`."""
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*")
_LONGEST, _MOST_WORDS = 200, 6
"""Characters and words of the longest name that is looked for in ids."""


def is_iri(text: str) -> bool:
    """Whether an id has the form of an absolute IRI (`http://...`, `urn:...`)."""
    return _IRI.fullmatch(text) is not None


def local_name(reference: str) -> str:
    """The last part of an IRI, a prefixed name or a path: what stands behind its last `#`, `/` or `:`.

    An id without these, or with nothing behind them, comes back whole.
    """
    if is_iri(reference) or reference.startswith("/"):
        tail = re.split(r"[#/]", reference)[-1]
        if tail == reference or (":" in tail and not tail.startswith(":")):
            tail = tail.rsplit(":", 1)[-1]
    elif _SHORT.fullmatch(reference):
        tail = reference.rsplit(":", 1)[-1]
    else:
        return reference
    return tail or reference


def entity_name(reference: str) -> str:
    """A name for an entity out of its id: `dbr:Quentin_Tarantino` is `Quentin Tarantino`. Letter case stays."""
    return unquote(local_name(reference)).replace("_", " ").strip() or reference


def spoken(reference: str) -> list[str]:
    """What an id says, for looking it up: its last part, and the words of that: `FourSeasons` and `Four Seasons`."""
    name = entity_name(reference)
    split = " ".join(_WORD_START.sub(" ", name).split())
    return [name, split] if split != name and split.replace(" ", "").isalpha() else [name]


def names_in(reference: str) -> list[str]:
    """What an entity may be called by its id: the last part as it is, and what that says."""
    return list(dict.fromkeys([unquote(local_name(reference)), *spoken(reference)]))


def local_forms(name: str) -> list[str]:
    """The last parts that ids of things of this name may have: `four seasons` gives `FourSeasons`, `four_seasons`."""
    given = name.split() if len(name) <= _LONGEST else []
    if not 1 <= len(given) <= _MOST_WORDS:
        return []
    small = [word.lower() for word in given]
    capital = [word[:1].upper() + word[1:] for word in given]
    cases = (given, small, capital, [small[0], *capital[1:]], [capital[0], *small[1:]])
    forms = [joint.join(words) for joint in ("_", "", "-") for words in cases]
    return list(dict.fromkeys([*forms, *(quote(form, safe="", errors="replace") for form in forms)]))


def readable(relation: str) -> str:
    """A name for a relation, a property or a label out of its id.

    `has_genre` is `has genre`, `dbo:birthPlace` is `birth place`, `people.person.place_of_birth` is `place of birth`
    and `ACTED_IN` is `acted in`. A text that already has spaces stays as it is.
    """
    name = unquote(local_name(relation))
    if any(character.isspace() for character in name):
        return name
    if _DOTTED.fullmatch(name):
        name = name.rsplit(".", 1)[-1]
    if _SHOUTED.fullmatch(name):
        name = name.lower()
    words = _WORD_START.sub(" ", name).replace("_", " ").split()
    return " ".join(_plain(word, first=index == 0) for index, word in enumerate(words)) or relation


def _plain(word: str, *, first: bool) -> str:
    """A word as it stands inside a sentence: `Place` of `birthPlace` is `place`, `DNA` and a lone `P19` stay."""
    if first or len(word) == 1 or not word.istitle():
        return word
    return word.lower()
