"""Finding entities by name: what is looked up is scored as whole names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.ids import storable
from kgnav_mcp.adapters.embedded.lookup import MOST_HITS, MOST_SAME, NameLookup
from kgnav_mcp.adapters.embedded.rows import Builder, language_rank
from kgnav_mcp.adapters.embedded.vocabulary import Vocabulary
from kgnav_mcp.adapters.likeness import ID, Likeness, bearers
from kgnav_mcp.model import Candidate, Count, Namesake, Page, Stop

_MOST_RANKED = 200
"""Candidates whose degree is counted to order equal scores."""


class NameReader:
    """Answers `named` and `find`, within one job."""

    def __init__(self, builder: Builder, languages: Sequence[str], vocabulary: Callable[[Builder], Vocabulary]) -> None:
        self._builder = builder
        self._session = builder.session
        self._languages = languages
        self._vocabulary = vocabulary

    def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very name in any language, letter case aside; by alias if none has it, then by id."""
        lookup = NameLookup(self._builder, self._vocabulary)
        same = lookup.same(name)
        if all(kind == ID for _, kind, _, _ in same):
            same += lookup.by_id(name)
        found = bearers(
            name, ((node, kind, language_rank(tag, self._languages), text) for node, kind, tag, text in same)
        )
        shown = sorted(found, key=lambda node: (found[node][0], node))
        if len(shown) > 1:
            degrees = entities.degrees(self._builder, shown[:_MOST_RANKED])
            shown.sort(key=lambda node: (found[node][0], -degrees.get(node, 0), node))
        described = entities.described_by_number(self._builder, shown[:limit])
        return Page(
            items=tuple(Namesake(described[node], found[node][1]) for node in shown[:limit]),
            positions=tuple(str(node) for node in shown[:limit]),
            total=Count(len(shown)) if len(same) < MOST_SAME else Count.at_least(len(shown)),
            stop=Stop.LIMIT if len(shown) > limit else Stop.COMPLETE,
        )

    def find(self, hint: str, label: LabelEntry | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by their number in the file."""
        hint = storable(hint).strip()
        best: dict[int, tuple[float, str]] = {}
        for reference, row in entities.resolved(self._builder, [hint]).items():
            best[row[0]] = (1.0, reference)
        likeness = Likeness(hint)
        rows = NameLookup(self._builder, self._vocabulary, label).like(hint) if hint else ()
        for node, kind, _, text in dict.fromkeys(rows):
            score = likeness.score(text, kind)
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
            total=Count(len(best)) if len(best) < MOST_HITS else Count.at_least(len(best)),
            stop=Stop.LIMIT if len(best) > limit else Stop.COMPLETE,
        )
