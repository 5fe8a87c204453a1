"""Finds entities by name: names that may match are looked up, then scored as whole names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from kgnav_mcp.adapters.candidates import Candidates, first_page
from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.lookup import MOST_SAME, NameLookup
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.languages import language_rank
from kgnav_mcp.adapters.likeness import ID, Rank, entities_named
from kgnav_mcp.model import Candidate, Count, Namesake, Page, Stop, ValueMatch

_MAX_RANKED = 200
"""Candidates whose degree is counted, at most. The degree orders candidates with equal scores."""


class NameReader:
    """Answers `named_each` and `find`, within one job."""

    def __init__(self, builder: Builder, languages: Sequence[str]) -> None:
        self._builder = builder
        self._session = builder.session
        self._languages = languages

    def named_each(self, names: Sequence[str], limit: int) -> dict[str, Page[Namesake]]:
        """Returns for each name the entities that have it, in any language, letter case aside.

        Aliases count only if no entity has the name, ids only if there is no such alias either.
        """
        lookup = NameLookup(self._builder)
        rows = lookup.rows_named(list(dict.fromkeys(names)))
        for name, group in lookup.by_id(name for name, group in rows.items() if _only_ids(group)).items():
            rows[name] += group
        found = {name: self._bearers(name, group) for name, group in rows.items()}
        ordered = {name: sorted(group, key=lambda node: (group[node][0], node)) for name, group in found.items()}
        tied = dict.fromkeys(node for group in ordered.values() if len(group) > 1 for node in group[:_MAX_RANKED])
        degrees = entities.degrees(self._builder, list(tied)) if tied else {}
        for name, group in ordered.items():
            ranks = found[name]
            group.sort(key=lambda node: (ranks[node][0], -degrees.get(node, 0), node))
        shown = list(dict.fromkeys(node for group in ordered.values() for node in group[:limit]))
        described = entities.described_by_number(self._builder, shown)
        return {
            name: first_page(
                [(str(node), Namesake(described[node], found[name][node][1])) for node in group[:limit]],
                len(group),
                limit,
                _stop(len(rows[name]), MOST_SAME),
            )
            for name, group in ordered.items()
        }

    def with_values(self, values: Sequence[str], limit: int) -> dict[str, list[ValueMatch]]:
        """Returns for each text the first nodes that have it as the value of a property."""
        found: dict[str, list[Row]] = {}
        for value in dict.fromkeys(values):
            self._session.check()
            found[value] = self._session.all(queries.names.NODES_WITH_TEXT, encodable(value), limit)
        nodes = list(dict.fromkeys(node for rows in found.values() for node, _ in rows))
        described = entities.described_by_number(self._builder, nodes)
        return {
            value: [ValueMatch(described[node], self._builder.relation(number)) for node, number in rows]
            for value, rows in found.items()
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
            candidates.restrict_to({node for (node,) in self._session.all(queries.names.WITH_LABEL, nodes, entry.id)})
        order = candidates.best_first(lambda node: (node not in lookup.hubs, node))
        best = order[: max(limit, _MAX_RANKED)]
        degrees = entities.degrees(self._builder, best)
        best.sort(key=lambda node: (-candidates[node].score, -degrees[node], node))
        described = entities.described_by_number(self._builder, best[:limit])
        found = [
            (str(node), Candidate(described[node], *candidates[node], Count(degrees[node]))) for node in best[:limit]
        ]
        return first_page(found, len(candidates), limit, Stop.LIMIT if lookup.is_truncated else Stop.COMPLETE)


def _stop(found: int, limit: int) -> Stop:
    """Returns LIMIT if the limit was reached, so that there may be more."""
    return Stop.COMPLETE if found < limit else Stop.LIMIT


def _only_ids(rows: Iterable[Row]) -> bool:
    """Whether a name was found in ids only."""
    return all(kind == ID for _, kind, _, _ in rows)
