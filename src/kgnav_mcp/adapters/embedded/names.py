"""Finding entities by name: the very name, the same letters, the same words, misspelt words, parts of a name.

Each step is tried only where the one before found no name, and each is bounded, so that a common word costs no more
than a rare one. What is found is then scored as whole names, so that the steps decide only what is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.ids import storable
from kgnav_mcp.adapters.embedded.matching import DESCRIPTION, NAME, Likeness, Vocabulary, folded, words
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.rows import Builder, language_rank
from kgnav_mcp.model import Candidate, Count, Entity, Page, Stop

_MOST_HITS = 1_000
"""Names scored for one question to the full-text index."""
_MOST_HITS_WITH_LABEL = 10_000
"""Hits tested for a label, most of which may not have it."""
_MOST_SAME = 10_000
"""Entities of the very same name that are told apart."""
_MOST_RANKED = 200
"""Candidates whose degree is counted to order equal scores."""
_SHORTEST_PREFIX = 3
_AFTER_ALL = "\U0010ffff"


class NameReader:
    """Answers `named` and `find`, within one job."""

    def __init__(self, builder: Builder, languages: Sequence[str], vocabulary: Callable[[Builder], Vocabulary]) -> None:
        self._builder = builder
        self._session = builder.session
        self._languages = languages
        self._vocabulary = vocabulary

    def named(self, name: str, limit: int) -> Page[Entity]:
        """Entities with this very name in any language, letter case aside; those with this alias if none has."""
        same = [row for row in self._same(name) if row[3].casefold() == name.casefold()]
        names = [row for row in same if row[1] == NAME] or same
        place: dict[int, tuple[int, bool]] = {}
        for node, _, language, text in names:
            rank = (language_rank(language, self._languages), text != name)
            place[node] = min(rank, place.get(node, rank))
        shown = sorted(place, key=lambda node: (place[node], node))
        if len(shown) > 1:
            degrees = entities.degrees(self._builder, shown[:_MOST_RANKED])
            shown.sort(key=lambda node: (place[node], -degrees.get(node, 0), node))
        described = entities.described_by_number(self._builder, shown[:limit])
        return Page(
            items=tuple(described[node] for node in shown[:limit]),
            positions=tuple(str(node) for node in shown[:limit]),
            total=Count(len(shown)) if len(same) < _MOST_SAME else Count.at_least(len(shown)),
            stop=Stop.LIMIT if len(shown) > limit else Stop.COMPLETE,
        )

    def find(self, hint: str, label: LabelEntry | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by their number in the file."""
        hint = storable(hint).strip()
        best: dict[int, tuple[float, str]] = {}
        for reference, row in entities.resolved(self._builder, [hint]).items():
            best[row[0]] = (1.0, reference)
        likeness = Likeness(hint)
        for node, kind, _, text in self._looked_at(hint, label):
            score = round(likeness.score(text, kind), 3)
            if score > best.get(node, (-1.0, ""))[0]:
                best[node] = (score, text)
        if label is not None:
            having = self._session.all(queries.names.WITH_LABEL, json.dumps(list(best)), label.id)
            best = {node: best[node] for (node,) in having}
        return self._ranked(best, limit)

    def _ranked(self, best: dict[int, tuple[float, str]], limit: int) -> Page[Candidate]:
        order = sorted(best, key=lambda node: (-best[node][0], node))
        close = order[: max(limit, _MOST_RANKED)]
        degrees = entities.degrees(self._builder, close)
        close.sort(key=lambda node: (-best[node][0], -degrees[node], node))
        shown = close[:limit]
        described = entities.described_by_number(self._builder, shown)
        return Page(
            items=tuple(
                Candidate(described[node], best[node][1], best[node][0], Count(degrees[node])) for node in shown
            ),
            positions=tuple(str(node) for node in shown),
            total=Count(len(best)) if len(best) < _MOST_HITS else Count.at_least(len(best)),
            stop=Stop.LIMIT if len(best) > limit else Stop.COMPLETE,
        )

    def _looked_at(self, hint: str, label: LabelEntry | None) -> Iterator[Row]:
        """Rows of names worth scoring: from the very name outwards, until a step finds a name."""
        if not hint:
            return
        same = self._same(hint)
        if label is not None:
            having = self._session.all(queries.names.WITH_LABEL, json.dumps([row[0] for row in same]), label.id)
            same = [row for row in same if (row[0],) in having]
        yield from same
        named = bool(same)
        for step in self._steps(words(hint)):
            rows = [row for expression in step for row in self._matching(expression, label)]
            yield from rows
            named = named or any(row[1] != DESCRIPTION for row in rows)
            if named:
                return
        yield from self._session.all(queries.names.NAMES_STARTING, hint, hint + _AFTER_ALL, _MOST_HITS)

    def _steps(self, asked: list[str]) -> Iterator[list[str]]:
        """Questions to the full-text index, the strictest step first; the questions of one step belong together."""
        if not asked:
            return
        known = {word for word in asked if self._session.one(queries.names.WORD_EXISTS, _quoted(word))}
        yield [_all_of([[_quoted(word)] for word in asked])]
        vocabulary = self._vocabulary(self._builder)
        near: dict[str, list[str]] = {}
        for word in asked:
            self._session.check()
            prefix = [f"{_quoted(word)}*"] if len(word) >= _SHORTEST_PREFIX else []
            near[word] = [_quoted(term) for term in dict.fromkeys([word, *vocabulary.near(word)])] + prefix
        if len(known) < len(asked):
            yield [_all_of([[_quoted(word)] if word in known else near[word] for word in asked])]
        yield [_all_of([near[word] for word in asked])]
        yield [_all_of([near[word]]) for word in asked]

    def _matching(self, expression: str, label: LabelEntry | None) -> list[Row]:
        if label is None:
            return self._session.all(queries.names.NAMES_MATCHING, expression, _MOST_HITS)
        return self._session.all(queries.names.NAMES_MATCHING_WITH_LABEL, expression, _MOST_HITS_WITH_LABEL, label.id)

    def _same(self, name: str) -> list[Row]:
        """Rows of names with the same letters. Usual ways to write it are seeks; others come by their words."""
        name = storable(name)
        ways = {name, name.lower(), name.upper(), name.title(), name.capitalize(), name.casefold()}
        rows = self._session.all(queries.names.NAMES_EQUAL, json.dumps(sorted(ways)), _MOST_SAME)
        asked = words(name)
        if asked:
            in_order = self._session.all(queries.names.NAMES_MATCHING, f"^ {_quoted(' '.join(asked))}", _MOST_HITS)
            rows += [row for row in in_order if row[1] != DESCRIPTION and folded(row[3]) == folded(name)]
        return list(dict.fromkeys(rows))


def _quoted(word: str) -> str:
    """A word that the full-text index takes as nothing but a word."""
    return '"' + word.replace('"', '""') + '"'


def _all_of(groups: list[list[str]]) -> str:
    """The question for names that have one word of each group."""
    return " AND ".join(f"({' OR '.join(group)})" for group in groups)
