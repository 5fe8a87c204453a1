"""Reads the names of entities (also of blank nodes), relations and classes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from cachetools import TTLCache
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.candidates import ALIAS, DESCRIPTION, NAME
from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Blank, Resolved
from kgnav_mcp.adapters.generic_sparql.store import Mediators, Store, placeholders
from kgnav_mcp.adapters.generic_sparql.text_forms import TextFormReader
from kgnav_mcp.adapters.ids.prefixes import namespace
from kgnav_mcp.adapters.ids.rdf import BlankPath
from kgnav_mcp.adapters.sparql_base import entity_finder, names
from kgnav_mcp.adapters.sparql_base.name_search import Lookup, SparqlNames
from kgnav_mcp.adapters.sparql_base.names import Facts, Naming
from kgnav_mcp.adapters.sparql_base.queries import AT_MOST, SCAN, of_each
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, iri_in
from kgnav_mcp.adapters.sparql_base.terms import comma_separated
from kgnav_mcp.adapters.sparql_base.text_forms import TextForms
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Entity, Relation

_TEXTS = (queries.TEXTS, queries.TEXTS_OF_ANY_LANGUAGE)
_CACHE_SECONDS = 60.0
_SOME_IRIS = 500
"""Nodes with a type, and others, whose IRIs show the namespaces of the graph."""
_MAX_NAMESPACES = 5
_NAMESPACES_SHARE = 0.1
"""The fraction of a call's time for reading them."""
_MAX_ENTITIES = 1_000
"""Maximum number of entities in all branches of one query, which has one branch per relation: Virtuoso does not
compile longer lists."""


class Names(names.Names):
    """Reads names by the relations that give names in this graph."""

    def __init__(self, store: Store, reader: Reader | None = None, naming: Naming | None = None) -> None:
        """Create the reader of names. `reader` and `naming` replace the defaults, which work on any store."""
        self._store = store
        described_by = placeholders("description", store.descriptions)
        self._descriptions = [of_each(template, described_by) for template in _TEXTS if described_by]
        self.text_forms = TextFormReader(store.reader)
        self._namespaces: TTLCache[None, Sequence[str]] = TTLCache(1, _CACHE_SECONDS)
        self._typed = of_each(queries.TYPES, placeholders("type", store.types))
        branches = max(len(store.names), len(store.descriptions), len(store.types), 1)
        super().__init__(reader or store.reader.batching(_MAX_ENTITIES // branches), naming or naming_of(store))

    async def name_forms(self) -> TextForms | None:
        """The languages and datatypes of names and aliases; None if they are not known."""
        return await self.text_forms.of((*self._store.names, *self._store.aliases))

    async def namespaces(self) -> Collection[str]:
        """The namespaces that have a prefix, and the most frequent ones of some nodes, if there is time to read these."""
        if None not in self._namespaces:
            counts = Counter[str]()
            with suppress(StoreTimeout, Unsupported):
                read = await self._store.reader.select(queries.SOME_IRIS, share=_NAMESPACES_SHARE, most=_SOME_IRIS)
                counts.update(namespace(iri_in(row, "s")) for row in read.rows)
            self._namespaces[None] = [name for name, _ in counts.most_common(_MAX_NAMESPACES)]
        return dict.fromkeys([*self._store.endpoint.ids.namespaces, *self._namespaces.get(None, ())])

    async def classes(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Classes with their names in the graph, else their short ids: classes of two namespaces may end alike."""
        return await self._schema_names(iris, self.naming.short)

    async def blank(self, found: Resolved) -> Entity:
        """Describe a blank node from its own triples."""
        (entity,) = await self.blank_nodes({found.path: found.blank})
        return entity

    async def blank_nodes(self, found: Mapping[BlankPath, Blank]) -> list[Entity]:
        """Describe blank nodes from their own triples."""
        types = {path: self._types_of(blank) for path, blank in found.items()}
        classes = await self.classes(type_ for own in types.values() for type_ in own)

        def entities() -> list[Entity]:
            return [
                replace(
                    self.blank_node(self._store.endpoint.ids.written(path), blank),
                    types=tuple(sorted({classes[type_].label for type_ in types[path]})),
                    description=self._own(blank, self._store.descriptions),
                )
                for path, blank in found.items()
            ]

        return await in_thread(len(found), entities)

    def blank_node(self, identity: str, blank: Blank) -> Entity:
        """Create the entity for a blank node at the far end of a triple."""
        label = self._own(blank, self._store.names)
        return Entity(identity, label, mediator=label is None)

    def _types_of(self, blank: Blank) -> list[URIRef]:
        return [far for relation, far in blank.outgoing if relation in self._store.types and isinstance(far, URIRef)]

    def _own(self, blank: Blank, relations: Sequence[URIRef]) -> str | None:
        texts = [(relation, far) for relation, far in blank.outgoing if isinstance(far, Literal)]
        for wanted in relations:
            if text := self.best(far for relation, far in texts if relation == wanted):
                return text
        return None

    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        labels = await self.read_labels(iris)
        descriptions: dict[URIRef, str] = {}
        for query in self._descriptions:
            without_text = await in_thread(len(iris), lambda: [iri for iri in iris if iri not in descriptions])
            descriptions.update(await self._texts(query, without_text))
        rows = await self._about(self._typed, iris)
        types = await in_thread(len(rows), lambda: _types(rows))
        classes = await self.classes(type_ for found in types.values() for type_ in found)
        return Facts(labels, types, {iri: class_.label for iri, class_ in classes.items()}, descriptions)

    async def _mediators(self, unnamed: Sequence[URIRef]) -> Collection[URIRef]:
        """The nodes with an IRI but without a name that are mediators: none, unless the options say so."""
        if self._store.endpoint.mediators is not Mediators.UNNAMED or not unnamed:
            return ()
        read = await self._store.reader.in_batches(queries.WITH_OUTGOING_EDGES, "ids", unnamed)
        return {iri_in(row, "s") for row in read.all_rows()}


def naming_of(store: Store) -> Naming:
    """How the nodes of a graph are named: the queries for names, the relations that give them, and the forms of ids."""
    ids = store.endpoint.ids
    labels, labels_of_any_language = (of_each(template, placeholders("name", store.names)) for template in _TEXTS)
    return Naming(
        short=ids.short,
        iri=ids.iri,
        datatype=ids.datatype,
        languages=store.languages,
        relations=(*store.names, *store.descriptions),
        labels=labels,
        labels_of_any_language=labels_of_any_language,
        cache_seconds=_CACHE_SECONDS,
    )


def _types(rows: Iterable[Row]) -> dict[URIRef, set[URIRef]]:
    """The types of entities."""
    types: dict[URIRef, set[URIRef]] = defaultdict(set)
    for row in rows:
        types[iri_in(row, "s")].add(iri_in(row, "o"))
    return dict(types)


_SHARE = 0.4
"""The fraction of a call's time for a scan of all names."""


class EntityFinder(entity_finder.EntityFinder):
    """Finds entities by name. Blank nodes are not found, because a name does not identify one."""

    def __init__(self, store: Store, names: Names, lookup: Lookup | None = None) -> None:
        """`lookup` replaces the default, which works on any store."""
        search = SparqlNames(store.reader, lookup or lookup_in(store, names))
        super().__init__(store.reader, names, search)
        self.full_text = search.index
        self.exact_degrees = not store.reification

    async def of_types(self, iris: Sequence[URIRef], types: Sequence[URIRef]) -> Read:
        return await self._reader.in_batches(queries.OF_TYPES, "ids", iris, types=comma_separated(*types))


def lookup_in(store: Store, names: Names) -> Lookup:
    """How names are searched in a graph: the relations and languages, and the full-text index if there is one."""
    relations = [*placeholders("name", store.names), *placeholders("alias", store.aliases)]
    languages = ", ".join(store.languages)
    kinds = {DESCRIPTION: store.descriptions, ALIAS: store.aliases, NAME: store.names}
    return Lookup(
        named=of_each(queries.WITH_NAMES, relations, AT_MOST),
        scan=of_each(SCAN, relations, AT_MOST),
        kinds={relation: kind for kind, relations in kinds.items() for relation in relations},
        forms=TextForms.of(store.languages, (), store.reader.dialect),
        all_forms=names.name_forms,
        missed=f"Only names in {languages} or without a language were compared: reading the others took too long.",
        share=_SHARE,
        full_text=store.endpoint.full_text,
        surely_indexed=store.endpoint.full_text is not None,
        is_entity=lambda term: isinstance(term, URIRef),
        namespaces=names.namespaces,
    )
