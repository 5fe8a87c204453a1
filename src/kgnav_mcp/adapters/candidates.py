"""Similarity between a search hint and names of entities, and the ranking of the entities that it may mean.

Pure functions of texts, shared by all stores.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import takewhile
from typing import Any, Generic, NamedTuple, TypeVar

from kgnav_mcp.model import Count, Page, Stop

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
"""Maximum length, in characters and in words, of a name whose plural forms are tried."""

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


K = TypeVar("K", bound=Hashable)

NAME, ALIAS, DESCRIPTION, ID = 0, 1, 2, 3
"""Kinds of text of an entity. ID is the last part of its id, which serves as a name if there is no other."""

MAX_WORDS = 16
"""Maximum number of distinct words of a hint that are searched."""

WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")

EXACT_WORDS_NOTE = "Searched for names with all of these words in exactly this spelling."
"""The note of a page of candidates from a store that cannot find misspelt words."""

_SAME_ID = 0.995
_SAME_BUT_CASE = 0.99
_SAME_BUT_ACCENTS = 0.98
_SAME_WORDS = 0.97
_SAME_BUT_NUMBER = 0.96
_MAX_FUZZY_SCORE = 0.95
_OTHER_CASE = 0.001
"""Subtracted where letter case differs too: of `Good` and `good`, `Goods` more likely means the first."""
_CODE = re.compile(r"\S*(:\S*\d\S*|\d>?)")
"""The form of ids, keys and codes: `Q42`, `DOID:9970`, `tt0083658`, but not `Se7en`."""
_NUMBER = re.compile(r"\d+")
_WEIGHTS = {NAME: 1.0, ALIAS: 0.98, ID: 0.9}
_MAX_DESCRIPTION_SCORE = 0.25
_DIGITS = 3
"""Decimal places of a score. Smaller differences mean nothing to a reader, so they do not change the order either."""


def folded(text: str) -> str:
    """The text in lower case without accents, as a full-text index stores words."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def words(hint: str) -> list[str]:
    """The distinct words of a hint in their order, in lower case without accents."""
    return list(dict.fromkeys(WORD.findall(folded(hint))))[:MAX_WORDS]


def spellings(name: str) -> list[str]:
    """The name as given, then in the usual letter cases (lower, capitalised, title, upper)."""
    ways = (name, name.lower(), name.capitalize(), name[:1].upper() + name[1:], name.title(), name.upper())
    return list(dict.fromkeys((*ways, name.casefold())))


class Likeness:
    """Scores texts against one hint: 1 means equal, 0 means nothing in common."""

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._caseless = hint.casefold()
        self._folded = folded(hint)
        self._hint_words = WORD.findall(self._folded)
        self._numbers = set(_NUMBER.findall(hint)) if _CODE.fullmatch(hint) else set[str]()

    def is_other_code(self, text: str) -> bool:
        """Whether the hint is an id or a code, and the text lacks one of its numbers: `Q9` is not a misspelt `Q99`."""
        return not self._numbers.issubset(_NUMBER.findall(text))

    def score(self, text: str, kind: int) -> float:
        """The score of a text of a kind (NAME, ...). A description always scores below a similar name."""
        if kind == DESCRIPTION:
            hint_words = set(self._hint_words)
            score = (
                _MAX_DESCRIPTION_SCORE
                * len(hint_words.intersection(WORD.findall(folded(text))))
                / max(len(hint_words), 1)
            )
        elif kind == ID and text == self._hint:
            score = _SAME_ID
        else:
            score = self._name_score(text) * _WEIGHTS[kind]
        return round(score, _DIGITS)

    def _name_score(self, text: str) -> float:
        if text == self._hint:
            return 1.0
        if text.casefold() == self._caseless:
            return _SAME_BUT_CASE
        return self._unequal_name_score(text) - (_OTHER_CASE if self._differs_in_case(text) else 0)

    def _differs_in_case(self, text: str) -> bool:
        """Whether letter case adds to the difference between a text and the hint."""
        from rapidfuzz.distance import OSA  # noqa: PLC0415 - exact names do not need the package

        return OSA.distance(self._hint, text) > OSA.distance(self._caseless, text.casefold())

    def _unequal_name_score(self, text: str) -> float:
        name = folded(text)
        if name == self._folded:
            return _SAME_BUT_ACCENTS
        text_words = WORD.findall(name)
        if text_words and text_words == self._hint_words:
            return _SAME_WORDS
        if text_words and equal_but_for_plurals(self._hint_words, text_words):
            return _SAME_BUT_NUMBER
        from rapidfuzz import fuzz  # noqa: PLC0415 - exact names do not need the package
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        whole = OSA.normalized_similarity(self._folded, name)
        in_any_order = 0.98 * fuzz.token_sort_ratio(self._folded, name) / 100
        in_part = (whole + fuzz.WRatio(self._folded, name) / 100) / 2
        return _MAX_FUZZY_SCORE * max(whole, in_any_order, in_part)


Rank = tuple[bool, int]
"""Sort key of a name: whether its spelling differs from the name searched for, then the rank of its language."""


def entities_named(name: str, texts: Iterable[tuple[K, int, int, str]]) -> dict[K, tuple[Rank, str]]:
    """The entities with exactly this name, ignoring letter case, each with its best rank and spelling.

    `texts` are rows of entity, kind, rank of the language, and text. Names win over aliases: entities that have it only
    as an alias are omitted if another has it as its name. Ids count only if there is neither. Texts in exactly the
    requested spelling and texts in another letter case are filtered separately.
    """
    caseless = name.casefold()
    same = [
        (owner, kind, (text != name, language), text)
        for owner, kind, language, text in texts
        if kind != DESCRIPTION and text.casefold() == caseless
    ]
    same = [one for one in same if one[1] != ID] or same
    found: dict[K, tuple[Rank, str]] = {}
    for otherwise in (False, True):
        alike = [one for one in same if one[2][0] is otherwise]
        best = min((kind for _, kind, _, _ in alike), default=NAME)
        for owner, kind, rank, text in alike:
            if kind == best:
                found[owner] = min((rank, text), found.get(owner, (rank, text)))
    return found


T = TypeVar("T")


class Match(NamedTuple):
    """The text (name, alias, description) of an entity that is most similar to a hint, with its score."""

    text: str
    score: float


class Candidates(Generic[K]):
    """Entities that a hint may mean, each with its best match."""

    def __init__(self, hint: str, *, is_id: bool = False) -> None:
        """`is_id`: the hint has the form of an id, so that similar texts are not accepted."""
        self._is_id = is_id
        self._hint = hint
        self._likeness = Likeness(hint)
        self._best: dict[K, Match] = {}
        self.has_exact_match = False
        """Whether some entity has exactly the hint as a name, alias or description, ignoring letter case."""

    def add(self, entity: K, text: str, kind: int) -> None:
        """Add a text of an entity and score it. `kind` is one of `NAME`, `ALIAS`, `DESCRIPTION` and `ID`.

        If the hint is an id or a code, texts that differ from it are ignored: a similar id means something else.
        """
        is_exact = text.casefold() == self._hint.casefold()
        self.has_exact_match |= kind != ID and is_exact
        if not is_exact and (self._is_id or self._likeness.is_other_code(text)):
            return
        self.add_scored(entity, Match(text, self._likeness.score(text, kind)))

    def add_scored(self, entity: K, match: Match) -> None:
        """Add a match that is scored already. The best match of an entity wins."""
        if entity not in self._best or match.score > self._best[entity].score:
            self._best[entity] = match

    def add_by_id(self, entity: K, reference: str) -> None:
        """Add an entity whose id was the hint itself, with the full score 1."""
        self._best[entity] = Match(reference, 1.0)

    def restrict_to(self, entities: Collection[K]) -> None:
        """Drop all candidates but these."""
        self._best = {entity: match for entity, match in self._best.items() if entity in entities}

    def best_first(self, order: Callable[[K], Any]) -> list[K]:
        """All candidates, highest score first; equal scores by the key function `order`."""
        return sorted(self._best, key=lambda entity: (-self._best[entity].score, order(entity)))

    def __getitem__(self, entity: K) -> Match:
        return self._best[entity]

    def __iter__(self) -> Iterator[K]:
        return iter(self._best)

    def __len__(self) -> int:
        return len(self._best)


def first_page(items: Iterable[tuple[str, T]], found: int, limit: int, stop: Stop, note: str = "") -> Page[T]:
    """The first page of a list of `found` items.

    `items` are pairs of id (the position in the page) and item. If `stop` is not COMPLETE, more items may exist, so the
    total is a lower bound.
    """
    shown = list(items)
    complete = stop is Stop.COMPLETE
    return Page(
        items=tuple(item for _, item in shown),
        positions=tuple(position for position, _ in shown),
        total=Count(found) if complete else Count.at_least(found),
        stop=Stop.LIMIT if complete and found > limit else stop,
        note=note,
    )
