"""Looks up names in a graph file that may match a hint, to be scored afterwards.

Whole names are sought in the index of names: the hint itself, its singular or plural, names contained in ids, and
names made of similarly spelt words. Single words are looked up in the full-text index, up to a limit, so that a common
word costs no more than a rare one. Similar spellings are skipped only if some entity has exactly the given name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.likeness import DESCRIPTION, ID, folded, spellings, words
from kgnav_mcp.adapters.naming import local_name_variants, names_from_id
from kgnav_mcp.adapters.plurals import plural_variants, singular_or_plural_forms

MOST_HITS = 1_000
"""Names that the full-text index returns for one hint, at most."""
MOST_SAME = 10_000
"""Entities with exactly the same name that are read, at most."""

_MAX_HITS_WITH_LABEL = 10_000
"""Hits that are tested for a label, of which most may lack it."""
_MIN_SIMILAR_WORDS, _MAX_SIMILAR_NAMES = 3, 64
"""Similar words used for each word, at least, and names made of such words that are sought as whole names, at most."""
_MIN_PREFIX_LENGTH = 3
_LAST_CHARACTER = "\U0010ffff"


class NameLookup:
    """Reads names, within one job.

    With a label, queries are narrowed to entities that have it where that is cheap; callers must still filter.
    """

    def __init__(self, builder: Builder, label: LabelEntry | None = None) -> None:
        self._builder = builder
        self._session = builder.session
        self._label = label
        self.hubs: set[int] = set()
        """Nodes with many rows that were found for a word too common to read all of its names."""
        self.is_truncated = False
        """Whether a limit was reached, so that there are more names than were read."""

    def rows_named(self, names: Sequence[str]) -> dict[str, list[Row]]:
        """Returns for each name the rows of equal names, letter case and accents aside.

        Usual spellings are found by seeks, others by their words in the full-text index. Where several names have too
        many rows for one query, the list of names is halved.
        """
        self._session.check()
        equal = self._rows_named(names)
        phrases = {name: f"^ {_quoted(' '.join(name_words))}" for name in names if (name_words := words(name))}
        limit = MOST_SAME if len(names) > 1 else MOST_HITS
        by_words = self._session.all(queries.names.NAMES_MATCHING_EACH, json.dumps(phrases), limit) if phrases else []
        if len(names) > 1 and max(len(equal), len(by_words)) >= MOST_SAME:
            half = len(names) // 2
            return self.rows_named(names[:half]) | self.rows_named(names[half:])
        by_text: dict[str, list[Row]] = defaultdict(list)
        for row in equal:
            by_text[row[3]].append(row)
        found = {name: [row for spelling in _spellings(name) for row in by_text.get(spelling, ())] for name in names}
        for name, *row in by_words:
            if row[1] != DESCRIPTION and folded(row[3]) == folded(name):
                found[name].append(tuple(row))
        return {name: list(dict.fromkeys(rows)) for name, rows in found.items()}

    def by_id(self, names: Iterable[str]) -> dict[str, list[Row]]:
        """Returns for each name rows of the entities whose id without its prefix spells that name."""
        namespaces = self._builder.prefixes.namespaces
        forms = {name: local_name_variants(encodable(name)) for name in names}
        keys = {
            name: [namespace + form for namespace in namespaces for form in name_forms]
            for name, name_forms in forms.items()
        }
        key_list = json.dumps([key for name_keys in keys.values() for key in name_keys])
        nodes = {row[1]: row[0] for row in self._session.all(queries.entities.NODES_BY_KEY, key_list)}
        return {
            name: [(nodes[key], ID, None, text) for key in name_keys if key in nodes for text in names_from_id(key)]
            for name, name_keys in keys.items()
        }

    def candidate_rows(self, hint: str) -> Iterator[Row]:
        """Yields rows of names worth scoring, exact names first, then less similar ones. May repeat rows."""
        same = self._filter_by_label(self.rows_named([hint])[hint])
        yield from same
        yield from self.by_id([hint])[hint]
        yield from self._rows_named(plural_variants(hint))
        known = self._existing_forms(words(hint))
        if any(kind != ID for _, kind, _, _ in same):
            if all(known.values()):
                yield from self._rows_matching(_all_of_queries(map(_any_of_words, known.values())), MOST_HITS)
            return
        named = False
        for row in self._similar(known) if known else ():
            named = named or row[1] != DESCRIPTION
            yield row
        if not named:
            hint = encodable(hint)
            rows = self._session.all(queries.names.NAMES_STARTING, hint, hint + _LAST_CHARACTER, MOST_HITS)
            self.is_truncated |= len(rows) >= MOST_HITS
            yield from rows

    def rows_with_words(self, query_words: Sequence[str], limit: int, *, nearly: bool) -> list[Row]:
        """Returns rows of names that contain each of these words or a word starting with it.

        With `nearly`, similarly spelt words count too.
        """
        forms = {word: self._prefix_query(word, nearly=nearly) for word in query_words}
        return self._rows_matching(_all_of_queries(forms.values()), limit)

    def _prefix_query(self, word: str, *, nearly: bool) -> str:
        """Returns the full-text query for words that start with this one or, with `nearly`, are spelt like it."""
        similar = self._builder.catalogue.vocabulary(self._session).near(word) if nearly else []
        return " OR ".join((f"{_quoted(word)}*", *map(_quoted, similar)))

    def _similar(self, known: Mapping[str, list[str]]) -> Iterator[Row]:
        """Yields rows with all of the words in similar spellings, else with one of them.

        `known` maps each word of the hint to the forms of it that occur in the graph.
        """
        vocabulary = self._builder.catalogue.vocabulary(self._session)
        similar: dict[str, list[str]] = {}
        for word, forms in known.items():
            self._session.check()
            similar[word] = [*(forms or [word]), *vocabulary.near(word, misspelt=not forms)]
        each = max(_MIN_SIMILAR_WORDS, round(_MAX_SIMILAR_NAMES ** (1 / len(similar))))
        nearest = (similar_words[:each] for similar_words in similar.values())
        yield from self._rows_named(map(" ".join, islice(product(*nearest), _MAX_SIMILAR_NAMES)))
        either = {
            word: _any_of_words(similar_words, is_prefix=not known[word]) for word, similar_words in similar.items()
        }
        strict = _all_of_queries(_any_of_words(forms) if forms else either[word] for word, forms in known.items())
        rows = self._rows_matching(strict, MOST_HITS)
        if len(rows) < MOST_HITS:
            rows += self._rows_matching(f"({_all_of_queries(either.values())}) NOT ({strict})", MOST_HITS - len(rows))
        yield from rows
        if all(kind == DESCRIPTION for _, kind, _, _ in rows):
            for group in either.values():
                yield from self._rows_matching(group, MOST_HITS)

    def _existing_forms(self, hint_words: Sequence[str]) -> dict[str, list[str]]:
        """Returns for each word those of it and its singular or plural that occur in some name."""
        forms = {word: (word, *singular_or_plural_forms(word)) for word in hint_words}
        quoted = {form: _quoted(form) for word_forms in forms.values() for form in word_forms}
        existing = {form for (form,) in self._session.all(queries.names.WORDS_IN_NAMES, json.dumps(quoted))}
        return {word: [form for form in word_forms if form in existing] for word, word_forms in forms.items()}

    def _rows_named(self, names: Iterable[str]) -> list[Row]:
        """Returns rows with exactly these names in the usual letter cases. One seek each."""
        all_spellings = list(dict.fromkeys(spelling for name in names for spelling in _spellings(name)))
        if not all_spellings:
            return []
        rows = self._session.all(queries.names.NAMES_EQUAL, json.dumps(all_spellings), MOST_SAME)
        self.is_truncated |= len(rows) >= MOST_SAME
        return rows

    def _filter_by_label(self, rows: list[Row]) -> list[Row]:
        if self._label is None:
            return rows
        nodes = json.dumps([row[0] for row in rows])
        with_label = {node for (node,) in self._session.all(queries.names.WITH_LABEL, nodes, self._label.id)}
        return [row for row in rows if row[0] in with_label]

    def _rows_matching(self, expression: str, limit: int) -> list[Row]:
        if not expression:
            return []
        if self._label is None:
            rows = self._session.all(queries.names.NAMES_MATCHING, expression, limit)
            return [*rows, *self._hubs_matching(expression)] if len(rows) >= limit else rows
        if self._label.size <= _MAX_HITS_WITH_LABEL:
            return self._session.all(queries.names.NAMES_OF_LABEL_MATCHING, expression, self._label.id)
        *rows, (_, _, _, hits) = self._session.all(
            queries.names.NAMES_MATCHING_WITH_LABEL, expression, _MAX_HITS_WITH_LABEL, self._label.id
        )
        return [*rows, *self._hubs_matching(expression)] if int(hits) >= _MAX_HITS_WITH_LABEL else rows

    def _hubs_matching(self, expression: str) -> list[Row]:
        """Returns the matching names of the nodes with most rows, because not all matching names can be read."""
        self.is_truncated = True
        hubs = self._builder.catalogue.hub_names(self._session)
        rows = self._session.all(queries.names.NAMES_AMONG_MATCHING, expression, hubs)
        self.hubs.update(row[0] for row in rows)
        return rows


def _spellings(name: str) -> list[str]:
    """Returns the usual spellings of a name, as they may be stored."""
    return spellings(encodable(name))


def _quoted(word: str) -> str:
    """Quotes a word, so that the full-text index does not read it as an operator."""
    return '"' + word.replace('"', '""') + '"'


def _any_of_words(words: Sequence[str], *, is_prefix: bool = False) -> str:
    """Returns the full-text query for names with one of these words. `is_prefix`: the first may be the start of one."""
    prefix_query = [f"{_quoted(words[0])}*"] if is_prefix and len(words[0]) >= _MIN_PREFIX_LENGTH else []
    return " OR ".join([*map(_quoted, words), *prefix_query])


def _all_of_queries(groups: Iterable[str]) -> str:
    """Returns the full-text query for names that match every one of these queries."""
    return " AND ".join(f"({group})" for group in groups)
