"""The catalogue of a database: labels, relationship types, properties, constraints, indexes, and the configured keys.

Also resolves the names that users write for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from rapidfuzz import fuzz, process

from kgnav_mcp.adapters import wellknown
from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.session import Session, quoted
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.options import PREFIXES, absent_name, read_prefixes
from kgnav_mcp.concurrency import SharedTask
from kgnav_mcp.errors import ConfigurationError, StoreError, UnknownName

OPTIONS = ("keys", "names", "aliases", "descriptions", PREFIXES)

_NAMES = ("name", "title", "label")
"""The default name properties, in order of preference. Letter case does not matter."""
_ALIASES = ("aka", "alias", "aliases")
_DESCRIPTIONS = ("description",)

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertyOptions:
    """Which properties identify and name nodes. By label: `keys`, which identify nodes, and `names_of`.

    For nodes of any label: `names`, `aliases` and `descriptions`.
    """

    keys: Mapping[str, str]
    names: Texts
    names_of: Mapping[str, Texts]
    aliases: Texts
    descriptions: Texts
    prefixes: Prefixes
    """Prefixes of ids, for keys that contain IRIs."""
    stated: tuple[tuple[str, str | None, str], ...] = ()
    """The properties that the user configured: option, label (None: any) and property. Defaults are not in it."""

    @classmethod
    def read(cls, options: Mapping[str, object]) -> PropertyOptions:
        """Read the options of this class.

        `keys` is a table (label = property), `names` a list or such a table; `aliases`, `descriptions` and `prefixes`
        are as in the class.

        Raises:
            ConfigurationError: an option has the wrong type.
        """
        names, names_of = _names(options.get("names", _NAMES))
        keys = {label: _one(value, "keys") for label, value in _table(options.get("keys", {}), "keys").items()}
        aliases = _list(options.get("aliases", _ALIASES), "aliases")
        descriptions = _list(options.get("descriptions", _DESCRIPTIONS), "descriptions")
        lists = {"names": () if names_of else names, "aliases": aliases, "descriptions": descriptions}
        stated = [
            *(("keys", label, name) for label, name in keys.items()),
            *(("names", label, name) for label, own in names_of.items() for name in own),
            *((option, None, name) for option, texts in lists.items() if option in options for name in texts),
        ]
        prefixes = Prefixes(read_prefixes(options), wellknown.PREFIXES)
        return cls(keys, names, names_of, aliases, descriptions, prefixes, tuple(stated))


def _names(value: object) -> tuple[Texts, Mapping[str, Texts]]:
    """The properties that are names of any node, and by label those that are tried first."""
    if not isinstance(value, dict):
        return _list(value, "names"), {}
    by_label = _table(cast("object", value), "names")
    return _NAMES, {label: _list(names, "names") for label, names in by_label.items()}


def _one(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigurationError(
            f"the option {key!r} must be a table with a property for each label",
            next_step=f'Write it as {key} = {{ Label = "id" }}.',
        )
    return value


def _list(value: object, key: str) -> Texts:
    found = (value,) if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in cast("list[object]", found)):
        raise ConfigurationError(
            f"the option {key!r} must be a list of properties", next_step=f'Write it as {key} = ["x"].'
        )
    return tuple(cast("list[str]", found))


def _table(value: object, key: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"the option {key!r} must be a table by label", next_step=f'Write it as {key} = {{ Label = "property" }}.'
        )
    return cast("Mapping[str, object]", value)


_NEAREST = 5
_SAMPLED_NODES = 25
"""Nodes of each label that are read to guess which of its keys is a name."""
_MAX_AGE = 2.0
"""Seconds. An older catalogue is read again when a name is not in it."""
_NAME_ENDINGS = ("name", "title")
_EXCLUDED_NAMES = ("firstname", "lastname", "username", "filename")


@dataclass(frozen=True, slots=True)
class FullText:
    """A full-text index of nodes, with the labels and properties that it covers."""

    name: str
    labels: frozenset[str]
    properties: frozenset[str]


@dataclass(frozen=True)
class Catalogue:
    """The contents of a database: labels and types with their counts, keys, indexes, and which properties are names."""

    labels: Mapping[str, int]
    types: Mapping[str, int]
    keys: tuple[str, ...]
    nodes: int
    edges: int
    id_keys: tuple[tuple[str, str], ...]
    """Pairs of label and the key that identifies its nodes."""
    indexed: frozenset[tuple[str, str]]
    full_text: tuple[FullText, ...]
    names_of: Mapping[str, tuple[str, ...]]
    """The properties that name the nodes of each label. They take precedence over names of any node."""
    properties: PropertyOptions

    @cached_property
    def id_starts(self) -> Mapping[str, tuple[str, str]]:
        """The beginnings of ids that contain a key, such as `Film:imdb=`, each with its label and key."""
        return {f"{label}:{key}=": (label, key) for label, key in self.id_keys}

    @cached_property
    def name_keys(self) -> tuple[str, ...]:
        """Every key whose values are names, in any language."""
        return self._keys_named([*self.properties.names, *(name for names in self.names_of.values() for name in names)])

    @cached_property
    def alias_keys(self) -> tuple[str, ...]:
        return self._keys_named(self.properties.aliases)

    @cached_property
    def description_keys(self) -> tuple[str, ...]:
        return self._keys_named(self.properties.descriptions)

    def _keys_named(self, properties: Iterable[str]) -> tuple[str, ...]:
        wanted = {name.casefold() for name in properties}
        return tuple(key for key in self.keys if split_key(key)[0].casefold() in wanted)

    def resolve_label(self, name: str) -> str:
        """The label that a user's name means. Letter case does not matter, and readable forms are understood.

        Raises:
            UnknownName: there is no such label.
        """
        return _resolve("label", name, self.labels)

    def resolve_type(self, name: str) -> str:
        """The relationship type that a user's name means, resolved as labels are.

        Raises:
            UnknownName: there is no such type.
        """
        return _resolve("relation", name, self.types)

    def keys_of_property(self, name: str) -> tuple[str, ...]:
        """The keys of a property: one, or one for each language of its values. Empty if it is unknown."""
        found = tuple(key for key in self.keys if name in (key, split_key(key)[0]))
        wanted = name.strip().casefold()
        return found or tuple(key for key in self.keys if wanted in _spellings(split_key(key)[0]))

    def check_options(self) -> None:
        """Check that the graph, unless it is empty, has every label and property that its options name.

        Raises:
            ConfigurationError: one is missing. The error suggests the most similar ones.
        """
        for option, label, name in self.properties.stated if self.nodes else ():
            if label is not None and label not in self.labels:
                raise absent_name(option, "label", label, self.labels)
            if not self._keys_named([name]):
                raise absent_name(option, "property", name, {split_key(key)[0] for key in self.keys})

    def unknown_property(self, kind: str, name: str) -> UnknownName:
        """The error for a property that the graph does not have. It lists the most similar ones."""
        return UnknownName(kind, name, nearest(name, sorted({split_key(key)[0] for key in self.keys})))


def _resolve(kind: str, name: str, known: Mapping[str, int]) -> str:
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
    """The known names most similar to the given one."""
    found = process.extract(name.casefold(), {one: one.casefold() for one in known}, scorer=fuzz.WRatio, limit=_NEAREST)
    return [one for _, _, one in found]


class CatalogueCache:
    """Holds the catalogue: read when the graph is opened, and again when it may have changed."""

    def __init__(self, session: Session, properties: PropertyOptions) -> None:
        self._session = session
        self._properties = properties
        self._catalogue: Catalogue | None = None
        self._read_at = 0.0
        self._reading = SharedTask(self.read)

    @property
    def current(self) -> Catalogue:
        """The catalogue as it was last read.

        Raises:
            StoreError: the graph was not opened, so it was never read.
        """
        if self._catalogue is None:
            raise StoreError("this graph is not open")
        return self._catalogue

    async def refreshed(self, max_age: float = 0.0) -> Catalogue:
        """The catalogue, read again unless it is younger than `max_age` seconds."""
        if self._catalogue is None or self._read_at < time.monotonic() - max_age:
            self._catalogue = await self._reading.result()
            self._read_at = time.monotonic()
        return self._catalogue

    async def with_names(self, label: str | None = None, relation: str | None = None) -> Catalogue:
        """A catalogue that contains these names, read again if the current one lacks them.

        Raises:
            UnknownName: there is no such label or relation.
        """
        for attempt in (self.current, None):
            catalogue = attempt or await self.refreshed(_MAX_AGE)
            try:
                if label is not None:
                    catalogue.resolve_label(label)
                if relation is not None:
                    catalogue.resolve_type(relation)
            except UnknownName:
                if attempt is None:
                    raise
            else:
                return catalogue
        raise AssertionError("the second attempt returns or raises")

    async def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys of a property, from a newer catalogue if the current one lacks it. Empty if it is unknown."""
        return self.current.keys_of_property(name) or (await self.refreshed(_MAX_AGE)).keys_of_property(name)

    async def read(self) -> Catalogue:
        """Read the catalogue of the database."""
        dialect, construct = self._session.dialect, self._session.builder.construct
        labels, types, keys = map(sorted, await self._session.row(construct("names")))
        constraints = await self._session.rows(dialect.constraints) if dialect.constraints is not None else []
        indexes = await self._session.rows(dialect.indexes) if dialect.indexes is not None else []
        nodes, edges, *counts = await self._session.expressions(
            [construct("node_count"), construct("edge_count")]
            + [construct("label_count", label=quoted(label)) for label in labels]
            + [construct("type_count", type=quoted(name)) for name in types]
        )
        counted = {label: size for label, size in zip(labels, counts, strict=False) if size}
        unique = {(names[0], of_label[0]) for names, of_label in constraints if len(of_label) == 1}
        configured = [(label, key) for label, key in self._properties.keys.items() if label in counted]
        return Catalogue(
            labels=counted,
            types={name: size for name, size in zip(types, counts[len(labels) :], strict=True) if size},
            keys=tuple(keys),
            nodes=nodes,
            edges=edges,
            id_keys=(*configured, *sorted(unique - set(configured))),
            indexed=frozenset((on[0], held[0]) for _, kind, on, held in indexes if kind == "RANGE" and len(held) == 1),
            full_text=tuple(
                FullText(name, frozenset(on), frozenset(held)) for name, kind, on, held in indexes if kind == "FULLTEXT"
            ),
            names_of={**await self._discovered_names(counted), **self._properties.names_of},
            properties=self._properties,
        )

    async def _discovered_names(self, labels: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """For each label whose nodes have none of the usual name properties, the property most likely to be a name."""
        collections = [self._session.builder.collected(queries.LABEL_KEYS, label=quoted(label)) for label in labels]
        keys = await self._session.expressions(collections, most=_SAMPLED_NODES)
        found = {label: likely_names(label, own, self._properties) for label, own in zip(labels, keys, strict=True)}
        return {label: names for label, names in found.items() if names}


def likely_names(label: str, keys: Iterable[str], options: PropertyOptions) -> tuple[str, ...]:
    """The property that most likely names the nodes of a label, given their keys; empty if they have a usual one."""
    usual = {name.casefold() for name in options.names}
    properties = sorted({split_key(key)[0] for key in keys})
    if any(name.casefold() in usual for name in properties):
        return ()
    return tuple(sorted(filter(_looks_like_name, properties), key=_name_preference(label))[:1])


def _looks_like_name(name: str) -> bool:
    return name.casefold().endswith(_NAME_ENDINGS)


def _name_preference(label: str):  # noqa: ANN202 - a key for sorting
    own = {f"{label.casefold()}{ending}" for ending in _NAME_ENDINGS}

    def key(name: str) -> tuple[bool, bool, int, str]:
        folded = name.casefold().replace("_", "")
        return folded not in own, folded in _EXCLUDED_NAMES, len(name), name

    return key
