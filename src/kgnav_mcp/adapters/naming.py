"""Readable names made from ids, and the order in which languages are preferred. Shared by all stores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from kgnav_mcp.model.ids import is_obo_id, local_name

_DOTTED = re.compile(r"\w+(\.\w+)+")
"""A dotted name of Freebase, such as `people.person.place_of_birth`."""
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""A word boundary inside a camel-case name: `birthPlace`, `hasDNASequence`."""
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
"""The usual form of a relationship type: `ACTED_IN`."""
_MAX_LENGTH, _MAX_WORDS = 200, 6
"""Maximum length, in characters and in words, of a name that is searched for in ids."""


_OBSOLETE = "obsolete"


def marked_obsolete(name: str) -> str:
    """The name of an entity that its ontology declares obsolete, as it is shown."""
    return name if name.casefold().startswith(_OBSOLETE) else f"{_OBSOLETE}: {name}"


def is_marked_obsolete(name: str) -> bool:
    """Whether a name has that mark."""
    return name.startswith(f"{_OBSOLETE}: ")


def entity_name(reference: str) -> str:
    """A name for an entity, made from its id: `dbr:Quentin_Tarantino` is `Quentin Tarantino`. Letter case is kept."""
    return unquote(local_name(reference)).replace("_", " ").strip() or reference


def readable_names(reference: str) -> list[str]:
    """Names under which an id can be looked up: its last part, and its words (`FourSeasons` and `Four Seasons`)."""
    name = entity_name(reference)
    split = " ".join(_WORD_START.sub(" ", name).split())
    return [name, split] if split != name and split.replace(" ", "").isalpha() else [name]


def names_from_id(reference: str) -> list[str]:
    """All names that an id gives an entity: its last part as written, and that as words."""
    return list(dict.fromkeys([unquote(local_name(reference)), *readable_names(reference)]))


def local_name_variants(name: str) -> list[str]:
    """The last parts of ids that a name may mean: `four seasons` gives `FourSeasons`, `four_seasons` and so on.

    Empty for a name that is too long.
    """
    given = name.split() if len(name) <= _MAX_LENGTH else []
    if not 1 <= len(given) <= _MAX_WORDS:
        return []
    small = [word.lower() for word in given]
    capital = [word[:1].upper() + word[1:] for word in given]
    cases = (given, small, capital, [small[0], *capital[1:]], [capital[0], *small[1:]])
    forms = [joint.join(words) for joint in ("_", "", "-") for words in cases]
    return list(dict.fromkeys([*forms, *(quote(form, safe="", errors="replace") for form in forms)]))


def readable(relation: str) -> str:
    """A readable name for a relation, a property or a label, made from its id.

    `has_genre` becomes `has genre`, `dbo:birthPlace` `birth place`, `people.person.place_of_birth` `place of birth` and
    `ACTED_IN` `acted in`. A text that already has spaces is not changed.
    """
    if is_obo_id(relation):
        return relation  # its number alone says nothing
    name = unquote(local_name(relation))
    if any(character.isspace() for character in name):
        return name
    if _DOTTED.fullmatch(name):
        name = name.rsplit(".", 1)[-1]
    if _UPPER_SNAKE.fullmatch(name):
        name = name.lower()
    words = _WORD_START.sub(" ", name).replace("_", " ").split()
    return " ".join(_inside_sentence(word, first=index == 0) for index, word in enumerate(words)) or relation


def _inside_sentence(word: str, *, first: bool) -> str:
    """The word as written inside a sentence: `Place` of `birthPlace` becomes `place`; `DNA` and a lone `P19` stay."""
    if first or len(word) == 1 or not word.istitle():
        return word
    return word.lower()


ANY_LANGUAGE = "mul"
"""The tag of a text for all languages (ISO 639-2 `mul`), as of Wikidata's default labels."""


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
