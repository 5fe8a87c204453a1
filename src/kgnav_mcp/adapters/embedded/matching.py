"""Far ends that have a label or words, as conditions of queries: rows that do not fit never leave SQLite.

Where fewer seeks find the rows, the nodes that fit are looked up first, in the index of names or of labels, and the
rows sought that end at them: the cost follows the nodes found and not a hub's degree. Else every row is passed, and
its far end compared by a function that the query calls.
"""

from __future__ import annotations

import json
from dataclasses import replace

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.anchors import Anchors
from kgnav_mcp.adapters.embedded.lookup import NameLookup
from kgnav_mcp.adapters.embedded.neighbours import NeighbourReader
from kgnav_mcp.adapters.embedded.queries.around import Ends
from kgnav_mcp.adapters.embedded.rowfilter import Conditions, RowFilter
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter, text
from kgnav_mcp.model import AnchoredPage, Count, Direction, Link
from kgnav_mcp.port import FarEnds, TailKind
from kgnav_mcp.port.matching import MISSPELT, Words, text_of


class MatchingReader:
    """Answers `matching` for one set of nodes, within one job."""

    def __init__(
        self, builder: Builder, anchors: Anchors, direction: Direction | None, wanted: RowFilter, far: FarEnds
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._anchors = anchors
        self._direction = direction
        self._wanted = wanted if far.label is None else replace(wanted, far_ends=TailKind.ENTITY)
        self._words = None if far.words is None else Words(far.words)
        self._labels = None if far.label is None else _labels(builder, far.label)

    def page(self, limit: int, after: str | None) -> AnchoredPage[Link]:
        """One page of the rows whose far ends fit; where none has the words, of those that nearly have them.

        Raises:
            InvalidCursor: no page of this list gave that position.
        """
        if self._labels == []:
            return AnchoredPage((), (), Count(0), anchors=self._anchors.given)
        first = self._page(limit if after is None else 1, None, nearly=False)
        nearly = self._words is not None and not first.items
        if after is None and not nearly:
            return first
        page = self._page(limit, after, nearly=nearly)
        return replace(page, note=MISSPELT) if nearly and page.items else page

    def _page(self, limit: int, after: str | None, *, nearly: bool) -> AnchoredPage[Link]:
        wanted = replace(self._wanted, conditions=self._conditions(nearly=nearly))
        return NeighbourReader(self._builder, self._anchors, self._direction, wanted).page(limit, after)

    def _conditions(self, *, nearly: bool) -> Conditions:
        """Those of the cheaper way: rows at nodes that were found, or all rows compared."""
        most = self._rows_to_pass()
        of_label = () if self._labels is None else (Ends.LABELLED,)
        parameters: dict[str, Parameter] = {"labels": json.dumps(self._labels)}
        if self._words is None:
            found, fitting, values = self._labelled(most), (), ()
        else:
            self._define(self._words, nearly=nearly)
            found, fitting, values = self._named(self._words, most, nearly=nearly), (Ends.NAME_FITS,), (Ends.TEXT_FITS,)
        if found is None:
            return Conditions((*of_label, *fitting), values, parameters)
        return Conditions((Ends.AMONG_FOUND, *of_label), values, {**parameters, "found": json.dumps(found)})

    def _rows_to_pass(self) -> int:
        """The rows of hubs for each of their relations: as many nodes are sought in the time that these are passed."""
        relations = self._wanted.relations
        counts = [
            rows
            for side in (Direction if self._direction is None else (self._direction,))
            for of_hub in self._anchors.hubs[side].values()
            for relation, rows in of_hub.items()
            if relations is None or relation in relations
        ]
        return sum(counts) // max(len(counts), 1)

    def _named(self, words: Words, most: int, *, nearly: bool) -> list[int] | None:
        """The nodes with a name that has the words, or is an id; None where there are as many as rows to be passed."""
        if not words.asked or not most:
            return None
        rows = NameLookup(self._builder).having(words.asked, most, nearly=nearly)
        if len(rows) >= most:
            return None
        nodes = json.dumps(list(dict.fromkeys(number for number, *_ in rows)))
        named = self._session.all(queries.entities.NODES_BY_ID, nodes)
        named += entities.resolved(self._builder, [words.text]).values()
        fits = words.nearly_fit if nearly else words.fit
        return sorted({number for number, key, label, _, mediator in named if fits(self._shown(key, label, mediator))})

    def _labelled(self, most: int) -> list[int] | None:
        """The nodes with the label; None where there are as many as rows to be passed."""
        entries = self._builder.catalogue.labels(self._session).entries
        if sum(entries[label].size for label in self._labels or ()) >= most:
            return None
        rows = self._session.all(queries.names.LABELLED, json.dumps(self._labels))
        return sorted({number for (number,) in rows})

    def _shown(self, key: str, label: str | None, mediator: int) -> str:
        return text_of(self._builder.entity(text(key), label, mediator))

    def _define(self, words: Words, *, nearly: bool) -> None:
        """The functions that compare in a query."""
        fits = words.nearly_fit if nearly else words.fit

        def name_fits(key: str, label: str | None, mediator: int) -> bool:
            return fits(self._shown(key, label, mediator))

        self._session.define({"kg_name_fits": (3, name_fits), "kg_text_fits": (1, fits)}, {})


def _labels(builder: Builder, name: str) -> list[int]:
    """The labels that entities show by this name, letter case aside."""
    entries = builder.catalogue.labels(builder.session).entries.values()
    return [entry.id for entry in entries if entry.printed.casefold() == name.casefold()]
