"""Converts rows of the graph file to objects of the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import Catalogue
from kgnav_mcp.adapters.embedded.session import Session, checked_list, mapping, text, text_or_none
from kgnav_mcp.adapters.languages import language_rank
from kgnav_mcp.adapters.naming import entity_name, is_marked_obsolete, marked_obsolete, readable
from kgnav_mcp.adapters.paging.relations import joined
from kgnav_mcp.model import Entity, Literal, Node, Qualifier, Relation

_MAX_HOPS = 2


class Builder:
    """Makes model objects from rows, within one job."""

    def __init__(self, session: Session, catalogue: Catalogue, languages: tuple[str, ...] = ()) -> None:
        """`languages`: preferred languages of names, if other than those that the file was loaded with."""
        self.session = session
        self._languages = languages
        self.catalogue = catalogue
        self.prefixes = catalogue.prefixes
        self._short = catalogue.prefixes.short
        self._entities: dict[str, Entity] = {}
        self.relation_entries = catalogue.relations(session).entries

    @property
    def has_other_languages(self) -> bool:
        """Whether names are wanted in other languages than those that the file was loaded with."""
        return bool(self._languages)

    def relation(self, number: int) -> Relation:
        """Returns the relation with this number in the file."""
        return self.relation_entries[number].relation

    def any_has_literals(self, relations: Iterable[int] | None) -> bool:
        """Whether any of the relations has literals as tails. None means all relations, and is always true."""
        return relations is None or any(self.relation_entries[one].attributes for one in relations)

    def path(self, numbers: tuple[int, ...]) -> Relation:
        """Returns a one-hop relation, or the two-hop relation `rel1.rel2`."""
        if len(numbers) == 1:
            return self.relation_entries[numbers[0]].relation
        return joined([self.relation(number) for number in numbers])

    def entity(self, key: str, label: str | None, mediator: int) -> Entity:
        """Returns an entity with id and label only, as shown at the far end of an edge."""
        entity = self._entities.get(key)
        if entity is None:
            name = self.label(key, label, mediator) if label is None or self._languages else label
            entity = self._entities[key] = Entity(
                self._short(key), text_or_none(name), mediator=mediator != 0, label_from_id=label is None
            )
        return entity

    def label(self, key: str, label: str | None, mediator: int) -> str | None:
        """Returns the name to show: in a preferred language, else as stored, else read from the id, else None."""
        if label is None:
            return None if mediator or self.prefixes.is_opaque(key) else _name_from_id(key)
        if not self._languages:
            return label
        names = [(language_rank(language, self._languages), name) for language, name in self._all_names(key)]
        preferred = [name for name in names if name[0] < language_rank(None, self._languages)]
        if not preferred:
            return label
        return marked_obsolete(min(preferred)[1]) if is_marked_obsolete(label) else min(preferred)[1]

    def _all_names(self, key: str) -> list[tuple[Any, ...]]:
        return self.session.all(queries.names.NAMES_OF, key)

    def literal(self, value: str, datatype: str | None, language: str | None, item: int | None = None) -> Literal:
        """Returns a literal with its datatype in short form. `item`: its index if it is an item of an array."""
        return Literal(text(value), self.prefixes.short(datatype) if datatype else None, text_or_none(language), item)

    def qualifiers(self, stored: str | None) -> tuple[Qualifier, ...]:
        """Returns an edge's qualifiers, sorted by relation id; values of one relation stay in source order."""
        if not stored:
            return ()
        values_by_key: dict[str, list[Any]] = mapping(stored)
        nodes = self.by_key(nodes_in(value for values in values_by_key.values() for value in checked_list(values)))
        found = [
            Qualifier(self.qualifier_relation(key), self.value(value, nodes))
            for key, values in values_by_key.items()
            for value in values
        ]
        return tuple(sorted(found, key=lambda qualifier: qualifier.relation.id))

    def qualifier_relation(self, key: str) -> Relation:
        """Returns the relation of a qualifier's stored key."""
        entry = self.catalogue.relations(self.session).by_key(key)
        if entry is not None:
            return entry.relation
        short = self.prefixes.short(key)
        return Relation(short, readable(short), label_from_id=True)

    def value(self, stored: Any, nodes: Mapping[str, Entity]) -> Node:  # noqa: ANN401 - a value of JSON
        """Returns a qualifier's value as a literal or an entity.

        It is stored as [text, datatype, language] or, an item of an array, as [text, datatype, language, index]; or as
        the id of a node. `nodes` has the entities by id.
        """
        if isinstance(stored, dict):
            key = cast("dict[str, str]", stored)["id"]
            return nodes.get(key) or self.entity(key, None, 0)
        value, datatype, language, *item = checked_list(stored)
        return self.literal(value, datatype, language, *item)

    def by_key(self, keys: Iterable[str]) -> dict[str, Entity]:
        """Returns entities with their labels by stored id. Keys that belong to no node are left out."""
        wanted = sorted(set(keys))
        if not wanted:
            return {}
        rows = self.session.all(queries.entities.NODES_BY_KEY, json.dumps(wanted))
        return {key: self.entity(key, label, mediator) for _, key, label, _, mediator in rows}

    def known_paths(self, paths: Iterable[Sequence[str]]) -> list[tuple[int, ...]]:
        """Returns paths of relation ids as relation numbers, without duplicates and without unknown relations."""
        names = self.catalogue.relations(self.session)
        found: dict[tuple[int, ...], None] = {}
        for path in paths:
            entries = [names.by_key(relation) for relation in path]
            if 1 <= len(path) <= _MAX_HOPS and None not in entries:
                found[tuple(entry.id for entry in entries if entry is not None)] = None
        return list(found)


def nodes_in(stored: Iterable[Any]) -> list[str]:
    """Returns the stored ids of those qualifier values that are nodes."""
    return [cast("dict[str, str]", value)["id"] for value in stored if isinstance(value, dict)]


def _name_from_id(key: str) -> str | None:
    """Returns the name read from an entity's IRI; None for blank nodes and ids without a name in them."""
    return entity_name(key) if "://" in key or key.startswith("urn:") else None
