"""Finding entities by name: what is looked up is scored as whole names."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kgnav_mcp.adapters.candidates import Candidates, first_page
from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry
from kgnav_mcp.adapters.embedded.ids import storable
from kgnav_mcp.adapters.embedded.lookup import MOST_HITS, MOST_SAME, NameLookup
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.languages import language_rank
from kgnav_mcp.adapters.likeness import ID, bearers
from kgnav_mcp.model import Candidate, Count, Namesake, Page, Stop

_MOST_RANKED = 200
"""Candidates whose degree is counted to order equal scores."""


class NameReader:
    """Answers `named` and `find`, within one job."""

    def __init__(self, builder: Builder, languages: Sequence[str]) -> None:
        self._builder = builder
        self._session = builder.session
        self._languages = languages

    def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very name in any language, letter case aside; by alias if none has it, then by id."""
        lookup = NameLookup(self._builder)
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
        namesakes = [(str(node), Namesake(described[node], found[node][1])) for node in shown[:limit]]
        return first_page(namesakes, len(shown), limit, _stop(len(same), MOST_SAME))

    def find(self, hint: str, label: LabelEntry | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by their number in the file."""
        hint = storable(hint).strip()
        candidates = Candidates[int](hint)
        for reference, row in entities.resolved(self._builder, [hint]).items():
            candidates.add_given(row[0], reference)
        rows = NameLookup(self._builder, label).like(hint) if hint else ()
        for node, kind, _, text in dict.fromkeys(rows):
            candidates.add(node, text, kind)
        if label is not None:
            nodes = json.dumps(list(candidates))
            candidates.keep({node for (node,) in self._session.all(queries.names.WITH_LABEL, nodes, label.id)})
        close = candidates.best_first(lambda node: node)[: max(limit, _MOST_RANKED)]
        degrees = entities.degrees(self._builder, close)
        close.sort(key=lambda node: (-candidates[node].score, -degrees[node], node))
        described = entities.described_by_number(self._builder, close[:limit])
        found = [
            (str(node), Candidate(described[node], *candidates[node], Count(degrees[node]))) for node in close[:limit]
        ]
        return first_page(found, len(candidates), limit, _stop(len(candidates), MOST_HITS))


def _stop(found: int, most: int) -> Stop:
    """Why there may be more than was found."""
    return Stop.COMPLETE if found < most else Stop.LIMIT
