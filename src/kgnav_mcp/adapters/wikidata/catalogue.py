"""The properties of a Wikibase, with datatypes and labels: read once, cached on disk, refreshed in the background."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from cachetools import LRUCache
from rdflib import Literal

from kgnav_mcp.adapters.paging.rows import Key
from kgnav_mcp.adapters.sparql_base.paging import read_list_by_key
from kgnav_mcp.adapters.sparql_base.query_reader import Row, Value, is_at_most
from kgnav_mcp.adapters.sparql_base.schema import combined_stop, incomplete_catalogue, nearest
from kgnav_mcp.adapters.sparql_base.terms import comma_separated, values
from kgnav_mcp.adapters.wikibase_values import DATATYPES, ENTITY_DATATYPES, EXTERNAL_ID, ONTOLOGY, QUANTITY, TIME
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.store import Store, WikibaseIds
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import KgnavError, StoreError, StoreTimeout, UnknownName
from kgnav_mcp.model import Relation, Stop

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class CachedCatalogue:
    """The content of a cache file: datatype and labels by language of each property, and its age in seconds."""

    base: str
    properties: Mapping[str, tuple[str, Mapping[str, str]]]
    age: float


@dataclass(frozen=True, slots=True)
class CacheFile:
    """The cache file of one endpoint, one concept base and one list of languages."""

    path: Path

    @classmethod
    def of(cls, folder: Path | None, *key: str) -> CacheFile | None:
        """The cache file for a key in a folder; None without a folder, which turns the cache off."""
        if folder is None:
            return None
        return cls(folder / f"wikidata-{blake2b(chr(0).join(key).encode(), digest_size=8).hexdigest()}.json")

    def read(self) -> CachedCatalogue | None:
        """The cached catalogue; None if there is none, or it cannot be read. Then it is read from the endpoint."""
        try:
            content = cast("dict[str, Any]", json.loads(self.path.read_text(encoding="utf-8")))
            if content["format"] != _FORMAT:
                return None
            properties = {
                str(name): (str(kind), {str(language): str(text) for language, text in labels.items()})
                for name, (kind, labels) in content["properties"].items()
            }
            return CachedCatalogue(str(content["base"]), properties, max(0.0, time.time() - float(content["read"])))
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def write(self, base: str, properties: Mapping[str, tuple[str, Mapping[str, str]]]) -> bool:
        """Store a catalogue for the next start. Returns False if the folder cannot be written to, which is no error."""
        content = {"format": _FORMAT, "base": base, "read": time.time(), "properties": properties}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.stem, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(content, file, ensure_ascii=False, separators=(",", ":"))
                Path(temporary).replace(self.path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError:
            return False
        return True


_PAGE_SIZE = 10_000
_MAX_LABELS_SCANNED = 100_000
"""Labels that are scanned for those of properties, if nothing in the graph says what is a property."""
_CACHE_SIZE = 20_000
"""Properties whose datatypes are cached, if the graph does not define them."""
_KINDS_BY_PART = {"timeValue": TIME, "quantityAmount": QUANTITY}
"""Datatypes by a part that full values of no other datatype have."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property: its bare id (`P31`), its datatype (empty: unknown), and its labels by language."""

    id: str
    datatype: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def to_entities(self) -> bool:
        """Whether the property's values are entities."""
        return self.datatype in ENTITY_DATATYPES


class Catalogue:
    """The known properties. With an empty catalogue, ids are shown in place of labels, and nothing is hidden.

    `stop` says why labels may be missing: unless it is COMPLETE, a label that is not found may be that of a property.
    Ids may always be missing: a copy may use properties that it does not define.
    """

    def __init__(self, properties: Iterable[Property], languages: Sequence[str], stop: Stop = Stop.COMPLETE) -> None:
        self.stop = stop
        self._properties = {known.id: known for known in properties}
        self._languages = label_languages(languages)

    def __len__(self) -> int:
        return len(self._properties)

    @property
    def properties(self) -> Iterable[Property]:
        """All known properties."""
        return self._properties.values()

    def get(self, local: str) -> Property:
        """The property with a bare id. If it is not in the catalogue, one without datatype and labels."""
        return self._properties.get(local) or Property(local)

    def __contains__(self, local: str) -> bool:
        return local in self._properties

    def label(self, local: str) -> str:
        """The label to show: in the first language that has one, else in any language, else the id."""
        labels = self.get(local).labels
        for language in self._languages:
            if language in labels:
                return labels[language]
        return labels[min(labels)] if labels else local

    def relation(self, local: str) -> Relation:
        """A property as a relation."""
        return Relation(WikibaseIds.relation(local), self.label(local), label_from_id=not self.get(local).labels)

    def hidden(self, local: str) -> bool:
        """Whether a property is hidden in neighbourhoods unless requested, as identifiers of other databases are."""
        return self.get(local).datatype == EXTERNAL_ID

    def properties_named(self, name: str) -> list[str]:
        """The bare ids of the properties with this label in any language, ignoring letter case."""
        wanted = name.strip().casefold()
        return sorted(
            known.id
            for known in self._properties.values()
            if any(text.casefold() == wanted for text in known.labels.values())
        )

    def unknown(self, kind: str, name: str, *nearest: str, is_id: bool) -> KgnavError:
        """The error for a name that was not found. `nearest` are suggestions that are listed before similar properties.

        An id is looked up in the graph itself, so a missing label cannot be the reason why it was not found.
        """
        suggestions = [*nearest, *self.nearest(name)]
        if is_id or self.stop is Stop.COMPLETE:
            return UnknownName(kind, name, suggestions)
        return incomplete_catalogue(kind, name, suggestions, self.stop)

    def nearest(self, name: str) -> list[str]:
        """The printed ids of properties with labels similar to a name."""
        labels = {local: self.label(local) for local in sorted(self._properties)}
        return [WikibaseIds.relation(local) for local in nearest(name, labels)]


def label_languages(languages: Sequence[str]) -> tuple[str, ...]:
    """The languages in which labels are tried, in order: the preferred ones, `mul` (all languages), English."""
    return tuple(dict.fromkeys((*(language.lower() for language in languages), "mul", "en")))


class CatalogueCache:
    """Holds the catalogue of one endpoint.

    A copy on disk is used at once; if it is old, it is refreshed in the background.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = store.reader
        self._file = CacheFile.of(
            store.wikidata.cache,
            store.wikidata.endpoint,
            store.wikidata.graph or "",
            store.ids.base,
            *label_languages(store.languages),
        )
        self._datatypes: LRUCache[str, str] = LRUCache(_CACHE_SIZE)
        self._refreshing: asyncio.Task[None] | None = None
        self._stop = Stop.TIME_OUT
        self.current = Catalogue((), store.languages, self._stop)
        self.fault = ""
        """Why the catalogue is missing, incomplete or old; empty if it is not."""

    async def open(self) -> None:
        """Load the catalogue from disk, or else from the endpoint. If that is too slow, continue without a catalogue.

        Raises:
            StoreError: the endpoint does not answer at all.
        """
        cached = await asyncio.to_thread(self._file.read) if self._file is not None else None
        if cached is None:
            await self._read()
            return
        properties = (Property(name, kind, labels) for name, (kind, labels) in cached.properties.items())
        self.current = Catalogue(properties, self._store.languages)
        if cached.age > self._store.wikidata.cache_hours * 3600:
            self._refreshing = asyncio.create_task(self._refresh())

    async def has(self, local: str) -> bool:
        """Whether a property with this bare id exists: the catalogue has it, or a statement or a qualifier uses it.

        Raises:
            StoreTimeout: the catalogue lacks it, and the store did not answer in time whether it is used.
        """
        if local in self.current:
            return True
        ids = self._store.ids
        predicates = values(ids.direct(local), ids.claim(local), ids.qualifier(local))
        return bool((await self._reader.select(queries.ANY_USE, predicates=predicates)).any_rows())

    async def datatype(self, local: str) -> str:
        """The datatype of a property.

        If the catalogue lacks it: TIME or QUANTITY if a full value shows it, otherwise empty.

        Raises:
            StoreTimeout: the store did not return a full value in time.
        """
        if (known := self.current.get(local).datatype) or not self._store.form.statements:
            return known
        if (cached := self._datatypes.get(local)) is not None:
            return cached
        ids = self._store.ids
        read = await self._reader.select(
            queries.FULL_VALUE_PARTS, of_statement=ids.full_value(local), of_qualifier=ids.full_qualifier(local)
        )
        parts = {str(row["part"]) for row in read.any_rows()}
        found = next((kind for part, kind in _KINDS_BY_PART.items() if f"{ONTOLOGY}{part}" in parts), "")
        if found:
            self._datatypes[local] = found
        return found

    async def close(self) -> None:
        """Cancel a refresh that is in progress."""
        task, self._refreshing = self._refreshing, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _refresh(self) -> None:
        try:
            await self._read()
        except StoreError as error:
            self.fault = f"its catalogue of properties is old and could not be refreshed: {error.message}"

    async def _read(self) -> None:
        self.fault, self._stop = "", Stop.COMPLETE
        try:
            properties = await self._properties()
        except StoreTimeout as error:
            self.fault = f"its properties could not be listed: {error.message}"
            return
        self.current = Catalogue(properties, self._store.languages, self._stop)
        if properties and not self.fault and self._file is not None:
            content = {known.id: (known.datatype, known.labels) for known in properties}
            await asyncio.to_thread(self._file.write, self._store.ids.base, content)

    async def _properties(self) -> list[Property]:
        kinds, labels = await gathered(self._all(queries.PROPERTIES), self._labels(queries.PROPERTY_LABELS))
        if not kinds:
            labels = await self._labels(queries.UNDEFINED_LABELS)
            if not labels:
                labels = await self._untyped_labels()
            self.fault = (
                f"none is defined here (wikibase:directClaim), so that they are read as those of {self._store.ids.base}"
            )
            return [Property(local, "", labels[local]) for local in sorted(labels)]
        found: dict[str, str] = {}
        for row in kinds:
            local = self._store.ids.property_of(str(row["direct"]))
            if local is not None:
                kind = str(row["type"]).rpartition("#")[2]
                found[local] = DATATYPES.get(kind, kind)
        return [Property(local, kind, labels.get(local, {})) for local, kind in sorted(found.items())]

    async def _untyped_labels(self) -> dict[str, dict[str, str]]:
        """The labels of properties among the first labels of the graph."""
        properties = Literal(f"{self._store.ids.entities}P")
        labels = await self._labels(queries.UNTYPED_LABELS, properties=properties, looked_at=_MAX_LABELS_SCANNED)
        try:
            scanned = await self._reader.count(queries.LABEL_COUNT, most=_MAX_LABELS_SCANNED + 1)
        except StoreTimeout:
            self._stop = Stop.TIME_OUT
            return labels
        self._stop = combined_stop(
            self._stop, Stop.COMPLETE if is_at_most(scanned, _MAX_LABELS_SCANNED) else Stop.LIMIT
        )
        return labels

    async def _labels(self, template: str, **terms: Value) -> dict[str, dict[str, str]]:
        """The labels of the properties by language; empty if there are too many for the endpoint's time limit."""
        languages = comma_separated(*(Literal(language) for language in label_languages(self._store.languages)))
        labels: dict[str, dict[str, str]] = defaultdict(dict)
        try:
            rows = await self._all(template, languages=languages, **terms)
        except StoreTimeout as error:
            self.fault = f"the labels of its properties could not be listed: {error.message}"
            self._stop = Stop.TIME_OUT
            return labels
        for row in rows:
            local = str(row["s"]).rpartition("/")[2]
            if isinstance(text := row["o"], Literal) and text.language:
                labels[local][text.language.lower()] = str(text)
        return labels

    async def _all(self, template: str, **terms: Value) -> list[Row]:
        """All rows of a query, read in slices.

        Raises:
            StoreTimeout: some were not read in time.
        """
        rows: list[Row] = []
        key = Key()
        while not self._reader.stable_order:
            keyed = await read_list_by_key(
                self._reader, template, key, _PAGE_SIZE // 2, variable="s", share=1.0, **terms
            )
            rows += (row for row, _ in keyed.rows)
            if keyed.stop is Stop.COMPLETE:
                return rows
            key = keyed.rows[-1][1]
        while True:
            read = await self._reader.slice(template, len(rows), _PAGE_SIZE, share=1.0, **terms)
            rows += read.all_rows()
            if len(read.rows) < _PAGE_SIZE:
                return rows
