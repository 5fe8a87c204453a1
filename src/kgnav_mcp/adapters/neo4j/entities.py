"""Nodes as entities: the id that survives, the name in a preferred language, and the way back from an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import meant, sendable, split_key
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Entity

_ELEMENT = re.compile(r"[0-9]+:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:[0-9]+")
"""What Neo4j itself calls a node. It may be given to another one once the node is deleted."""

Cell = Sequence[Any]
"""A node as `queries.CELL` gives it."""


@dataclass(frozen=True, slots=True)
class Seek:
    """Where nodes are sought: by the key of a label, or by element ids. `references` goes by the value sought."""

    query: str
    label: str | None
    key: str
    values: tuple[object, ...]
    references: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node that was sought and found: where it is in the store, what it is, and the row that came with it."""

    element: str
    entity: Entity
    row: Sequence[Any]


class Cells:
    """Reads the cells of one catalogue: which of the values in them identify a node, name it and describe it."""

    def __init__(self, catalogue: Catalogue, languages: tuple[str, ...]) -> None:
        identifying = (key for _, key in catalogue.ids)
        self.catalogue = catalogue
        self.shown = list(dict.fromkeys((*identifying, *catalogue.name_keys)))
        """The keys that cells hold: those that identify nodes, then names."""
        self.described = [*self.shown, *catalogue.description_keys]
        """The keys that they hold where descriptions are wanted, too."""
        self._languages = tuple(language.lower() for language in languages)
        self._ids = [(label, key, self.shown.index(key)) for label, key in catalogue.ids]
        self._names = self._places(catalogue.names)
        self._names_of = {label: self._places(names) for label, names in catalogue.names_of.items()}
        self._descriptions = self._places(catalogue.descriptions)

    def entity(self, cell: Cell) -> Entity:
        """The entity of a cell."""
        element, labels, values = cell
        own = [place for label in sorted(labels) for place in self._names_of.get(label, ())]
        return Entity(
            id=self._id(element, labels, values),
            label=_first_text(values, own) or _first_text(values, self._names),
            types=tuple(sorted(labels)),
            description=_first_text(values, self._descriptions),
        )

    def _id(self, element: str, labels: Sequence[str], values: Sequence[Any]) -> str:
        for label, key, place in self._ids:
            if label in labels and _identifies(values[place]):
                return f"{label}:{key}={values[place]}"
        return element

    def _places(self, properties: Iterable[str]) -> list[int]:
        """Where the values of some properties stand, the first property and the preferred language first."""
        order = [name.casefold() for name in properties]
        ranked = [
            (order.index(base.casefold()), self._rank(language), key, place)
            for place, key in enumerate(self.described)
            for base, language in (split_key(key),)
            if base.casefold() in order
        ]
        return [place for *_, place in sorted(ranked)]

    def _rank(self, language: str | None) -> int:
        """Preferred languages in their order (`en-GB` is `en`, too), then no language, then any other."""
        if language is None:
            return len(self._languages)
        tag = language.lower()
        for place, wanted in enumerate(self._languages):
            if tag == wanted or tag.startswith(f"{wanted}-"):
                return place
        return len(self._languages) + 1


class Entities:
    """Makes entities of nodes, and finds the nodes that ids mean."""

    def __init__(self, store: Store, catalogues: Catalogues, languages: tuple[str, ...]) -> None:
        self._store = store
        self._catalogues = catalogues
        self._languages = languages
        self._cells: Cells | None = None

    @property
    def cells(self) -> Cells:
        """The reader of cells that fits the catalogue as it is now."""
        catalogue = self._catalogues.now
        if self._cells is None or self._cells.catalogue is not catalogue:
            self._cells = Cells(catalogue, self._languages)
        return self._cells

    @property
    def shown(self) -> list[str]:
        """The keys that cells of far ends hold."""
        return self.cells.shown

    @property
    def described(self) -> list[str]:
        """The keys that cells of nodes hold that are asked for."""
        return self.cells.described

    def entity(self, cell: Cell) -> Entity:
        """The entity of a cell."""
        return self.cells.entity(cell)

    async def find(
        self, references: Sequence[str], template: str, parts: Mapping[str, str] | None = None, **parameters: object
    ) -> dict[str, Anchor]:
        """The nodes that references mean, by reference, each with its row of a query whose first item is its cell.

        The query begins with a seek and collects one row for each node. Unknown references are left out; two that
        mean one node have the same anchor.
        """
        found: dict[str, Anchor] = {}
        catalogue = self._catalogues.now
        seeks = _seeks(catalogue, references)
        texts = [cypher.filled(template, **{"seek": seek.query, **(parts or {})}) for seek in seeks]
        answers = await gathered(
            *(
                self._store.row(
                    text, values=list(seek.values), shown=self.shown, described=self.described, **parameters
                )
                for seek, text in zip(seeks, texts, strict=True)
            )
        )
        for seek, (rows,) in zip(seeks, answers, strict=True):
            place = self.shown.index(seek.key) if seek.label is not None else -1
            for row in cast("list[list[Any]]", rows):
                cell = row[0]
                anchor = Anchor(cell[0], self.entity(cell), row)
                text = str(cell[0] if place < 0 else cell[2][place])
                for reference in seek.references.get(text, ()):
                    found.setdefault(reference, anchor)
        return {reference: found[reference] for reference in references if reference in found}

    async def anchors(
        self, references: Sequence[str], template: str, parts: Mapping[str, str] | None = None, **parameters: object
    ) -> list[Anchor]:
        """The same nodes in the order of the references, each once."""
        found = await self.find(references, template, parts, **parameters)
        return list({anchor.element: anchor for anchor in found.values()}.values())

    async def entities(self, references: Sequence[str]) -> dict[str, Entity]:
        """Entities with their descriptions, by reference."""
        found = await self.find(references, queries.NODES)
        return {reference: anchor.entity for reference, anchor in found.items()}


def _identifies(value: object) -> bool:
    """Whether a value is written in a way that it can be read back from: text and whole numbers are."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _first_text(values: Sequence[Any], places: Sequence[int]) -> str | None:
    """The text at the first of some places that has one; of a list the first text in it."""
    for place in places:
        value = values[place] if place < len(values) else None
        if isinstance(value, list):
            value = next((item for item in cast("list[object]", value) if isinstance(item, str) and item), None)
        if isinstance(value, str) and value.strip():
            return value
    return None


def _seeks(catalogue: Catalogue, references: Sequence[str]) -> list[Seek]:
    """The look-ups that find some references, one for each kind of id among them."""
    by_key: dict[tuple[str, str], dict[str, list[str]]] = {}
    elements: dict[str, list[str]] = {}
    for reference in dict.fromkeys(references):
        if sendable(reference) != reference:
            continue
        if _ELEMENT.fullmatch(reference):
            elements.setdefault(reference, []).append(reference)
        for label, key in catalogue.ids:
            start = f"{label}:{key}="
            if reference.startswith(start):
                by_key.setdefault((label, key), {}).setdefault(reference[len(start) :], []).append(reference)
    seeks = [
        Seek(
            query=cypher.filled(queries.BY_KEY, label=cypher.quoted(label), key=cypher.quoted(key)),
            label=label,
            key=key,
            values=tuple(value for text in texts for value in meant(text) if _identifies(value)),
            references={text: tuple(meaning) for text, meaning in texts.items()},
        )
        for (label, key), texts in by_key.items()
    ]
    if elements:
        meaning = {element: tuple(given) for element, given in elements.items()}
        seeks.append(Seek(queries.BY_ELEMENT, None, "", tuple(elements), meaning))
    return seeks
