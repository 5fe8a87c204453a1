"""The schema of a graph: counts from the count store; properties and the ends of relations from bounded samples."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.catalogue import Catalogue, nearest
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.entities import Entities, relation_of
from kgnav_mcp.adapters.cypher.session import labelled, quoted
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.concurrency import SharedTask
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, EdgeFacts, LabelFacts, Listing, PropertyFacts, QualifierFacts, Schema
from kgnav_mcp.port.lists import batches

_MAX_NODES_READ_WHOLE = 100_000
"""In a graph with at most this many nodes, all are read for their properties, which takes a quarter of a second."""
_NODES_PER_LABEL = 1_000
"""Nodes of each label that are read in a larger graph."""
_EDGES_PER_TYPE = 1_000
"""Edges of each type whose ends and properties are read."""
_LABELS_PER_QUERY = 50
"""Labels whose nodes are read by one query."""
_MAX_END_LABELS = 3
"""The most labels that are named at either end of a relation."""
_MIN_SHARE = 0.05
"""A label is named at an end if it is there at least this often, compared with the most frequent one."""
_CATALOGUE_MAX_AGE = 2.0
"""Seconds. For a part of the schema a catalogue of this age is good enough: it was probably just read for the whole."""
_SAMPLE_MAX_AGE = 600.0
"""Seconds for which a sample is used, unless the size of the graph changes."""
_SAMPLED_NODES_NOTE = "properties are from {:,} nodes of each label, and their counts lower bounds"
_VALUE_TYPE = re.compile(r"(?:LIST<)?([A-Z ]+?)(?: NOT NULL)*(?:>.*)?")


@dataclass(frozen=True, slots=True)
class Ends:
    """The sampled edges of a relationship type: labels at heads and tails, properties, and joined pairs of labels."""

    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[QualifierFacts, ...] = ()
    joins: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    complete: bool = True
    """Whether every edge was read, so that the numbers of `joins` are exact."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The sampled nodes and edges of a graph with a `size` (nodes, edges).

    `values` is the number of values by labels of their node, property, datatype, and whether they are items of lists.
    """

    size: tuple[int, int]
    read_at: float
    values: Mapping[tuple[tuple[str, ...], str, str, bool], int]
    ends: Mapping[str, Ends]
    complete: bool
    """Whether every node was read, so that the numbers of values are exact."""
    note: str | None

    def properties(self, wanted: Callable[[Sequence[str], str], bool]) -> list[PropertyFacts]:
        """The properties for which `wanted` (labels, name) is true, those with the most values first."""
        counts = Counter[str]()
        datatypes: dict[str, Counter[str]] = defaultdict(Counter)
        in_lists: dict[str, set[bool]] = defaultdict(set)
        for (labels, name, datatype, in_list), size in self.values.items():
            if wanted(labels, name):
                counts[name] += size
                datatypes[name][datatype] += size
                in_lists[name].add(in_list)
        as_count = Count if self.complete else Count.at_least
        return [
            PropertyFacts(
                relation_of(name),
                as_count(size),
                tuple(_most_frequent(datatypes[name])),
                *_arity(in_lists[name], complete=self.complete),
            )
            for name, size in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]

    def labels(self, labels: Mapping[str, int]) -> tuple[LabelFacts, ...]:
        """Labels, given with their numbers of nodes, with the properties of these nodes, the most frequent first."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for (having, name, *_), size in self.values.items():
            for label in having:
                counts[label][name] += size
        return tuple(
            LabelFacts(
                label,
                readable(label),
                Count(size),
                tuple(_most_frequent(counts[label])),
                Listing.COMPLETE if self.complete or size <= _NODES_PER_LABEL else Listing.SAMPLED,
            )
            for label, size in labels.items()
        )


class SchemaReader:
    """Answers the verb `schema`. Every list is sorted by size, largest first."""

    def __init__(self, entities: Entities) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._sample: Sample | None = None
        self._reading = SharedTask(self.read)

    async def overview(self, limit: int) -> Schema:
        """The schema of the whole graph."""
        catalogue = await self._catalogue.refreshed()
        sample = await self._current(catalogue)
        parts = (catalogue.labels, catalogue.types, sample.properties(_accept_all))
        return _schema(catalogue, sample, parts, limit)

    async def around(self, name: str, limit: int) -> Schema:
        """The part of the schema around a name, which may be that of a label, a relation and a property at once.

        Raises:
            UnknownName: the graph has nothing of that name.
        """
        catalogue = await self._catalogue.refreshed(_CATALOGUE_MAX_AGE)
        sample = await self._current(catalogue)
        label, type_ = _resolved(catalogue.resolve_label, name), _resolved(catalogue.resolve_type, name)
        bases = {split_key(key)[0] for key in catalogue.keys_of_property(name)}
        properties = sample.properties(lambda labels, key: key in bases or label in labels)
        if label is None and type_ is None and not properties:
            known = sorted({*catalogue.labels, *catalogue.types, *(split_key(key)[0] for key in catalogue.keys)})
            raise UnknownName("label, relation or property", name, nearest(name, known))
        labels = {label} if label is not None else set[str]()
        types = {type_} if type_ is not None else set[str]()
        if type_ is not None:
            labels |= {*sample.ends[type_].heads, *sample.ends[type_].tails}
        if label is not None:
            types |= await self.types_at(catalogue, label)
        elif bases:
            labels |= {one for having, key, *_ in sample.values if key in bases for one in having}
        return _schema(catalogue, sample, (labels, types, properties), limit)

    async def size(self) -> tuple[Count, Count]:
        """The number of nodes and of triples of the graph."""
        catalogue = await self._catalogue.refreshed()
        return Count(catalogue.nodes), _triples(catalogue, await self._current(catalogue))

    async def types_at(self, catalogue: Catalogue, label: str) -> set[str]:
        """The types of edges at the nodes of a label. They are counted by the store, not sampled, so none is missed."""
        construct = self._session.builder.construct
        sizes = await self._session.expressions(
            [construct("label_type_count", label=quoted(label), type=quoted(name)) for name in catalogue.types]
        )
        return {name for name, size in zip(catalogue.types, sizes, strict=True) if size}

    async def _current(self, catalogue: Catalogue) -> Sample:
        size = catalogue.nodes, catalogue.edges
        sample = self._sample
        if sample is None or sample.size != size or time.monotonic() - sample.read_at > _SAMPLE_MAX_AGE:
            sample = self._sample = await self._reading.result()
        return sample

    async def read(self) -> Sample:
        """Read the graph, or a part of it if it is large."""
        catalogue = self._catalogue.current
        complete = catalogue.nodes <= _MAX_NODES_READ_WHOLE
        labels: list[str | None] = [None] if complete else list(catalogue.labels)
        fill = self._session.builder.fill
        values = Counter[tuple[tuple[str, ...], str, str, bool]]()
        for batch in batches(labels, _LABELS_PER_QUERY):
            first = [fill(queries.FIRST_NODES, label=labelled(label)) for label in batch]
            nodes = self._session.builder.subquery("", " UNION ".join(first))
            rows = await self._session.rows(
                queries.PROPERTIES_OF_NODES,
                {"nodes": nodes},
                most=_MAX_NODES_READ_WHOLE if complete else _NODES_PER_LABEL,
            )
            for node_labels, key, datatype, size in rows:
                found = (tuple(sorted(node_labels)), split_key(key)[0], self._datatype(datatype), _is_list(datatype))
                values[found] = values[found] + size if complete else max(values[found], size)
        all_edges = max(catalogue.types.values(), default=0) <= _EDGES_PER_TYPE
        notes = [] if complete else [_SAMPLED_NODES_NOTE.format(_NODES_PER_LABEL)]
        if not all_edges:
            notes.append(f"labels and properties of relations are from {_EDGES_PER_TYPE:,} of each")
        return Sample(
            (catalogue.nodes, catalogue.edges),
            time.monotonic(),
            values,
            await self._ends(catalogue.types),
            complete,
            "; ".join(notes) or None,
        )

    async def _ends(self, types: Mapping[str, int]) -> dict[str, Ends]:
        """By relationship type, the labels at the ends of its edges, and their properties."""
        collected = [self._session.builder.collected(queries.ENDS_OF_EDGES, type=quoted(name)) for name in types]
        found: dict[str, Ends] = {}
        for name, rows in zip(types, await self._session.expressions(collected, most=_EDGES_PER_TYPE), strict=True):
            heads, tails = Counter[str](), Counter[str]()
            datatypes: dict[str, Counter[str]] = defaultdict(Counter)
            in_lists: dict[str, set[bool]] = defaultdict(set)
            joins = Counter[tuple[str, str]]()
            for head_labels, tail_labels, own, size in rows:
                heads.update(dict.fromkeys(head_labels, size))
                tails.update(dict.fromkeys(tail_labels, size))
                for key, datatype in own:
                    base = split_key(key)[0]
                    datatypes[base][self._datatype(datatype)] += size
                    in_lists[base].add(_is_list(datatype))
                joins.update(dict.fromkeys(product(head_labels, tail_labels), size))
            sizes = {key: counts.total() for key, counts in datatypes.items()}
            complete = types[name] <= _EDGES_PER_TYPE
            qualifiers = [
                QualifierFacts(key, tuple(_most_frequent(datatypes[key])), *_arity(in_lists[key], complete=complete))
                for key in _most_frequent(sizes)
            ]
            found[name] = Ends(frequent_labels(heads), frequent_labels(tails), tuple(qualifiers), joins, complete)
        return found

    def _datatype(self, name: str) -> str:
        """The datatype of a value, or of a list's items, as answers print it. `name` is Cypher's name of the type."""
        match = _VALUE_TYPE.fullmatch(name)
        name = match[1] if match else name
        return self._session.dialect.datatypes.get(name, name.lower())


def _is_list(datatype: str) -> bool:
    """Whether Cypher's name of a type is that of a list."""
    return datatype.startswith("LIST<")


def _arity(in_lists: set[bool], *, complete: bool) -> tuple[bool, bool | None]:
    """Whether a property is an array, and whether it has several values, by what was read of it: all if `complete`.

    A list counts as several values, because the sizes of lists are not read.
    """
    return False not in in_lists, True if True in in_lists else False if complete else None


def _schema(
    catalogue: Catalogue,
    sample: Sample,
    parts: tuple[Iterable[str], Iterable[str], Sequence[PropertyFacts]],
    limit: int,
) -> Schema:
    labels, types, properties = parts
    largest = sorted(labels, key=lambda name: (-catalogue.labels.get(name, 0), name))[:limit]
    relations = sorted(types, key=lambda name: (-catalogue.types[name], name))[:limit]
    return Schema(
        entities=Count(catalogue.nodes),
        triples=_triples(catalogue, sample),
        labels=sample.labels({name: catalogue.labels.get(name, 0) for name in largest}),
        relations=tuple(
            EdgeFacts(
                relation_of(name),
                Count(catalogue.types[name]),
                sample.ends[name].heads,
                sample.ends[name].tails,
                sample.ends[name].qualifiers,
                _joins(sample.ends[name].joins, complete=sample.ends[name].complete),
                Listing.COMPLETE if sample.ends[name].complete else Listing.SAMPLED,
            )
            for name in relations
        ),
        properties=tuple(properties[:limit]),
        sampled=sample.note,
    )


def _joins(sizes: Mapping[tuple[str, str], int], *, complete: bool) -> tuple[tuple[str, str, Count], ...]:
    """The pairs of labels that a type joins, most frequent first. Counts are exact if `complete`, else lower bounds."""
    as_count = Count if complete else Count.at_least
    ordered = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple((head, tail, as_count(size)) for (head, tail), size in ordered)


def _triples(catalogue: Catalogue, sample: Sample) -> Count:
    size = catalogue.edges + sum(sample.values.values())
    return Count(size) if sample.complete else Count.at_least(size)


def _accept_all(_labels: Sequence[str], _key: str) -> bool:
    return True


def _resolved(find: Callable[[str], str], name: str) -> str | None:
    try:
        return find(name)
    except UnknownName:
        return None  # A name may be that of a label alone, or of a relation alone.


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def frequent_labels(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The labels that are listed at an end of a relation, given each label's number of edges there."""
    least = _MIN_SHARE * max(counts.values(), default=0)
    return tuple([name for name in _most_frequent(counts) if counts[name] >= least][:_MAX_END_LABELS])
