"""Rows of the graph file as words of the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import Catalogue
from kgnav_mcp.adapters.embedded.session import Session, mapping, text, text_or_none, values_in
from kgnav_mcp.adapters.languages import language_rank
from kgnav_mcp.adapters.naming import entity_name, readable
from kgnav_mcp.adapters.paging.relations import joined
from kgnav_mcp.model import Entity, Literal, Node, Qualifier, Relation

_MOST_HOPS = 2


class Builder:
    """Makes values of the model out of rows, within one job."""

    def __init__(self, session: Session, catalogue: Catalogue, languages: tuple[str, ...] = ()) -> None:
        """`languages` are those of names, where they are others than the ones that the file was loaded for."""
        self.session = session
        self._languages = languages
        self.catalogue = catalogue
        self.prefixes = catalogue.prefixes
        self._short = catalogue.prefixes.short
        self._entities: dict[str, Entity] = {}
        self.relation_entries = catalogue.relations(session).entries

    @property
    def named_anew(self) -> bool:
        """Whether names are looked for in other languages than the file shows them in."""
        return bool(self._languages)

    def relation(self, number: int) -> Relation:
        """The relation with this number in the file."""
        return self.relation_entries[number].relation

    def have_values(self, relations: Iterable[int] | None) -> bool:
        """Whether any of some relations (None: any at all) has values as tails."""
        return relations is None or any(self.relation_entries[one].attributes for one in relations)

    def path(self, numbers: tuple[int, ...]) -> Relation:
        """A relation of one hop, or of two: `rel1.rel2`."""
        if len(numbers) == 1:
            return self.relation_entries[numbers[0]].relation
        return joined([self.relation(number) for number in numbers])

    def entity(self, key: str, label: str | None, mediator: int) -> Entity:
        """An entity as a far end: id and label, without types and description."""
        known = self._entities.get(key)
        if known is None:
            shown = self.label(key, label, mediator) if label is None or self._languages else label
            known = self._entities[key] = Entity(self._short(key), text_or_none(shown), (), None, mediator != 0)
        return known

    def label(self, key: str, label: str | None, mediator: int) -> str | None:
        """The name to show: in a preferred language, else the stored one, else what the id says; None: none."""
        if label is None:
            return None if mediator else _name_in(key)
        if not self._languages:
            return label
        names = [(language_rank(language, self._languages), name) for language, name in self._names(key)]
        preferred = [name for name in names if name[0] < language_rank(None, self._languages)]
        return min(preferred)[1] if preferred else label

    def _names(self, key: str) -> list[tuple[Any, ...]]:
        return self.session.all(queries.names.NAMES_OF, key)

    def literal(self, value: str, datatype: str | None, language: str | None) -> Literal:
        """A literal with its datatype in printed form."""
        return Literal(text(value), self.prefixes.short(datatype) if datatype else None, text_or_none(language))

    def qualifiers(self, stored: str | None) -> tuple[Qualifier, ...]:
        """An edge's own properties, by relation id, values of one relation in the order of the source."""
        if not stored:
            return ()
        read: dict[str, list[Any]] = mapping(stored)
        nodes = self.by_key(nodes_in(value for values in read.values() for value in values_in(values)))
        found = [
            Qualifier(self.qualifier_relation(key), self.value(value, nodes))
            for key, values in read.items()
            for value in values
        ]
        return tuple(sorted(found, key=lambda qualifier: qualifier.relation.id))

    def qualifier_relation(self, key: str) -> Relation:
        """The relation that a qualifier's stored key names."""
        entry = self.catalogue.relations(self.session).by_key(key)
        if entry is not None:
            return entry.relation
        short = self.prefixes.short(key)
        return Relation(short, readable(short))

    def value(self, stored: Any, nodes: Mapping[str, Entity]) -> Node:  # noqa: ANN401 - a value of JSON
        """A qualifier's value: [text, datatype, language], or the id of a node, described in `nodes`."""
        if isinstance(stored, dict):
            key = cast("dict[str, str]", stored)["id"]
            return nodes.get(key) or self.entity(key, None, 0)
        value, datatype, language = values_in(stored)
        return self.literal(value, datatype, language)

    def by_key(self, keys: Iterable[str]) -> dict[str, Entity]:
        """Entities with their labels by stored id; keys that are no node are absent."""
        wanted = sorted(set(keys))
        if not wanted:
            return {}
        rows = self.session.all(queries.entities.NODES_BY_KEY, json.dumps(wanted))
        return {key: self.entity(key, label, mediator) for _, key, label, _, mediator in rows}

    def known_paths(self, paths: Iterable[Sequence[str]]) -> list[tuple[int, ...]]:
        """Paths of relation ids as numbers of the file, each once; those with an unknown relation are left out."""
        names = self.catalogue.relations(self.session)
        found: dict[tuple[int, ...], None] = {}
        for path in paths:
            entries = [names.by_key(relation) for relation in path]
            if 1 <= len(path) <= _MOST_HOPS and None not in entries:
                found[tuple(entry.id for entry in entries if entry is not None)] = None
        return list(found)


def nodes_in(stored: Iterable[Any]) -> list[str]:
    """The stored ids of the nodes among the values of qualifiers."""
    return [cast("dict[str, str]", value)["id"] for value in stored if isinstance(value, dict)]


def _name_in(key: str) -> str | None:
    """The name that the id of an entity without a label carries; None for blank nodes and bare ids."""
    return entity_name(key) if "://" in key or key.startswith("urn:") else None
