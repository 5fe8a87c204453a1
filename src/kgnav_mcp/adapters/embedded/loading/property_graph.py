"""Stages property graphs: nodes and relationships with their properties."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from kgnav_mcp.adapters.embedded.loading.headers import (
    PropertyValue,
    Value,
    literal_values,
)
from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import DEFAULT_RELATION
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging


class PropertyStager:
    """Stages nodes and relationships of a property graph, from files of any format."""

    def __init__(self, staging: Staging, rules: NameRules, default_relation: str = DEFAULT_RELATION) -> None:
        self.staging = staging
        self.default_relation = default_relation
        """The relation of edges whose source does not name one."""
        self.unnamed_edges = 0
        """Number of such edges."""
        self.undirected: dict[str, bool] = {}
        """Sources with undirected edges, each with whether all are. An undirected edge is stored once, as written."""
        self._rules = rules
        self._staged = bytearray()
        """By the number of a term, whether it was staged as a node."""
        self._named_relations: set[str] = set()
        self.has_names = False
        """Whether a node has a name."""
        self.texts: dict[str, None] = {}
        """Properties with texts, as far as nodes were staged before the first one with a name."""
        self.empty_arrays: Counter[str] = Counter()
        """Numbers of nodes and edges by the property that is an empty array there."""

    def node(self, key: str, labels: Iterable[str], properties: list[tuple[str, PropertyValue]]) -> bool:
        """Stages a node. Returns whether one of its properties is a name.

        Raises:
            ValueError: a node with this key was staged before.
        """
        node = self.staging.terms.id(key)
        if node >= len(self._staged):
            self._staged.extend(bytes(node + len(self._staged) // 2 + 1024 - len(self._staged)))
        if self._staged[node]:
            raise ValueError(f"the id {key!r} already belongs to another node")
        self._staged[node] = True
        self.staging.labelled += [(node, self.staging.label(label)) for label in labels if label]
        best: int | None = None
        names: list[tuple[int, PropertyValue]] = []
        for name, value in properties:
            self.staging.properties.append((node, self.staging.relation(name), *value))
            kind = self._rules.properties.get(name.lower())
            if kind is None or not value[0].strip():
                continue
            if kind[0] == NAME:
                names.append((kind[1], value))
                self._rules.seen.add(name.lower())
                best = kind[1] if best is None else min(best, kind[1])
            else:
                self._name(node, kind, value)
        for place, value in names:
            if place == best:
                self._name(node, (NAME, place), value)
        if names:
            self.has_names = True
        elif not self.has_names:
            self.texts |= dict.fromkeys(name for name, (_, datatype, *_) in properties if datatype is None)
        return bool(names)

    def _name(self, node: int, kind: tuple[int, int], value: PropertyValue) -> None:
        text, _, language, _ = value
        self.staging.namings.append((node, kind[0], self._rules.rank(kind[1], language), language, text))

    def literals(self, properties: Mapping[str, object]) -> list[tuple[str, PropertyValue]]:
        """Returns the values of properties given as JSON or Python values. Counts the empty arrays, which have none."""
        self.empty_arrays.update(name for name, value in properties.items() if value in ([], ()))
        return [(name, value) for name, values in properties.items() for value in literal_values(values)]

    def name(self, key: str, text: str) -> None:
        """Stages a name of a node."""
        self._name(self.staging.terms.id(key), (NAME, 0), (text, None, None, None))

    def relation_of(self, name: str | None) -> str:
        """Returns the relation of an edge: its name in the source, else the default, which is counted."""
        if name:
            return name
        self.unnamed_edges += 1
        return self.default_relation

    def name_relation(self, key: str, text: str) -> None:
        """Stages a name of a relation. Only the first counts."""
        if key not in self._named_relations:
            self._named_relations.add(key)
            self.staging.named_keys.append((key, NAME, self._rules.rank(0, None), None, text))

    def edge(
        self, head: str, relation: str, tail: str, qualifiers: list[tuple[str, PropertyValue]], place: tuple[int, int]
    ) -> None:
        """Stages an edge of a table. Without qualifiers it is a triple, so that duplicates are dropped."""
        if qualifiers:
            self.relationship(head, relation, tail, qualifiers, place)
        else:
            terms = self.staging.terms
            self.staging.triples.append((terms.id(head), self.staging.relation(relation), terms.id(tail)))

    def relationship(
        self, start: str, relation: str, end: str, properties: list[tuple[str, PropertyValue]], place: tuple[int, int]
    ) -> None:
        """Stages a relationship. `place`: the index of its source, and its line there."""
        qualifiers: dict[str, list[PropertyValue | Value]] = {}
        for name, value in properties:
            self.staging.relation(name)
            qualifiers.setdefault(name, []).append(value if value[3] is not None else value[:3])
        terms = self.staging.terms
        self.staging.relationships.append(
            (
                terms.id(start),
                self.staging.relation(relation),
                terms.id(end),
                json.dumps(qualifiers, ensure_ascii=False, separators=(",", ":")) if qualifiers else None,
                *place,
            )
        )
