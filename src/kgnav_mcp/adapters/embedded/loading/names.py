"""Rules for names: which literals are names, aliases or descriptions, and which of several names is preferred."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.candidates import ALIAS, DESCRIPTION, NAME
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.naming import ANY_LANGUAGE
from kgnav_mcp.adapters.wellknown import ALIAS_RELATIONS, DESCRIPTION_RELATIONS, PREFIXES

RELATIONS_PER_LANGUAGE = 1000
"""The number of ranks for each language, one per relation: the language counts first, then the relation's position."""

_WELL_KNOWN = Prefixes(PREFIXES)

OTHER_RELATIONS = (ALIAS_RELATIONS, DESCRIPTION_RELATIONS)
OTHER_PROPERTIES = (("aka", "alias", "aliases"), ("description",))
"""Relations and properties that give aliases, and those that give descriptions."""


class NameRules:
    """Ranks names. The lowest rank is preferred; equal ranks are ordered by language tag, then by text."""

    def __init__(self, options: LoadOptions) -> None:
        self._languages = tuple(language.lower() for language in options.languages)
        self._ranks: dict[str | None, int] = {}
        self._relations = _positions(
            *(
                [key for name in names for key in stored_ids(name)]
                for names in (options.name_relations, *OTHER_RELATIONS)
            )
        )
        self.seen: set[str] = set()
        """The relations and properties of names that the sources have, as `stored_ids` and in lower case."""
        self.properties = _positions([name.lower() for name in options.name_properties], *OTHER_PROPERTIES)
        """The same by property of a property graph, in lower case."""

    def rank(self, place: int, language: str | None) -> int:
        """Returns the rank of a name in a language (or None) whose relation is at this position in the options."""
        rank = self._ranks.get(language)
        if rank is None:
            rank = self._ranks[language] = self._language_rank(language) * RELATIONS_PER_LANGUAGE
        return rank + place

    def kinds_of(self, relations: Sequence[str]) -> list[tuple[int, int] | None]:
        """Returns for each relation of a source its kind of name and position in the options; None if it has none."""
        self.seen.update(key for key in relations if key in self._relations)
        return list(map(self._relations.get, relations))

    @property
    def other_languages(self) -> int:
        """The lowest rank of names in a language that is not among the options."""
        return (2 * len(self._languages) + 1) * RELATIONS_PER_LANGUAGE

    def _language_rank(self, language: str | None) -> int:
        if language is None or language == ANY_LANGUAGE:
            return 2 * len(self._languages)
        tag = language.lower()
        for place, preferred in enumerate(self._languages):
            if tag == preferred:
                return 2 * place
            if tag.startswith(preferred + "-"):
                return 2 * place + 1
        return 2 * len(self._languages) + 1


def stored_ids(relation: str) -> tuple[str, ...]:
    """Returns the ids that a relation in the options may mean.

    Only well-known prefixes are used, because no source is read yet.
    """
    return _WELL_KNOWN.keys(relation)


def _positions(names: Sequence[str], aliases: Sequence[str], descriptions: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Returns kind and position of each relation or property. The first mention counts."""
    places: dict[str, tuple[int, int]] = {}
    for kind, group in ((NAME, names), (ALIAS, aliases), (DESCRIPTION, descriptions)):
        for place, name in enumerate(group):
            places.setdefault(name, (kind, place))
    return places
