"""Resolves the ids in a plan to numbers and keys of the file, and estimates sizes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.model import Literal
from kgnav_mcp.plan import EdgePattern
from kgnav_mcp.values.scalars import scalar

_INDEXED_LENGTH = 64
_EXACT_LIMIT = 2**53
"""Above this, an integer cannot be represented exactly as a float."""
_MAX_DISTINCT = 2_000
"""Distinct values of a property that are searched for those equal to a number, at most."""
MANY = 1_000
"""Sizes are counted up to this limit when the start of a pattern is chosen."""


class NameResolver:
    """Resolves the names in a plan, within one job."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._session = builder.session
        self._relations = builder.catalogue.relations(builder.session)
        self._labels = builder.catalogue.labels(builder.session)

    def relations(self, pattern: EdgePattern) -> list[int]:
        """Returns the numbers of the relations of an edge pattern.

        Raises:
            Unsupported: one is a two-hop relation.
        """
        return [entry.id for entry in self.relation_entries(pattern)] if pattern.relations else []

    def relation_entries(self, pattern: EdgePattern) -> list[RelationEntry]:
        """Returns the relations of an edge pattern, all of the file if it names none; raises like `relations`."""
        if not pattern.relations:
            return list(self._relations.entries.values())
        entries = [self._relations.by_key(name) for name in pattern.relations]
        if any(entry is None for entry in entries):
            raise unsupported("relations through mediators")
        return list(dict.fromkeys(entry for entry in entries if entry is not None))

    def edges(self, relations: list[int]) -> int:
        """Returns the number of edges of these relations, or of all relations if none is given."""
        entries = self._relations.entries
        return sum(entries[number].edges for number in relations or entries)

    def labels(self, group: tuple[str, ...]) -> list[LabelEntry]:
        """Returns those of the labels that the file has.

        Raises:
            Unsupported: a name is ambiguous.
        """
        found: list[LabelEntry] = []
        for name in group:
            entry = self._labels.by_key(name)
            if entry is None and self._labels.all(name):
                raise unsupported(f"the label {name}, which may mean several")
            found += [entry] if entry is not None else []
        return found

    def properties(self, ids: tuple[str, ...]) -> list[int]:
        """Returns the numbers of these properties of nodes, without unknown ones.

        Raises:
            Unsupported: one also leads to nodes.
        """
        entries = [self._relations.by_key(name) for name in ids]
        found = [entry for entry in entries if entry is not None]
        if any(entry.edges for entry in found):
            raise unsupported("properties that lead to nodes")
        return [entry.id for entry in found if entry.attributes]

    def qualifier(self, ids: tuple[str, ...]) -> str | None:
        """Returns the JSON path of a qualifier; None if no edge has it.

        Raises:
            Unsupported: the ids mean several qualifiers, or the key cannot be part of a path.
        """
        keys = self.qualifier_keys(ids)
        if len(keys) > 1 or any(character in key for key in keys for character in '"\\'):
            raise unsupported("several qualifiers as one")
        return f'$."{keys[0]}"' if keys else None

    def qualifier_keys(self, ids: tuple[str, ...]) -> list[str]:
        """Returns the stored keys of the qualifiers with these ids."""
        stored = self.builder.catalogue.qualifier_keys(self._session)
        return [key for key in stored if self.builder.qualifier_relation(key).id in ids]

    def nodes(self, ids: list[str]) -> list[int]:
        """Returns the numbers of the nodes with these printed ids."""
        rows = resolved(self.builder, ids)
        return sorted({row[0] for name, row in rows.items() if self.builder.prefixes.short(row[1]) == name})

    @property
    def label_sets(self) -> Sequence[tuple[Sequence[int], int]] | None:
        """The combinations of labels that nodes have, each with its number of nodes; None if there are too many."""
        return self.builder.catalogue.label_sets(self._session)

    @property
    def entities(self) -> int:
        return self.builder.catalogue.entities

    def beginnings(self, relation: int, value: str | float) -> list[str] | None:
        """Returns the index keys (first characters) of all values equal to a text or a number; None if too many."""
        if isinstance(value, str):
            return [encodable(value)[:_INDEXED_LENGTH]]
        if abs(value) > _EXACT_LIMIT:
            return None
        known = self.builder.catalogue.texts_of_numbers
        if relation not in known:
            known[relation] = self._texts_of_numbers(relation)
        of_numbers = known[relation]
        return None if of_numbers is None else of_numbers.get(value, [])

    def _texts_of_numbers(self, relation: int) -> dict[float, list[str]] | None:
        found = [row[0] for row in self._session.all(queries.plans.BEGINNINGS, relation, _MAX_DISTINCT)]
        if len(found) == _MAX_DISTINCT or any(len(text) == _INDEXED_LENGTH for text in found):
            return None
        texts: dict[float, list[str]] = defaultdict(list)
        for text in found:
            if isinstance(value := scalar(Literal(text, "double")), int | float):
                texts[value].append(text)
        return texts

    def size(self, relation: int, beginnings: list[str]) -> int:
        """Estimates how many nodes have a value with one of these beginnings, up to MANY."""
        row = self._session.one(queries.plans.VALUE_SIZE, relation, json.dumps(beginnings), MANY)
        return int(row[0]) if row is not None else 0
