"""Collects rows from the sources and writes them in batches to the staging file."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from sys import getsizeof
from typing import Any

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.headers import (
    PropertyValue,
    Value,
    literal_values,
)
from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import DEFAULT_RELATION, Progress, ProgressListener
from kgnav_mcp.errors import LoadError

TERM_BUDGET = 1_500_000_000
"""Maximum size of keys in memory in bytes, so that a load stays below 2 GB in total."""

LONGEST_NAME = 200_000
"""Maximum length in characters of the name of a relation, property or label: far more than any vocabulary has."""

NAMES_BUDGET = 100_000_000
"""Maximum number of characters of all these names together, which a load keeps in memory."""

ENTRY_BYTES = 150
"""Size of a key in bytes besides its string: its slot in a sparsely filled dictionary, the number, the tuple."""

TripleRow = tuple[int, int, int]
RelationshipRow = tuple[int, int, int, str | None, int | None, int | None]
LiteralRow = tuple[int, int, str, str | None, str | None]
PropertyRow = tuple[int, int, str, str | None, str | None, int | None]
NamingRow = tuple[int, int, int, str | None, str]
NamedKeyRow = tuple[str, int, int, str | None, str]
ReifierRow = tuple[int, int, int, int | None, str | None, str | None, str | None]


class TermDictionary:
    """Maps node keys to numbers in bounded memory. Hot loops read `ids` directly and `add` missing keys.

    When the keys take `budget` bytes, the dictionary is cleared, so that a key seen before and after gets two numbers.
    Every pair of number and key is staged, and `writer.unify_terms` merges the numbers of one key with one sort of the
    staged keys. Usually all keys fit, and nothing is sorted. Otherwise the cost is one external sort instead of a
    look-up for each term.
    """

    def __init__(self, budget: int = TERM_BUDGET) -> None:
        self.ids: dict[str, int] = {}
        self.fresh: list[tuple[int, str]] = []
        """Terms added since the caller last staged them. The caller empties this list."""
        self.last = 0
        self.overflowed = False
        self._budget = budget
        self._used = 0

    def add(self, key: str) -> int:
        """Adds a key that is not in `ids`, and returns its number."""
        self._used += getsizeof(key) + ENTRY_BYTES
        if self._used > self._budget and self.ids:
            self.ids.clear()
            self.overflowed = True
            self._used = 0
        self.last += 1
        self.ids[key] = self.last
        self.fresh.append((self.last, key))
        return self.last

    def id(self, key: str) -> int:
        """Returns the number of a key, adding it if it is new."""
        number = self.ids.get(key)
        return self.add(key) if number is None else number


class Staging:
    """Collects rows in lists, one for each staging table. `checkpoint` writes them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        term_budget: int = TERM_BUDGET,
        progress: ProgressListener | None = None,
    ) -> None:
        self.connection = connection
        self.terms = TermDictionary(term_budget)
        self.relations: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.triples: list[TripleRow] = []
        self.relationships: list[RelationshipRow] = []
        self.literals: list[LiteralRow] = []
        self.properties: list[PropertyRow] = []
        self.namings: list[NamingRow] = []
        self.named_keys: list[NamedKeyRow] = []
        self.labelled: list[tuple[int, int]] = []
        self.reifiers: list[ReifierRow] = []
        self.prefixes: dict[str, str] = {}
        self.unprefixed: tuple[str, ...] = ()
        """Namespaces whose ids may be written without a prefix."""
        self.full_relation: Callable[[str], str] | None = None
        """Returns the stored id of a relation that a table may write in short form."""
        self.text = 0
        """Characters of the texts in the lists, approximately."""
        self.count = 0
        self.bytes_before = 0
        self.bytes_total = 0
        self._name_text = 0
        self._progress = progress
        self._written = 0

    def relation(self, key: str) -> int:
        """Returns the number of a relation or property, adding it if it is new.

        Raises:
            LoadError: the name, or all names together, are too long.
        """
        number = self.relations.get(key)
        if number is None and self.full_relation is not None and ":" in key:
            key = self.full_relation(key)
            number = self.relations.get(key)
        return number or self._add_name(self.relations, key)

    def label(self, key: str) -> int:
        """Returns the number of a property graph's label, adding it if it is new.

        Raises:
            LoadError: the name, or all names together, are too long.
        """
        return self.labels.get(key) or self._add_name(self.labels, key)

    def _add_name(self, names: dict[str, int], key: str) -> int:
        """Numbers a new relation, property or label.

        Raises:
            LoadError: it is too long, or all of them together are.
        """
        self._name_text += len(key)
        if len(key) > LONGEST_NAME:
            raise LoadError(
                f"a relation, property or label has a name of {len(key):,} characters: {key[:50]}...",
                next_step=f"Shorten it: at most {LONGEST_NAME:,} characters are loaded.",
            )
        if self._name_text > NAMES_BUDGET:
            raise LoadError(
                f"the names of relations, properties and labels have more than {NAMES_BUDGET:,} characters in all",
                next_step="Check that the column of relations is the right one: a graph has few of them.",
            )
        names[key] = len(names) + 1
        return names[key]

    @property
    def full(self) -> bool:
        """Whether so many rows are collected that they should be written."""
        rows = len(self.triples) + len(self.relationships) + len(self.properties)
        rows += len(self.labelled) + len(self.named_keys)
        return rows >= queries.BATCH or self.text >= queries.BATCH_TEXT

    @property
    def pending(self) -> int:
        """Number of triples since the last checkpoint, including those written by `add_triples`."""
        return self._written + len(self.triples) + len(self.literals)

    def add_triples(self, heads: Iterable[int], relations: Iterable[int], tails: Iterable[int], count: int) -> None:
        """Writes many triples at once, given as columns, without making a tuple for each."""
        values = [0] * (3 * count)
        values[0::3], values[1::3], values[2::3] = heads, relations, tails
        queries.insert_values(self.connection, queries.STAGE_TRIPLE, 3, values)
        self._written += count

    def checkpoint(self, source: str, position: int) -> None:
        """Writes the collected rows and reports progress. `position`: bytes of the source read so far."""
        self.flush()
        self.report_progress(source, position)

    def finish(self, source: str, size: int) -> None:
        """Writes the last rows of a source of `size` bytes, before the next source is read."""
        self.checkpoint(source, size)
        self.bytes_before += size

    def report_progress(self, source: str, position: int, phase: str = "reading") -> None:
        """Calls the progress listener, if there is one. Writes nothing."""
        if self._progress is not None:
            self._progress(Progress(source, self.count, self.bytes_before + position, self.bytes_total, phase))

    def flush(self) -> None:
        """Writes the collected rows."""
        self.count += self._written
        self.text = 0
        self._written = 0
        self.count += len(self.triples) + len(self.relationships) + len(self.literals) + len(self.properties)
        batches: tuple[tuple[str, list[Any]], ...] = (
            (queries.STAGE_TERM, self.terms.fresh),
            (queries.STAGE_TRIPLE, self.triples),
            (queries.STAGE_RELATIONSHIP, self.relationships),
            (queries.STAGE_LITERAL, self.literals),
            (queries.STAGE_PROPERTY, self.properties),
            (queries.STAGE_NAMING, self.namings),
            (queries.STAGE_NAMED_KEY, self.named_keys),
            (queries.STAGE_LABELLED, self.labelled),
            (queries.STAGE_REIFIER, self.reifiers),
        )
        for statement, rows in batches:
            queries.insert(self.connection, statement, rows)
            rows.clear()


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
