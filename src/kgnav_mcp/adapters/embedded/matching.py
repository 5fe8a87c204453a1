"""Filters rows by a label or words of their far ends, within SQLite.

There are two ways, and the cheaper one is used. Either the nodes that match are looked up first, in the index of names
or of labels, and then rows that end at them are sought: the cost depends on the nodes found, not on a hub's degree. Or
all rows are scanned, and a Python function called by the query compares each far end.
"""

from __future__ import annotations

import json
from dataclasses import replace

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.entities import Anchors, Conditions, RowFilter
from kgnav_mcp.adapters.embedded.names import NameLookup
from kgnav_mcp.adapters.embedded.neighbours import NeighbourReader
from kgnav_mcp.adapters.embedded.queries.around import FarEndCondition
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter, text
from kgnav_mcp.model import AnchoredPage, Count, Direction, Link
from kgnav_mcp.port import FarEndFilter, FarEndKind
from kgnav_mcp.port.far_end_filters import MISSPELT, Words, node_text


class MatchingReader:
    """Answers `matching` for one set of nodes, within one job."""

    def __init__(
        self, builder: Builder, anchors: Anchors, direction: Direction | None, row_filter: RowFilter, far: FarEndFilter
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._anchors = anchors
        self._direction = direction
        self._row_filter = row_filter if far.label is None else replace(row_filter, far_end_kind=FarEndKind.ENTITY)
        self._words = None if far.words is None else Words(far.words)
        self._labels = None if far.label is None else _labels_named(builder, far.label)

    def page(self, limit: int, after: str | None) -> AnchoredPage[Link]:
        """Returns one page of the rows with matching far ends. If none has the words, similar spellings match too.

        Raises:
            InvalidCursor: no page of this list gave that position.
        """
        if self._labels == []:
            return AnchoredPage((), (), Count(0), anchors=self._anchors.by_reference)
        first = self._page(limit if after is None else 1, None, nearly=False)
        nearly = self._words is not None and not first.items
        if after is None and not nearly:
            return first
        page = self._page(limit, after, nearly=nearly)
        return replace(page, note=MISSPELT) if nearly and page.items else page

    def _page(self, limit: int, after: str | None, *, nearly: bool) -> AnchoredPage[Link]:
        row_filter = replace(self._row_filter, conditions=self._conditions(nearly=nearly))
        return NeighbourReader(self._builder, self._anchors, self._direction, row_filter).page(limit, after)

    def _conditions(self, *, nearly: bool) -> Conditions:
        """Returns the conditions of the cheaper way: rows at nodes looked up before, or all rows compared."""
        scan_cost = self._scan_cost()
        label_condition = () if self._labels is None else (FarEndCondition.LABELLED,)
        parameters: dict[str, Parameter] = {"labels": json.dumps(self._labels)}
        if self._words is None:
            nodes, name_condition, text_condition = self._nodes_labelled(scan_cost), (), ()
        else:
            self._define_functions(self._words, nearly=nearly)
            nodes, name_condition, text_condition = (
                self._nodes_named(self._words, scan_cost, nearly=nearly),
                (FarEndCondition.NAME_MATCHES,),
                (FarEndCondition.TEXT_MATCHES,),
            )
        if nodes is None:
            return Conditions((*label_condition, *name_condition), text_condition, parameters)
        return Conditions(
            (FarEndCondition.AMONG_FOUND, *label_condition), text_condition, {**parameters, "found": json.dumps(nodes)}
        )

    def _scan_cost(self) -> int:
        """Returns the mean number of rows per hub and relation.

        Looking up this many nodes takes as long as scanning the rows.
        """
        relations = self._row_filter.relations
        counts = [
            rows
            for side in (Direction if self._direction is None else (self._direction,))
            for hub_counts in self._anchors.hubs[side].values()
            for relation, rows in hub_counts.items()
            if relations is None or relation in relations
        ]
        return sum(counts) // max(len(counts), 1)

    def _nodes_named(self, words: Words, limit: int, *, nearly: bool) -> list[int] | None:
        """Returns the nodes whose name has the words, or whose id is the whole text.

        None if there are at least `limit`, so that scanning the rows is cheaper.
        """
        if not words.distinct or not limit:
            return None
        rows = NameLookup(self._builder).rows_with_words(words.distinct, limit, nearly=nearly)
        if len(rows) >= limit:
            return None
        nodes = json.dumps(list(dict.fromkeys(number for number, *_ in rows)))
        candidates = self._session.all(queries.entities.NODES_BY_ID, nodes)
        candidates += entities.resolved(self._builder, [words.text]).values()
        matches = words.match_with_typos if nearly else words.match
        return sorted(
            {
                number
                for number, key, label, _, mediator in candidates
                if matches(self._printed_name(key, label, mediator))
            }
        )

    def _nodes_labelled(self, limit: int) -> list[int] | None:
        """Returns the nodes with the label; None if at least `limit`, so that scanning the rows is cheaper."""
        entries = self._builder.catalogue.labels(self._session).entries
        if sum(entries[label].size for label in self._labels or ()) >= limit:
            return None
        rows = self._session.all(queries.entities.LABELLED, json.dumps(self._labels))
        return sorted({number for (number,) in rows})

    def _printed_name(self, key: str, label: str | None, mediator: int) -> str:
        return node_text(self._builder.entity(text(key), label, mediator))

    def _define_functions(self, words: Words, *, nearly: bool) -> None:
        """Registers the functions that compare far ends in a query."""
        matches = words.match_with_typos if nearly else words.match

        def name_matches(key: str, label: str | None, mediator: int) -> bool:
            return matches(self._printed_name(key, label, mediator))

        self._session.define({"kg_name_matches": (3, name_matches), "kg_text_matches": (1, matches)}, {})


def _labels_named(builder: Builder, name: str) -> list[int]:
    """Returns the numbers of the labels that are printed as this name, letter case aside; else of the one it means."""
    labels = builder.catalogue.labels(builder.session)
    printed = [entry.id for entry in labels.entries.values() if entry.printed.casefold() == name.casefold()]
    return printed or [entry.id for entry in (labels.get(name),) if entry is not None]
