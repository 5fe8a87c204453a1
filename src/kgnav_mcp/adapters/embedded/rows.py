"""Rows of a graph file as values of the model, and pages of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import Catalogue
from kgnav_mcp.adapters.embedded.session import Session, checked_list, mapping, text, text_or_none
from kgnav_mcp.adapters.naming import entity_name, is_marked_obsolete, language_rank, marked_obsolete, readable
from kgnav_mcp.adapters.paging.counts import joined
from kgnav_mcp.model import Direction, Entity, Literal, Node, Qualifier, Relation
from kgnav_mcp.port.lists import invalid_cursor

_MAX_HOPS = 2


class Builder:
    """Makes model objects from rows, within one job."""

    def __init__(self, session: Session, catalogue: Catalogue, languages: tuple[str, ...] = ()) -> None:
        """Create a builder.

        `languages` are preferred languages of names, if other than those that the file was loaded with.
        """
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
        return relations is None or any(self.relation_entries[relation].attributes for relation in relations)

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
        return self.session.all(queries.entities.NAMES_OF, key)

    def literal(self, value: str, datatype: str | None, language: str | None, item: int | None = None) -> Literal:
        """Returns a literal with its datatype in short form. `item`: its index if it is an item of an array."""
        return Literal(text(value), self.prefixes.short(datatype) if datatype else None, text_or_none(language), item)

    def qualifiers(self, stored: str | None) -> tuple[Qualifier, ...]:
        """Returns an edge's qualifiers, sorted by relation id; values of one relation stay in source order."""
        if not stored:
            return ()
        values_by_key: dict[str, list[Any]] = mapping(stored)
        nodes = self.by_key(nodes_in(value for values in values_by_key.values() for value in checked_list(values)))
        qualifiers = [
            Qualifier(self.qualifier_relation(key), self.value(value, nodes))
            for key, values in values_by_key.items()
            for value in values
        ]
        return tuple(sorted(qualifiers, key=lambda qualifier: qualifier.relation.id))

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
        distinct_keys = sorted(set(keys))
        if not distinct_keys:
            return {}
        rows = self.session.all(queries.entities.NODES_BY_KEY, json.dumps(distinct_keys))
        return {key: self.entity(key, label, mediator) for _, key, label, _, mediator in rows}

    def known_paths(self, relation_paths: Iterable[Sequence[str]]) -> list[tuple[int, ...]]:
        """Returns paths of relation ids as relation numbers, without duplicates and without unknown relations."""
        names = self.catalogue.relations(self.session)
        paths: dict[tuple[int, ...], None] = {}
        for path in relation_paths:
            entries = [names.by_key(relation) for relation in path]
            if 1 <= len(path) <= _MAX_HOPS and None not in entries:
                paths[tuple(entry.id for entry in entries if entry is not None)] = None
        return list(paths)


def nodes_in(stored: Iterable[Any]) -> list[str]:
    """Returns the stored ids of those qualifier values that are nodes."""
    return [cast("dict[str, str]", value)["id"] for value in stored if isinstance(value, dict)]


def _name_from_id(key: str) -> str | None:
    """Returns the name read from an entity's IRI; None for blank nodes and ids without a name in them."""
    return entity_name(key) if "://" in key or key.startswith("urn:") else None


_LARGEST = 2**63 - 1


Seek = tuple[int, ...]
"""The numbers that order the rows of one segment."""


class SegmentKind(StrEnum):
    """What the rows of a segment lead to, seen from the entity. `*_THROUGH`: through a mediator."""

    ATTRIBUTE = "a"
    TAIL = "t"
    HEAD = "h"
    ATTRIBUTE_THROUGH = "ta"
    TAIL_THROUGH = "tt"
    HEAD_THROUGH = "th"

    # Set once: these are read for each relation of each answer.
    def __init__(self, value: str) -> None:
        self.hops = len(value)
        self.literal = value.endswith("a")
        self.direction = Direction.INCOMING if value.endswith("h") else Direction.OUTGOING
        self.start: Seek = (-1,) * (2 * self.hops - self.literal)
        """A seek that comes before every row. An edge to a literal is ordered by one number, others by two."""

    __hash__ = str.__hash__


class Segment(NamedTuple):
    """The rows of one kind around one entity, by one relation or by two relations through a mediator."""

    kind: SegmentKind
    path: tuple[int, ...]

    def prefix(self, entity: int) -> str:
        """Returns the prefix of positions in this segment, for the `entity`-th of the set. A row's numbers follow."""
        return ".".join((str(entity), self.kind, *map(str, self.path), ""))


@dataclass(frozen=True, slots=True)
class Position:
    """A parsed position."""

    entity: int
    segment: Segment
    seek: Seek

    @property
    def direction(self) -> Direction:
        return self.segment.kind.direction

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parses a position.

        Raises:
            InvalidCursor: the text is not a position in a list of neighbours.
        """
        parts = text.split(".")
        try:
            entity, kind = int(parts[0]), SegmentKind(parts[1])
            numbers = tuple(number_in(part) for part in parts[2:])
        except (ValueError, IndexError) as error:
            raise invalid_cursor(text) from error
        if entity < 0 or len(numbers) != kind.hops + len(kind.start):
            raise invalid_cursor(text)
        return cls(entity, Segment(kind, numbers[: kind.hops]), numbers[kind.hops :])


def number_in(text: str) -> int:
    """Returns the text as a non-negative number that SQLite can store.

    Raises:
        ValueError: it is not such a number.
    """
    number = int(text)
    if not 0 <= number <= _LARGEST:
        raise ValueError(text)
    return number


def node_behind(after: str | None) -> int:
    """Returns the node number after which a page of nodes starts, 0 for the first page.

    Raises:
        InvalidCursor: the text is not a position in a list of nodes.
    """
    if after is None:
        return 0
    try:
        return number_in(after)
    except ValueError as error:
        raise invalid_cursor(after) from error
