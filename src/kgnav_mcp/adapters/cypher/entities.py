"""Converts nodes to entities, with a stable id and a name in a preferred language; and ids to nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.catalogue import Catalogue, CatalogueCache
from kgnav_mcp.adapters.cypher.dialect import split_key, whole_number
from kgnav_mcp.adapters.cypher.session import MAX_IDS_PER_QUERY, Builder, Session, quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Entity, Relation
from kgnav_mcp.port.lists import batches

_KINDS_IN_FULL = 2
"""Nodes with more kinds of ids are found first, and then described by one query."""

NodeRow = Sequence[Any]
"""A node as `queries.PARTS` gives it: the store's own id, labels, and the values of some keys."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up of nodes by a key of a label; or, without label and key, by the store's own ids.

    `references` maps each value (of the key, or the store's id) to the references that mean it.
    """

    label: str | None
    key: str | None
    references: Mapping[str, tuple[str, ...]]

    def condition(self, builder: Builder, variable: str, parameter: str) -> str:
        """The condition that a variable is one of the nodes, with `values` passed as a parameter."""
        if self.label is None or self.key is None:
            return builder.fill(queries.BY_ID, id_of_variable=builder.node_id(variable), values=parameter)
        named = {"label": quoted(self.label), "key": quoted(self.key)}
        return builder.fill(queries.BY_KEY, variable=variable, values=parameter, **named)

    @property
    def values(self) -> list[str | int]:
        """The values to look up: the texts, and the integers that they may represent."""
        numbers = map(whole_number, self.references) if self.key is not None else ()
        return [*self.references, *(number for number in numbers if number is not None)]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node that was found: the store's own id, its entity, and the row that the query returned for it."""

    node_id: str
    entity: Entity
    row: Sequence[Any]


class NodeDecoder:
    """Makes entities from rows. The catalogue says which values identify, name and describe a node."""

    def __init__(self, catalogue: Catalogue, languages: tuple[str, ...]) -> None:
        identifying = (key for _, key in catalogue.id_keys)
        self.catalogue = catalogue
        self.shown_keys = list(dict.fromkeys((*identifying, *catalogue.name_keys)))
        """The keys that are read of far ends: those that identify nodes, then names."""
        self.described_keys = [*self.shown_keys, *catalogue.description_keys]
        """The keys that are read of described entities: those of `shown_keys`, and descriptions."""
        self._languages = tuple(language.lower() for language in languages)
        self._ids = [(label, key, self.shown_keys.index(key)) for label, key in catalogue.id_keys]
        self._names = self._places(catalogue.properties.names)
        self._names_of = {label: self._places(names) for label, names in catalogue.names_of.items()}
        self._descriptions = self._places(catalogue.properties.descriptions)

    def entity(self, node: NodeRow) -> Entity:
        """A node as an entity."""
        node_id, labels, values = node
        own = [place for label in sorted(labels) for place in self._names_of.get(label, ())]
        return Entity(
            id=self._id(node_id, labels, values),
            label=_first_text(values, own) or _first_text(values, self._names),
            types=tuple(sorted(labels)),
            description=_first_text(values, self._descriptions),
        )

    def names(self) -> tuple[list[tuple[str, str]], list[str]]:
        """The keys of names in the order they are tried: pairs of label and key, then keys of any node."""
        own = [
            (label, self.described_keys[place]) for label in sorted(self._names_of) for place in self._names_of[label]
        ]
        return own, [self.described_keys[place] for place in self._names]

    def _id(self, node_id: str, labels: Sequence[str], values: Sequence[Any]) -> str:
        for label, key, place in self._ids:
            if label in labels and _identifies(values[place]):
                return f"{label}:{key}={values[place]}"
        return node_id

    def _places(self, properties: Iterable[str]) -> list[int]:
        """Indexes of the values of some properties, in the order of the properties, then of preferred languages."""
        order = [name.casefold() for name in properties]
        ranked = [
            (order.index(base.casefold()), self._rank(language), key, place)
            for place, key in enumerate(self.described_keys)
            for base, language in (split_key(key),)
            if base.casefold() in order
        ]
        return [place for *_, place in sorted(ranked)]

    def _rank(self, language: str | None) -> int:
        """The rank of a language: preferred ones in their order (`en-GB` counts as `en`), none, any other."""
        if language is None:
            return len(self._languages)
        tag = language.lower()
        for place, wanted in enumerate(self._languages):
            if tag == wanted or tag.startswith(f"{wanted}-"):
                return place
        return len(self._languages) + 1


class Entities:
    """Makes entities from nodes, and finds the nodes that ids mean."""

    def __init__(self, session: Session, catalogue: CatalogueCache, languages: tuple[str, ...]) -> None:
        self.session = session
        self.catalogue = catalogue
        self._languages = languages
        self._decoder: NodeDecoder | None = None

    @property
    def decoder(self) -> NodeDecoder:
        """The decoder for the current catalogue."""
        catalogue = self.catalogue.current
        if self._decoder is None or self._decoder.catalogue is not catalogue:
            self._decoder = NodeDecoder(catalogue, self._languages)
        return self._decoder

    async def find(
        self, references: Sequence[str], template: str, parts: Mapping[str, str] | None = None, **parameters: object
    ) -> dict[str, Anchor]:
        """The nodes that references (ids) mean, by reference, each with its row of a query.

        The query must begin with `{lookup}` and return one row for each node, with the node as its first item. Unknown
        references are omitted, as are IRIs that several nodes have. Two references to one node have the same anchor.
        """
        decoder = self.decoder
        lookups = await in_thread(len(references), lambda: self.lookups(references))
        if parts and len({(lookup.label, lookup.key) for lookup in lookups}) > _KINDS_IN_FULL:
            lookups = await self._by_store_ids(lookups)
        answers = await gathered(
            *(
                self.session.items(
                    template,
                    {"lookup": _written(lookup, self.session.builder), **(parts or {})},
                    **{
                        "values": lookup.values,
                        "shown": decoder.shown_keys,
                        "described": decoder.described_keys,
                        **parameters,
                    },
                )
                for lookup in lookups
            )
        )

        def matched() -> dict[str, Anchor]:
            found: dict[str, Anchor] = {}
            ambiguous: set[str] = set()
            for lookup, rows in zip(lookups, answers, strict=True):
                place = decoder.shown_keys.index(lookup.key) if lookup.key is not None else -1
                for row in rows:
                    node_id, _, values = row[0]
                    anchor = Anchor(node_id, decoder.entity(row[0]), row)
                    for reference in lookup.references.get(str(node_id if place < 0 else values[place]), ()):
                        if found.setdefault(reference, anchor).node_id != anchor.node_id:
                            ambiguous.add(reference)
            ambiguous = {reference for reference in ambiguous if not self.is_printed(reference)}
            return {one: found[one] for one in references if one in found and one not in ambiguous}

        return await in_thread(len(references), matched)

    async def _by_store_ids(self, lookups: Sequence[Lookup]) -> list[Lookup]:
        """Look-ups of the same nodes by the store's own ids: one query for all of them, where each kind has its own.

        A store plans each of those queries for longer than it takes to answer it.
        """
        places = {key: place for place, key in enumerate(self.decoder.shown_keys)}
        answers = await gathered(*(self._nodes(lookup) for lookup in lookups))
        nodes: dict[str, list[str]] = defaultdict(list)
        for lookup, rows in zip(lookups, answers, strict=True):
            for ((node_id, _, values),) in rows:
                value = node_id if lookup.key is None else values[places[lookup.key]]
                nodes[node_id].extend(lookup.references.get(str(value), ()))
        return [
            Lookup(None, None, {node_id: tuple(given) for node_id, given in batch})
            for batch in batches(list(nodes.items()), MAX_IDS_PER_QUERY)
        ]

    async def _nodes(self, lookup: Lookup) -> list[list[NodeRow]]:
        """The nodes of a look-up, by the query of `describe`, which the store has planned for that."""
        shown = self.decoder.shown_keys
        parts = {"lookup": _written(lookup, self.session.builder)}
        return await self.session.items(queries.NODES, parts, values=lookup.values, shown=shown, described=shown)

    async def anchors(
        self, references: Sequence[str], template: str, parts: Mapping[str, str] | None = None, **parameters: object
    ) -> list[Anchor]:
        """The nodes that `find` returns, in the order of the references, without duplicates."""
        found = await self.find(references, template, parts, **parameters)
        return list({anchor.node_id: anchor for anchor in found.values()}.values())

    async def describe(self, references: Sequence[str]) -> dict[str, Entity]:
        """Entities with their descriptions, by reference."""
        found = await self.find(references, queries.NODES)
        return {reference: anchor.entity for reference, anchor in found.items()}

    def lookups(self, references: Iterable[str]) -> list[Lookup]:
        """The look-ups that find these references: at least one for each kind of id among them, in batches."""
        kinds: dict[tuple[str | None, str | None], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for reference in dict.fromkeys(references):
            if encodable(reference) != reference:
                continue
            if self.session.dialect.node_id_form.fullmatch(reference):
                kinds[None, None][reference].append(reference)
            forms = () if self.is_printed(reference) else self.iri_forms(reference)
            for start, kind in self.catalogue.current.id_starts.items():
                for text in (reference[len(start) :],) if reference.startswith(start) else forms:
                    kinds[kind][text].append(reference)
        return [
            Lookup(*kind, {text: tuple(given) for text, given in batch})
            for kind, texts in kinds.items()
            for batch in batches(list(texts.items()), MAX_IDS_PER_QUERY)
        ]

    def iri_forms(self, text: str) -> tuple[str, ...]:
        """The forms in which a key may contain the IRI that a text means: full and short. Empty if it means none."""
        prefixes = self.catalogue.current.properties.prefixes
        keys = prefixes.keys(text)
        if len(keys) == 1 and "://" not in text:
            return ()
        return tuple(dict.fromkeys((keys[-1], prefixes.short(keys[-1]), *(key for key in keys if key[0] != "<"))))

    def share_one_key(self, references: Sequence[str]) -> bool:
        """Whether all references use the same key of the same label, so that no two can mean the same node."""
        return any(
            all(reference.startswith(start) for reference in references) for start in self.catalogue.current.id_starts
        )

    def is_printed(self, reference: str) -> bool:
        """Whether a text is an id as answers print it."""
        return reference.startswith(tuple(self.catalogue.current.id_starts)) or bool(
            self.session.dialect.node_id_form.fullmatch(reference)
        )


def _written(lookup: Lookup, builder: Builder) -> str:
    return queries.LOOKUP.format(condition=lookup.condition(builder, "n", "values"))


@lru_cache(maxsize=10_000)
def relation_of(name: str) -> Relation:
    """A relationship type or a property as a relation."""
    return Relation(name, readable(name), label_from_id=True)


def _identifies(value: object) -> bool:
    """Whether a value can be part of an id, because its text can be parsed back: texts and integers."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _first_text(values: Sequence[Any], places: Sequence[int]) -> str | None:
    """The first text found at these indexes, tried in order. Of a list, its first text."""
    for place in places:
        value = values[place] if place < len(values) else None
        if isinstance(value, list):
            value = next((item for item in cast("list[object]", value) if isinstance(item, str) and item), None)
        if isinstance(value, str) and value.strip():
            return value
    return None
