"""What a database says of itself: labels, types, keys, constraints and indexes; and what a user may call them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.options import Neo4j
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import split_key
from kgnav_mcp.concurrency import Shared
from kgnav_mcp.errors import StoreError, UnknownName

_NEAREST = 5
_TOGETHER = 200
"""Labels or types that one query counts."""
_LOOKED_AT = 25
"""Nodes of a label whose keys say which of them is a name."""
_SOON = 2.0
"""Seconds after which a catalogue is read again for a name that it does not know."""
_ENDINGS = ("name", "title")
_NO_NAMES = ("firstname", "lastname", "username", "filename")


@dataclass(frozen=True, slots=True)
class FullText:
    """A full-text index of nodes: which labels and properties are in it."""

    name: str
    labels: frozenset[str]
    properties: frozenset[str]


@dataclass(frozen=True)
class Catalogue:
    """What there is now, and which properties mean what. `ids` are labels with the property that identifies nodes."""

    labels: Mapping[str, int]
    types: Mapping[str, int]
    keys: tuple[str, ...]
    nodes: int
    edges: int
    ids: tuple[tuple[str, str], ...]
    indexed: frozenset[tuple[str, str]]
    full_text: tuple[FullText, ...]
    names: tuple[str, ...]
    names_of: Mapping[str, tuple[str, ...]]
    aliases: tuple[str, ...]
    descriptions: tuple[str, ...]

    @cached_property
    def name_keys(self) -> tuple[str, ...]:
        """Every key whose values are names, in any language."""
        wanted = [*self.names, *(name for names in self.names_of.values() for name in names)]
        return self._spelt(wanted)

    @cached_property
    def alias_keys(self) -> tuple[str, ...]:
        return self._spelt(self.aliases)

    @cached_property
    def description_keys(self) -> tuple[str, ...]:
        return self._spelt(self.descriptions)

    def _spelt(self, properties: Iterable[str]) -> tuple[str, ...]:
        wanted = {name.casefold() for name in properties}
        return tuple(key for key in self.keys if split_key(key)[0].casefold() in wanted)

    def label(self, name: str) -> str:
        """The label that a user means.

        Raises:
            UnknownName: there is none.
        """
        return _called("label", name, self.labels)

    def type(self, name: str) -> str:
        """The relationship type that a user means.

        Raises:
            UnknownName: there is none.
        """
        return _called("relation", name, self.types)

    def property(self, name: str) -> tuple[str, ...]:
        """The keys of a property: one, or one for each language it has values in. None where it is unknown."""
        found = tuple(key for key in self.keys if name in (key, split_key(key)[0]))
        wanted = name.strip().casefold()
        return found or tuple(key for key in self.keys if wanted in _spellings(split_key(key)[0]))

    def unknown_property(self, kind: str, name: str) -> UnknownName:
        """The error for a property that the graph does not have, with the nearest ones."""
        return UnknownName(kind, name, nearest(name, sorted({split_key(key)[0] for key in self.keys})))


def _called(kind: str, name: str, known: Mapping[str, int]) -> str:
    if name in known:
        return name
    wanted = name.strip().casefold()
    found = [one for one in sorted(known) if wanted in _spellings(one)]
    if not found:
        raise UnknownName(kind, name, nearest(name, sorted(known)))
    return found[0]


def _spellings(name: str) -> set[str]:
    return {name.casefold(), readable(name).casefold()}


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """The known names most like the given one."""
    found = process.extract(name.casefold(), {one: one.casefold() for one in known}, scorer=fuzz.WRatio, limit=_NEAREST)
    return [one for _, _, one in found]


class Catalogues:
    """Reads the catalogue at the opening, and again where it may have changed."""

    def __init__(self, store: Store, graph: Neo4j) -> None:
        self._store = store
        self._graph = graph
        self._read: Catalogue | None = None
        self._at = 0.0
        self._reading = Shared(self._made)

    @property
    def now(self) -> Catalogue:
        """As it was read last.

        Raises:
            StoreError: it was never read, for the graph was not opened.
        """
        if self._read is None:
            raise StoreError("this graph is not open")
        return self._read

    async def renewed(self, older_than: float = 0.0) -> Catalogue:
        """Read anew, unless that was done in the last `older_than` seconds."""
        if self._read is None or self._at < time.monotonic() - older_than:
            self._read = await self._reading.result()
            self._at = time.monotonic()
        return self._read

    async def knowing(self, label: str | None = None, relation: str | None = None) -> Catalogue:
        """A catalogue with these names, read again if they are new.

        Raises:
            UnknownName: there is no such label or relation.
        """
        for attempt in (self.now, None):
            catalogue = attempt or await self.renewed(_SOON)
            try:
                if label is not None:
                    catalogue.label(label)
                if relation is not None:
                    catalogue.type(relation)
            except UnknownName:
                if attempt is None:
                    raise
            else:
                return catalogue
        raise AssertionError("the second attempt returns or raises")

    async def _made(self) -> Catalogue:
        labels, types, keys = await self._store.row(queries.CATALOGUE)
        labels, types, keys = sorted(labels), sorted(types), sorted(keys)
        constraints = await self._store.rows(queries.CONSTRAINTS)
        indexes = await self._store.rows(queries.INDEXES)
        nodes, edges, *counts = await self._numbers(
            [queries.COUNT_OF_NODES, queries.COUNT_OF_EDGES]
            + [cypher.filled(queries.COUNT_OF_LABEL, label=cypher.quoted(label)) for label in labels]
            + [cypher.filled(queries.COUNT_OF_TYPE, type=cypher.quoted(name)) for name in types]
        )
        counted = {label: size for label, size in zip(labels, counts, strict=False) if size}
        unique = {(names[0], keys_[0]) for names, keys_ in constraints if len(keys_) == 1}
        configured = [(label, key) for label, key in self._graph.keys.items() if label in counted]
        return Catalogue(
            labels=counted,
            types={name: size for name, size in zip(types, counts[len(labels) :], strict=True) if size},
            keys=tuple(keys),
            nodes=nodes,
            edges=edges,
            ids=(*configured, *sorted(unique - set(configured))),
            indexed=frozenset(
                (labels_[0], keys_[0]) for _, kind, labels_, keys_ in indexes if kind == "RANGE" and len(keys_) == 1
            ),
            full_text=tuple(
                FullText(name, frozenset(labels_), frozenset(keys_))
                for name, kind, labels_, keys_ in indexes
                if kind == "FULLTEXT"
            ),
            names=self._graph.names,
            names_of={**await self._discovered(counted), **self._graph.names_of},
            aliases=self._graph.aliases,
            descriptions=self._graph.descriptions,
        )

    async def _numbers(self, items: Sequence[str]) -> list[int]:
        return [
            size
            for start in range(0, len(items), _TOGETHER)
            for size in (
                await self._store.row(cypher.filled(queries.COUNTS, counts=", ".join(items[start : start + _TOGETHER])))
            )[0]
        ]

    async def _discovered(self, labels: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
        """For labels whose nodes have none of the usual names, the property that looks most like one."""
        keys: dict[str, list[str]] = defaultdict(list)
        wanted = list(labels)
        for start in range(0, len(wanted), _TOGETHER):
            part = wanted[start : start + _TOGETHER]
            collections = ", ".join(cypher.filled(queries.LABEL_KEYS, label=cypher.quoted(label)) for label in part)
            (found,) = await self._store.row(cypher.filled(queries.COUNTS, counts=collections), most=_LOOKED_AT)
            keys.update(zip(part, found, strict=True))
        usual = {name.casefold() for name in self._graph.names}
        discovered: dict[str, tuple[str, ...]] = {}
        for label, own in keys.items():
            properties = sorted({split_key(key)[0] for key in own})
            if not any(name.casefold() in usual for name in properties):
                discovered[label] = tuple(sorted(filter(_like_a_name, properties), key=_by_likeness(label))[:1])
        return {label: found for label, found in discovered.items() if found}


def _like_a_name(name: str) -> bool:
    return name.casefold().endswith(_ENDINGS)


def _by_likeness(label: str):  # noqa: ANN202 - a key for sorting
    own = {f"{label.casefold()}{ending}" for ending in _ENDINGS}

    def key(name: str) -> tuple[bool, bool, int, str]:
        folded = name.casefold().replace("_", "")
        return folded not in own, folded in _NO_NAMES, len(name), name

    return key
