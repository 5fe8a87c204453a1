"""The schema of the graph, from the statistics that the loader wrote."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from kgnav_mcp.adapters.embedded import fileformat, queries, session
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import (
    Count,
    EdgeFacts,
    Health,
    LabelFacts,
    Listing,
    PropertyFacts,
    QualifierFacts,
    Relation,
    Schema,
)

_SAMPLED = (
    "the labels at the ends of relations, and the datatypes and labels of properties, are from a sample of the triples"
)


class SchemaReader:
    """Answers `schema`, within one job. Every list has at most `limit` entries, sorted by size, largest first.

    Relations to identifiers of other databases come last.
    """

    def __init__(self, builder: Builder, limit: int) -> None:
        self._builder = builder
        self._session = builder.session
        self._limit = limit
        self._labels = builder.catalogue.labels(builder.session)
        self._relations = builder.catalogue.relations(builder.session)
        hidden = builder.catalogue.hidden_relations(builder.session)
        self._hidden = {builder.relation(number).id for number in hidden}

    def overview(self) -> Schema:
        """Returns the schema of the whole graph."""
        relations = self._relations.entries.values()
        return self._schema(
            self._labels.entries.values(),
            [self._edge_facts(entry) for entry in self._largest(relations, lambda entry: entry.edges)],
            [self._property_facts(entry) for entry in self._largest(relations, lambda entry: entry.attributes)],
        )

    def around(self, name: str) -> Schema:
        """Returns the part of the schema around the labels, relations and properties of this name.

        Raises:
            UnknownName: the graph has nothing of this name.
        """
        labels = self._labels.all(name)
        relations = [entry for entry in self._relations.all(name) if entry.size]
        if not labels and not relations:
            nearest = self._labels.nearest(name) + self._relations.nearest(name, lambda entry: entry.size > 0)
            raise UnknownName("label, relation or property", name, nearest)
        shown = {entry.id: entry for entry in labels}
        edges = {entry.id: self._edge_facts(entry) for entry in relations if entry.edges}
        properties = {entry.id: self._property_facts(entry) for entry in relations if entry.attributes}
        for label in labels:
            edges.update(self._edges_at(label))
            properties.update(self._properties_of(label))
        for entry in relations:
            shown.update({label.id: label for label in self._labels_at(entry)})
        return self._schema(shown.values(), list(edges.values()), list(properties.values()))

    def _schema(self, labels: Iterable[LabelEntry], edges: list[EdgeFacts], properties: list[PropertyFacts]) -> Schema:
        catalogue = self._builder.catalogue
        largest = sorted(labels, key=lambda entry: (-entry.size, entry.short))[: self._limit]
        return Schema(
            entities=Count(catalogue.entities),
            triples=Count(catalogue.triples),
            labels=self._label_facts(largest),
            relations=tuple(sorted(edges, key=self._order)[: self._limit]),
            properties=tuple(sorted(properties, key=self._order)[: self._limit]),
            sampled=_SAMPLED if catalogue.sampled else None,
            remarks=catalogue.remarks,
        )

    def _label_facts(self, labels: Sequence[LabelEntry]) -> tuple[LabelFacts, ...]:
        """Returns labels with the properties of their nodes, read by one query."""
        properties: dict[int, list[str]] = defaultdict(list)
        numbers = json.dumps([entry.id for entry in labels])
        for label, number in self._session.all(queries.lists.PROPERTIES_OF_LABELS, numbers):
            properties[label].append(self._relations.entries[number].relation.id)
        for of_label in properties.values():
            of_label.sort(key=self._hidden.__contains__)
        listing = Listing.SAMPLED if self._builder.catalogue.sampled else Listing.COMPLETE
        return tuple(
            LabelFacts(
                entry.short,
                entry.name,
                Count(entry.size),
                tuple(properties[entry.id]),
                listing,
                is_shown_by_id=entry.printed == entry.short,
            )
            for entry in labels
        )

    def _largest(self, entries: Iterable[RelationEntry], size: Callable[[RelationEntry], int]) -> list[RelationEntry]:
        used = [entry for entry in entries if size(entry)]
        order = sorted(used, key=lambda entry: (entry.relation.id in self._hidden, -size(entry), entry.relation.id))
        return order[: self._limit]

    def _order(self, facts: EdgeFacts | PropertyFacts) -> tuple[bool, int, str]:
        return facts.relation.id in self._hidden, -facts.count.value, facts.relation.id

    def _edge_facts(self, entry: RelationEntry) -> EdgeFacts:
        ends: dict[int, list[str]] = defaultdict(list)
        for side, label in self._session.all(queries.lists.ENDS, entry.id):
            ends[side].append(self._labels.entries[label].printed)
        printed = self._labels.entries
        is_estimate = self._is_estimate(entry.edges)
        joins = tuple(
            (
                printed[head].printed,
                printed[tail].printed,
                Count.unknown() if is_estimate else Count(session.checked_count(n)),
            )
            for head, tail, n in self._session.all(queries.lists.JOINS, entry.id)
        )
        return EdgeFacts(
            entry.relation, Count(entry.edges), tuple(ends[0]), tuple(ends[1]), self._qualifiers_of(entry), joins
        )

    def _is_estimate(self, rows: int) -> bool:
        """Whether what is counted of a relation with so many rows comes from a sample, and may be too large."""
        return self._builder.catalogue.sampled and rows >= fileformat.RARE

    def _qualifiers_of(self, entry: RelationEntry) -> tuple[QualifierFacts, ...]:
        """Returns the properties of a relation's triples, those with the most values first."""
        rows: dict[Relation, list[Row]] = defaultdict(list)
        for key, *row in self._session.all(queries.lists.QUALIFIERS_OF, entry.id):
            rows[self._builder.qualifier_relation(key)].append(tuple(row))
        return tuple(
            QualifierFacts(
                relation.id,
                tuple(self._builder.prefixes.short(datatype) for datatype, *_ in by_datatype),
                is_array=all(items == n for _, n, items, _ in by_datatype),
                multivalued=any(multivalued for *_, multivalued in by_datatype),
                label=relation.label,
            )
            for relation, by_datatype in rows.items()
        )

    def _property_facts(self, entry: RelationEntry) -> PropertyFacts:
        datatypes = self._session.all(queries.lists.DATATYPES_OF, entry.id)
        return PropertyFacts(
            entry.relation,
            Count(entry.attributes),
            tuple(self._builder.prefixes.short(datatype) for (datatype,) in datatypes),
            entry.is_array,
            entry.multivalued,
        )

    def _edges_at(self, label: LabelEntry) -> dict[int, EdgeFacts]:
        """Returns the largest relations with the label at either end. Counts include triples at other labels."""
        rows = self._session.all(queries.lists.RELATIONS_AT_LABEL, label.id)
        entries = sorted(rows, key=lambda row: -row[1])[: self._limit]
        return {number: self._edge_facts(self._relations.entries[number]) for number, _ in entries}

    def _properties_of(self, label: LabelEntry) -> dict[int, PropertyFacts]:
        """Returns the properties of the label's nodes, with the number of values on these nodes."""
        counts = Counter[int]()
        datatypes: dict[int, list[str]] = defaultdict(list)
        for number, datatype, n in self._session.all(queries.lists.PROPERTIES_OF_LABEL, label.id):
            counts[number] += n
            datatypes[number].append(self._builder.prefixes.short(datatype))
        entries, weight = self._relations.entries, fileformat.sample_step(self._builder.catalogue.triples)
        return {
            number: PropertyFacts(
                entries[number].relation,
                Count.at_least(n // weight) if self._is_estimate(entries[number].attributes) else Count(n),
                tuple(datatypes[number]),
                entries[number].is_array,
                entries[number].multivalued,
            )
            for number, n in counts.items()
        }

    def _labels_at(self, entry: RelationEntry) -> list[LabelEntry]:
        """Returns the labels at either end of a relation, and those of the nodes that have it as a property."""
        numbers = [label for _, label in self._session.all(queries.lists.ENDS, entry.id)]
        numbers += [label for (label,) in self._session.all(queries.lists.LABELS_OF_PROPERTY, entry.id)]
        return [self._labels.entries[number] for number in dict.fromkeys(numbers)]


def health(builder: Builder, name: str) -> Health:
    """Returns the state of the file: its name, its size, and advice on how to improve answers."""
    catalogue = builder.catalogue
    advice: list[str] = []
    named = builder.session.one(queries.lists.HAS_NAMES)
    if named is None or not named[0]:
        advice.append("No entity has a name. Load the names, too: kgnav load SOURCES... --labels NAMES")
    if not catalogue.labels(builder.session).entries:
        advice.append("No entity has a label (class), so calls cannot be restricted to one.")
    return Health(True, f"graph file {name}", Count(catalogue.entities), Count(catalogue.triples), tuple(advice))
