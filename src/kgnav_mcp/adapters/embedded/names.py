"""Finds entities by their names: exactly, by words, and if they are misspelt."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from kgnav_mcp.adapters.candidates import (
    DESCRIPTION,
    ID,
    Candidates,
    Rank,
    entities_named,
    first_page,
    folded,
    plural_variants,
    singular_or_plural_forms,
    spellings,
    words,
)
from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.naming import language_rank, local_name_variants, names_from_id
from kgnav_mcp.model import Candidate, Count, Namesake, Page, Stop, ValueMatch

MAX_HITS = 1_000
"""Maximum number of names that the full-text index returns for one hint."""
MAX_SAME = 10_000
"""Maximum number of entities with exactly the same name that are read."""

_MAX_HITS_WITH_LABEL = 10_000
"""Hits that are tested for a label, of which most may lack it."""
_MIN_SIMILAR_WORDS, _MAX_SIMILAR_NAMES = 3, 64
"""Minimum number of similar words used for each word, and maximum number of names of such words that are looked up."""
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
        """Returns for each name the rows of equal names, ignoring letter case and accents.

        Usual spellings are found by index seeks, others by their words in the full-text index. Where several names have
        too many rows for one query, the list of names is halved.
        """
        self._session.check()
        equal = self._rows_named(names)
        phrases = {name: f"^ {_quoted(' '.join(name_words))}" for name in names if (name_words := words(name))}
        limit = MAX_SAME if len(names) > 1 else MAX_HITS
        by_words = (
            self._session.all(queries.entities.NAMES_MATCHING_EACH, json.dumps(phrases), limit) if phrases else []
        )
        if len(names) > 1 and max(len(equal), len(by_words)) >= MAX_SAME:
            half = len(names) // 2
            return self.rows_named(names[:half]) | self.rows_named(names[half:])
        by_text: dict[str, list[Row]] = defaultdict(list)
        for row in equal:
            by_text[row[3]].append(row)
        rows_by_name = {
            name: [row for spelling in _spellings(name) for row in by_text.get(spelling, ())] for name in names
        }
        for name, *row in by_words:
            if row[1] != DESCRIPTION and folded(row[3]) == folded(name):
                rows_by_name[name].append(tuple(row))
        return {name: list(dict.fromkeys(rows)) for name, rows in rows_by_name.items()}

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
        forms_by_word = self._existing_forms(words(hint))
        if any(kind != ID for _, kind, _, _ in same):
            if all(forms_by_word.values()):
                yield from self._rows_matching(_all_of_queries(map(_any_of_words, forms_by_word.values())), MAX_HITS)
            return
        named = False
        for row in self._similar(forms_by_word) if forms_by_word else ():
            named = named or row[1] != DESCRIPTION
            yield row
        if not named:
            hint = encodable(hint)
            rows = self._session.all(queries.entities.NAMES_STARTING, hint, hint + _LAST_CHARACTER, MAX_HITS)
            self.is_truncated |= len(rows) >= MAX_HITS
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

    def _similar(self, forms_by_word: Mapping[str, list[str]]) -> Iterator[Row]:
        """Yields rows with all of the words in similar spellings, else with one of them.

        `forms_by_word` maps each word of the hint to the forms of it that occur in the graph.
        """
        vocabulary = self._builder.catalogue.vocabulary(self._session)
        similar: dict[str, list[str]] = {}
        for word, forms in forms_by_word.items():
            self._session.check()
            similar[word] = [*(forms or [word]), *vocabulary.near(word, misspelt=not forms)]
        per_word = max(_MIN_SIMILAR_WORDS, round(_MAX_SIMILAR_NAMES ** (1 / len(similar))))
        nearest = (similar_words[:per_word] for similar_words in similar.values())
        yield from self._rows_named(map(" ".join, islice(product(*nearest), _MAX_SIMILAR_NAMES)))
        either = {
            word: _any_of_words(similar_words, is_prefix=not forms_by_word[word])
            for word, similar_words in similar.items()
        }
        strict = _all_of_queries(
            _any_of_words(forms) if forms else either[word] for word, forms in forms_by_word.items()
        )
        rows = self._rows_matching(strict, MAX_HITS)
        if len(rows) < MAX_HITS:
            rows += self._rows_matching(f"({_all_of_queries(either.values())}) NOT ({strict})", MAX_HITS - len(rows))
        yield from rows
        if all(kind == DESCRIPTION for _, kind, _, _ in rows):
            for group in either.values():
                yield from self._rows_matching(group, MAX_HITS)

    def _existing_forms(self, hint_words: Sequence[str]) -> dict[str, list[str]]:
        """Returns for each word those of it and its singular or plural that occur in some name."""
        forms = {word: (word, *singular_or_plural_forms(word)) for word in hint_words}
        quoted = {form: _quoted(form) for word_forms in forms.values() for form in word_forms}
        existing = {form for (form,) in self._session.all(queries.entities.WORDS_IN_NAMES, json.dumps(quoted))}
        return {word: [form for form in word_forms if form in existing] for word, word_forms in forms.items()}

    def _rows_named(self, names: Iterable[str]) -> list[Row]:
        """Returns rows with exactly these names in the usual letter cases. One seek each."""
        all_spellings = list(dict.fromkeys(spelling for name in names for spelling in _spellings(name)))
        if not all_spellings:
            return []
        rows = self._session.all(queries.entities.NAMES_EQUAL, json.dumps(all_spellings), MAX_SAME)
        self.is_truncated |= len(rows) >= MAX_SAME
        return rows

    def _filter_by_label(self, rows: list[Row]) -> list[Row]:
        if self._label is None:
            return rows
        nodes = json.dumps([row[0] for row in rows])
        with_label = {node for (node,) in self._session.all(queries.entities.WITH_LABEL, nodes, self._label.id)}
        return [row for row in rows if row[0] in with_label]

    def _rows_matching(self, expression: str, limit: int) -> list[Row]:
        if not expression:
            return []
        if self._label is None:
            rows = self._session.all(queries.entities.NAMES_MATCHING, expression, limit)
            return [*rows, *self._hubs_matching(expression)] if len(rows) >= limit else rows
        if self._label.size <= _MAX_HITS_WITH_LABEL:
            return self._session.all(queries.entities.NAMES_OF_LABEL_MATCHING, expression, self._label.id)
        *rows, (_, _, _, hits) = self._session.all(
            queries.entities.NAMES_MATCHING_WITH_LABEL, expression, _MAX_HITS_WITH_LABEL, self._label.id
        )
        return [*rows, *self._hubs_matching(expression)] if int(hits) >= _MAX_HITS_WITH_LABEL else rows

    def _hubs_matching(self, expression: str) -> list[Row]:
        """Returns the matching names of the nodes with most rows, because not all matching names can be read."""
        self.is_truncated = True
        hubs = self._builder.catalogue.hub_names(self._session)
        rows = self._session.all(queries.entities.NAMES_AMONG_MATCHING, expression, hubs)
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


_MAX_RANKED = 200
"""Candidates whose degree is counted, at most. The degree orders candidates with equal scores."""


class NameReader:
    """Answers `named_each` and `find`, within one job."""

    def __init__(self, builder: Builder, languages: Sequence[str]) -> None:
        self._builder = builder
        self._session = builder.session
        self._languages = languages

    def named_each(self, names: Sequence[str], limit: int) -> dict[str, Page[Namesake]]:
        """Returns for each name the entities that have it in any language, ignoring letter case.

        Aliases count only if no entity has the name, ids only if there is no such alias either.
        """
        lookup = NameLookup(self._builder)
        rows = lookup.rows_named(list(dict.fromkeys(names)))
        for name, group in lookup.by_id(name for name, group in rows.items() if _only_ids(group)).items():
            rows[name] += group
        bearers = {name: self._bearers(name, group) for name, group in rows.items()}
        ordered = {name: sorted(group, key=lambda node: (group[node][0], node)) for name, group in bearers.items()}
        tied = dict.fromkeys(node for group in ordered.values() if len(group) > 1 for node in group[:_MAX_RANKED])
        degrees = entities.degrees(self._builder, list(tied)) if tied else {}
        for name, group in ordered.items():
            ranks = bearers[name]
            group.sort(key=lambda node: (ranks[node][0], -degrees.get(node, 0), node))
        shown = list(dict.fromkeys(node for group in ordered.values() for node in group[:limit]))
        described = entities.described_by_number(self._builder, shown)
        return {
            name: first_page(
                [(str(node), Namesake(described[node], bearers[name][node][1])) for node in group[:limit]],
                len(group),
                limit,
                _stop(len(rows[name]), MAX_SAME),
            )
            for name, group in ordered.items()
        }

    def with_values(self, values: Sequence[str], limit: int) -> dict[str, list[ValueMatch]]:
        """Returns for each text the first nodes that have it as the value of a property."""
        rows_by_value: dict[str, list[Row]] = {}
        for value in dict.fromkeys(values):
            self._session.check()
            rows_by_value[value] = self._session.all(queries.entities.NODES_WITH_TEXT, encodable(value), limit)
        nodes = list(dict.fromkeys(node for rows in rows_by_value.values() for node, _ in rows))
        described = entities.described_by_number(self._builder, nodes)
        return {
            value: [ValueMatch(described[node], self._builder.relation(number)) for node, number in rows]
            for value, rows in rows_by_value.items()
        }

    def _bearers(self, name: str, rows: Iterable[Row]) -> dict[int, tuple[Rank, str]]:
        return entities_named(
            name, ((node, kind, language_rank(tag, self._languages), text) for node, kind, tag, text in rows)
        )

    def find(self, hint: str, label: str | None, limit: int) -> Page[Candidate]:
        """Returns candidates by score, then by degree, then by their number in the file.

        Raises:
            UnknownName: the graph has no such label.
        """
        entry = self._builder.catalogue.labels(self._session).one("label", label) if label is not None else None
        hint = encodable(hint).strip()
        candidates = Candidates[int](hint, is_id=self._builder.prefixes.is_id(hint))
        for row in entities.resolved(self._builder, [hint, f"<{hint}>"]).values():
            candidates.add_by_id(row[0], hint)
        lookup = NameLookup(self._builder, entry)
        for node, kind, _, text in dict.fromkeys(lookup.candidate_rows(hint) if hint else ()):
            candidates.add(node, text, kind)
        if entry is not None:
            nodes = json.dumps(list(candidates))
            candidates.restrict_to(
                {node for (node,) in self._session.all(queries.entities.WITH_LABEL, nodes, entry.id)}
            )
        order = candidates.best_first(lambda node: (node not in lookup.hubs, node))
        best = order[: max(limit, _MAX_RANKED)]
        degrees = entities.degrees(self._builder, best)
        best.sort(key=lambda node: (-candidates[node].score, -degrees[node], node))
        described = entities.described_by_number(self._builder, best[:limit])
        items = [
            (str(node), Candidate(described[node], *candidates[node], Count(degrees[node]))) for node in best[:limit]
        ]
        return first_page(items, len(candidates), limit, Stop.LIMIT if lookup.is_truncated else Stop.COMPLETE)


def _stop(number: int, limit: int) -> Stop:
    """Returns LIMIT if the limit was reached, so that there may be more."""
    return Stop.COMPLETE if number < limit else Stop.LIMIT


def _only_ids(rows: Iterable[Row]) -> bool:
    """Whether a name was found in ids only."""
    return all(kind == ID for _, kind, _, _ in rows)
