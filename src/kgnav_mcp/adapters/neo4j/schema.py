"""What a graph is made of: counts from the count store, properties and ends of relations from bounded reads."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogue, Catalogues, nearest
from kgnav_mcp.adapters.neo4j.neighbours import relation_of
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import VECTOR, split_key
from kgnav_mcp.concurrency import Shared
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, EdgeFacts, LabelFacts, PropertyFacts, Schema

_ALL = 100_000
"""A graph with no more nodes is read whole for its properties: a quarter of a second."""
_NODES = 1_000
"""Nodes of each label that are read in a larger one."""
_EDGES = 1_000
"""Edges of each type whose ends and properties are read."""
_TOGETHER = 50
"""Labels or types that one query reads."""
_ENDS = 3
"""Labels named at either end of a relation."""
_SHARE = 0.05
"""A label that fewer of the edges read have at an end is not named."""
_KEPT = 600.0
"""Seconds that what was read is kept, unless the graph has grown or shrunk."""
_DATATYPES = {
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DURATION": "duration",
    "FLOAT": "float",
    "INTEGER": "integer",
    "LOCAL DATETIME": "localdatetime",
    "LOCAL TIME": "localtime",
    "POINT": "point",
    "STRING": "string",
    "ZONED DATETIME": "datetime",
    "ZONED TIME": "time",
}
_ITEM = re.compile(r"(?:LIST<)?([A-Z ]+?)(?: NOT NULL)*(?:>.*)?")


@dataclass(frozen=True, slots=True)
class _Ends:
    """What the edges read of a type have."""

    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Census:
    """What was read of a graph of some size. `values` counts them by the labels of their node, property and type."""

    size: tuple[int, int]
    at: float
    values: Mapping[tuple[tuple[str, ...], str, str], int]
    ends: Mapping[str, _Ends]
    whole: bool
    """Whether every node was read, so that values are counted exactly."""
    sampled: str | None

    def properties(self, wanted: Callable[[Sequence[str], str], bool]) -> list[PropertyFacts]:
        """The properties of the nodes and keys that are wanted, largest first."""
        counts = Counter[str]()
        datatypes: dict[str, Counter[str]] = defaultdict(Counter)
        for (labels, name, datatype), size in self.values.items():
            if wanted(labels, name):
                counts[name] += size
                datatypes[name][datatype] += size
        sure = Count if self.whole else Count.at_least
        return [
            PropertyFacts(relation_of(name), sure(size), tuple(_most_frequent(datatypes[name])))
            for name, size in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]


class SchemaReader:
    """Answers `schema`. Every list is the largest first."""

    def __init__(self, store: Store, catalogues: Catalogues) -> None:
        self._store = store
        self._catalogues = catalogues
        self._census: Census | None = None
        self._reading = Shared(self._made)

    async def overview(self, limit: int) -> Schema:
        """The whole graph."""
        catalogue = await self._catalogues.renewed()
        census = await self._current(catalogue)
        parts = (catalogue.labels, catalogue.types, census.properties(_any))
        return _schema(catalogue, census, parts, limit)

    async def around(self, name: str, limit: int) -> Schema:
        """The part of the graph around all of a name: a label, a relation, a property.

        Raises:
            UnknownName: nothing of that name is in the graph.
        """
        catalogue = await self._catalogues.renewed()
        census = await self._current(catalogue)
        label, type_ = _known(catalogue.label, name), _known(catalogue.type, name)
        bases = {split_key(key)[0] for key in catalogue.property(name)}
        properties = census.properties(lambda labels, key: key in bases or label in labels)
        if label is None and type_ is None and not properties:
            known = sorted({*catalogue.labels, *catalogue.types, *(split_key(key)[0] for key in catalogue.keys)})
            raise UnknownName("label, relation or property", name, nearest(name, known))
        labels = {label} if label is not None else set[str]()
        types = {type_} if type_ is not None else set[str]()
        if type_ is not None:
            labels |= {*census.ends[type_].heads, *census.ends[type_].tails}
        if label is not None:
            types |= await self._at_label(catalogue, label)
        elif bases:
            labels |= {one for having, key, _ in census.values if key in bases for one in having}
        return _schema(catalogue, census, (labels, types, properties), limit)

    async def size(self) -> tuple[Count, Count]:
        """Nodes and triples of the graph."""
        catalogue = await self._catalogues.renewed()
        return Count(catalogue.nodes), _triples(catalogue, await self._current(catalogue))

    async def _at_label(self, catalogue: Catalogue, label: str) -> set[str]:
        """The types of edges that leave or enter nodes of a label: counted, so none is missed."""
        found: set[str] = set()
        types = list(catalogue.types)
        for batch in _batches(types):
            items = [
                cypher.filled(queries.COUNTS_AT_LABEL, label=cypher.quoted(label), type=cypher.quoted(name))
                for name in batch
            ]
            (sizes,) = await self._store.row(cypher.filled(queries.COUNTS, counts=", ".join(items)))
            found |= {name for name, size in zip(batch, sizes, strict=True) if size}
        return found

    async def _current(self, catalogue: Catalogue) -> Census:
        size = catalogue.nodes, catalogue.edges
        kept = self._census
        if kept is None or kept.size != size or time.monotonic() - kept.at > _KEPT:
            kept = self._census = await self._reading.result()
        return kept

    async def _made(self) -> Census:
        catalogue = self._catalogues.now
        whole = catalogue.nodes <= _ALL
        values = Counter[tuple[tuple[str, ...], str, str]]()
        for labels in [[None]] if whole else _batches(list(catalogue.labels)):
            nodes = " UNION ".join(cypher.filled(queries.FIRST_NODES, label=cypher.labelled(label)) for label in labels)
            rows = await self._store.rows(
                cypher.filled(queries.CENSUS_NODES, nodes=nodes), most=_ALL if whole else _NODES, vector=VECTOR
            )
            for having, key, datatype, size in rows:
                found = tuple(sorted(having)), split_key(key)[0], _datatype(datatype)
                values[found] = values[found] + size if whole else max(values[found], size)
        all_edges = max(catalogue.types.values(), default=0) <= _EDGES
        notes = [] if whole else [f"properties are from {_NODES:,} nodes of each label, and their counts lower bounds"]
        if not all_edges:
            notes.append(f"labels and properties of relations are from {_EDGES:,} of each")
        return Census(
            (catalogue.nodes, catalogue.edges),
            time.monotonic(),
            values,
            await self._ends(list(catalogue.types)),
            whole,
            "; ".join(notes) or None,
        )

    async def _ends(self, types: Sequence[str]) -> dict[str, _Ends]:
        """Labels at the ends of each type's edges, and their properties."""
        found: dict[str, _Ends] = {}
        for batch in _batches(types):
            items = [cypher.filled(queries.CENSUS_EDGES, type=cypher.quoted(name)) for name in batch]
            (groups,) = await self._store.row(cypher.filled(queries.COUNTS, counts=", ".join(items)), most=_EDGES)
            for name, rows in zip(batch, groups, strict=True):
                heads, tails, keys = Counter[str](), Counter[str](), Counter[str]()
                for head_labels, tail_labels, own, size in rows:
                    heads.update(dict.fromkeys(head_labels, size))
                    tails.update(dict.fromkeys(tail_labels, size))
                    keys.update({split_key(key)[0]: size for key in own})
                found[name] = _Ends(_often(heads), _often(tails), tuple(_most_frequent(keys)))
        return found


def _schema(
    catalogue: Catalogue,
    census: Census,
    parts: tuple[Iterable[str], Iterable[str], Sequence[PropertyFacts]],
    limit: int,
) -> Schema:
    labels, types, properties = parts
    largest = sorted(labels, key=lambda name: (-catalogue.labels.get(name, 0), name))[:limit]
    relations = sorted(types, key=lambda name: (-catalogue.types[name], name))[:limit]
    return Schema(
        entities=Count(catalogue.nodes),
        triples=_triples(catalogue, census),
        labels=tuple(LabelFacts(name, readable(name), Count(catalogue.labels.get(name, 0))) for name in largest),
        relations=tuple(
            EdgeFacts(
                relation_of(name),
                Count(catalogue.types[name]),
                census.ends[name].heads,
                census.ends[name].tails,
                census.ends[name].qualifiers,
            )
            for name in relations
        ),
        properties=tuple(properties[:limit]),
        sampled=census.sampled,
    )


def _triples(catalogue: Catalogue, census: Census) -> Count:
    size = catalogue.edges + sum(census.values.values())
    return Count(size) if census.whole else Count.at_least(size)


def _any(_labels: Sequence[str], _key: str) -> bool:
    return True


def _known(find: Callable[[str], str], name: str) -> str | None:
    try:
        return find(name)
    except UnknownName:
        return None  # A name may be that of a label alone, or of a relation alone.


def _batches(items: Sequence[str]) -> list[Sequence[str]]:
    return [items[start : start + _TOGETHER] for start in range(0, len(items), _TOGETHER)]


def _datatype(type_: str) -> str:
    """The datatype of a value, or of the items of a list, out of what Cypher calls its type."""
    match = _ITEM.fullmatch(type_)
    name = match[1] if match else type_
    return _DATATYPES.get(name, name.lower())


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def _often(counts: Mapping[str, int]) -> tuple[str, ...]:
    least = _SHARE * max(counts.values(), default=0)
    return tuple([name for name in _most_frequent(counts) if counts[name] >= least][:_ENDS])
