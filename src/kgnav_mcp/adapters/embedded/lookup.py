"""Names in a graph file that are worth scoring for a hint.

Whole names are sought directly: the very name, in either number, what ids say, and names made of near words. Words are
looked up in the full-text index, up to a bound, so that a common word costs no more than a rare one. Near words are
left out only where something bears the very name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.ids import storable
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.adapters.likeness import DESCRIPTION, ID, folded, spellings, words
from kgnav_mcp.adapters.naming import local_forms, names_in
from kgnav_mcp.adapters.plurals import in_other_numbers, other_numbers

MOST_HITS = 1_000
"""Names that the full-text index gives for one hint."""
MOST_SAME = 10_000
"""Entities of the very same name that are told apart."""

_MOST_HITS_WITH_LABEL = 10_000
"""Hits tested for a label, most of which may not have it."""
_NEAR, _MOST_NEAR_NAMES = 3, 64
"""Near words of each word, and names made of such words, that are sought as a whole."""
_SHORTEST_PREFIX = 3
_AFTER_ALL = "\U0010ffff"


class NameLookup:
    """Reads names, within one job. With a label, of entities that have it, as far as that is known on the way."""

    def __init__(self, builder: Builder, label: LabelEntry | None = None) -> None:
        self._builder = builder
        self._session = builder.session
        self._label = label

    def same(self, names: Sequence[str]) -> dict[str, list[Row]]:
        """Rows of names with the same letters as each of some.

        Usual ways to write one are seeks; others come by their words. Where there are too many rows for one query of
        several names, these are asked for in halves.
        """
        self._session.check()
        equal = self._equal(names)
        begun = {name: f"^ {_quoted(' '.join(asked))}" for name in names if (asked := words(name))}
        most = MOST_SAME if len(names) > 1 else MOST_HITS
        in_order = self._session.all(queries.names.NAMES_MATCHING_EACH, json.dumps(begun), most) if begun else []
        if len(names) > 1 and max(len(equal), len(in_order)) >= MOST_SAME:
            half = len(names) // 2
            return self.same(names[:half]) | self.same(names[half:])
        by_text: dict[str, list[Row]] = defaultdict(list)
        for row in equal:
            by_text[row[3]].append(row)
        found = {name: [row for way in _ways(name) for row in by_text.get(way, ())] for name in names}
        for name, *row in in_order:
            if row[1] != DESCRIPTION and folded(row[3]) == folded(name):
                found[name].append(tuple(row))
        return {name: list(dict.fromkeys(rows)) for name, rows in found.items()}

    def by_id(self, names: Iterable[str]) -> dict[str, list[Row]]:
        """Rows like those of names for the entities whose id, without its prefix, says one of these."""
        spaces = self._builder.prefixes.namespaces
        forms = {name: local_forms(storable(name)) for name in names}
        keys = {name: [space + form for space in spaces for form in own] for name, own in forms.items()}
        asked = json.dumps([key for some in keys.values() for key in some])
        nodes = {row[1]: row[0] for row in self._session.all(queries.entities.NODES_BY_KEY, asked)}
        return {
            name: [(nodes[key], ID, None, text) for key in some if key in nodes for text in names_in(key)]
            for name, some in keys.items()
        }

    def like(self, hint: str) -> Iterator[Row]:
        """Rows of names worth scoring, from the very name outwards; some come twice."""
        same = self._labelled(self.same([hint])[hint])
        yield from same
        yield from self.by_id([hint])[hint]
        yield from self._equal(in_other_numbers(hint))
        known = {word: self._known(word) for word in words(hint)}
        if any(kind != ID for _, kind, _, _ in same):
            if all(known.values()):
                yield from self._matching(_all_of(map(_any_of, known.values())), MOST_HITS)
            return
        named = False
        for row in self._near(known) if known else ():
            named = named or row[1] != DESCRIPTION
            yield row
        if not named:
            hint = storable(hint)
            yield from self._session.all(queries.names.NAMES_STARTING, hint, hint + _AFTER_ALL, MOST_HITS)

    def having(self, asked: Sequence[str], most: int, *, nearly: bool) -> list[Row]:
        """Rows of names that have all of these words or words that begin so, or, `nearly`, words like them too."""
        forms = {word: self._begun(word, nearly=nearly) for word in asked}
        return self._matching(_all_of(forms.values()), most)

    def _begun(self, word: str, *, nearly: bool) -> str:
        """The question for names with a word that begins like this one, or that is like it."""
        near = self._builder.catalogue.vocabulary(self._session).near(word) if nearly else []
        return " OR ".join((f"{_quoted(word)}*", *map(_quoted, near)))

    def _near(self, known: Mapping[str, list[str]]) -> Iterator[Row]:
        """Rows with all of the words or words near them, else with one of them. `known` has those the graph knows."""
        vocabulary = self._builder.catalogue.vocabulary(self._session)
        near: dict[str, list[str]] = {}
        for word, forms in known.items():
            self._session.check()
            near[word] = [*(forms or [word]), *vocabulary.near(word, misspelt=not forms)]
        most_alike = (some[:_NEAR] for some in near.values())
        yield from self._equal(map(" ".join, islice(product(*most_alike), _MOST_NEAR_NAMES)))
        either = {word: _any_of(some, begun=not known[word]) for word, some in near.items()}
        strict = _all_of(_any_of(forms) if forms else either[word] for word, forms in known.items())
        rows = self._matching(strict, MOST_HITS)
        if len(rows) < MOST_HITS:
            rows += self._matching(f"({_all_of(either.values())}) NOT ({strict})", MOST_HITS - len(rows))
        yield from rows
        if all(kind == DESCRIPTION for _, kind, _, _ in rows):
            for group in either.values():
                yield from self._matching(group, MOST_HITS)

    def _known(self, word: str) -> list[str]:
        """Those of a word and its other number that some name has."""
        forms = (word, *other_numbers(word))
        return [form for form in forms if self._session.one(queries.names.WORD_EXISTS, _quoted(form))]

    def _equal(self, names: Iterable[str]) -> list[Row]:
        """Rows of these very names, in the usual letter cases: one seek each."""
        ways = list(dict.fromkeys(way for name in names for way in _ways(name)))
        return self._session.all(queries.names.NAMES_EQUAL, json.dumps(ways), MOST_SAME) if ways else []

    def _labelled(self, rows: list[Row]) -> list[Row]:
        if self._label is None:
            return rows
        nodes = json.dumps([row[0] for row in rows])
        having = {node for (node,) in self._session.all(queries.names.WITH_LABEL, nodes, self._label.id)}
        return [row for row in rows if row[0] in having]

    def _matching(self, expression: str, most: int) -> list[Row]:
        if not expression:
            return []
        if self._label is None:
            return self._session.all(queries.names.NAMES_MATCHING, expression, most)
        return self._session.all(
            queries.names.NAMES_MATCHING_WITH_LABEL, expression, _MOST_HITS_WITH_LABEL, self._label.id
        )


def _ways(name: str) -> list[str]:
    """The usual ways to write a name, as they may be stored."""
    return spellings(storable(name))


def _quoted(word: str) -> str:
    """A word that the full-text index takes as nothing but a word."""
    return '"' + word.replace('"', '""') + '"'


def _any_of(words: Sequence[str], *, begun: bool = False) -> str:
    """The question for names that have one of these words. The first of them may be one that was only `begun`."""
    beginning = [f"{_quoted(words[0])}*"] if begun and len(words[0]) >= _SHORTEST_PREFIX else []
    return " OR ".join([*map(_quoted, words), *beginning])


def _all_of(groups: Iterable[str]) -> str:
    """The question for names that fit each of the groups."""
    return " AND ".join(f"({group})" for group in groups)
