"""Reads the names of entities and relations of Freebase with their types and descriptions, and finds entities by them.

In Virtuoso one pattern takes a list of entities and a list of relations. Oxigraph would form their product, so the
generic adapter uses one query for each relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.generic_sparql import names as generic
from kgnav_mcp.adapters.sparql_base.names import Facts
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Entity, Relation


class Names(generic.Names):
    """Reads names by `type.object.name`. A topic (`m.`, `g.`) without a name is a mediator."""

    def __init__(self, store: Store) -> None:
        naming = replace(
            generic.naming_of(store), labels=queries.LABELS, labels_of_any_language=queries.LABELS_OF_ANY_LANGUAGE
        )
        super().__init__(store, store.reader, naming)
        self._is_topic = store.endpoint.ids.is_topic
        self._name, self._description, self._type = store.names[0], store.descriptions[0], store.types[0]

    async def classes(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Types with their names in the graph, or else names derived from their ids."""
        return await self.relations(iris)

    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        """Read the facts on entities with one query, and one more for names in other than the preferred languages."""
        rows = await self._about(queries.DESCRIPTIONS, iris)
        facts, type_names = await in_thread(len(rows), lambda: self._facts_in(rows))
        unnamed = await in_thread(len(iris), lambda: [iri for iri in iris if iri not in facts.labels])
        labels = await self.read_labels(unnamed)
        await self.keep_relations(type_names)
        named = await self.relations(type_names)
        return Facts(
            await in_thread(len(iris), lambda: {**facts.labels, **labels}),
            facts.types,
            {type_: relation.label for type_, relation in named.items()},
            facts.descriptions,
        )

    def _facts_in(self, rows: Iterable[Row]) -> tuple[Facts, Mapping[URIRef, Iterable[Literal]]]:
        """The facts on entities in some rows, and the names of the types there."""
        texts: dict[URIRef, dict[URIRef, list[Literal]]] = {
            relation: defaultdict(list) for relation in (self._name, self._description, self._type)
        }
        types: dict[URIRef, dict[URIRef, None]] = defaultdict(dict)
        type_names: dict[URIRef, dict[Literal, None]] = defaultdict(dict)
        for row in rows:
            entity, relation, node = iri_in(row, "s"), iri_in(row, "p"), row["o"]
            if isinstance(node, Literal):
                texts[relation][entity].append(node)
            elif relation == self._type:
                types[entity][iri_in(row, "o")] = None
                type_names[iri_in(row, "o")] |= {
                    name: None for name in (row.get("called"),) if isinstance(name, Literal)
                }
        labels, descriptions = (
            {iri: self.best(found) or "" for iri, found in texts[relation].items()}
            for relation in (self._name, self._description)
        )
        return Facts(labels, types, descriptions=descriptions), type_names

    def _iri(self, term: Term) -> URIRef | None:
        return None if isinstance(term, Literal) else URIRef(str(term))

    async def _mediators(self, unnamed: Sequence[URIRef]) -> Collection[URIRef]:
        return await in_thread(len(unnamed), lambda: set(filter(self._is_topic, unnamed)))

    async def _label_relations(self, iris: Sequence[URIRef]) -> Mapping[URIRef, str]:
        """Read names in the preferred languages only: otherwise, a relation's id says more than its name."""
        return await self._texts(queries.LABELS, iris)


def add_name(names: list[Literal], name: Term | None) -> None:
    """Append a name, if it is a literal."""
    if isinstance(name, Literal):
        names.append(name)


class EntityFinder(generic.EntityFinder):
    """Finds entities by name. Those with the same name are ordered by number of types, then by number of triples."""

    def __init__(self, store: Store, names: Names) -> None:
        lookup = replace(
            generic.lookup_in(store, names), share=1.0, surely_indexed=False, is_entity=_has_iri, namespaces=None
        )
        super().__init__(store, names, lookup)
        self._is_topic = store.endpoint.ids.is_topic

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an entity's id. A dotted word such as `St.Louis` may be a name."""
        iri = self.naming.iri(text)
        return iri is not None and ("://" in text or self._is_topic(iri))

    async def _prominence(self, entities: Mapping[URIRef, Entity]) -> Mapping[URIRef, tuple[int, ...]]:
        if len(entities) < 2:
            return {}
        sizes = await self.sizes(list(entities))
        return {iri: (-len(entity.types), *sizes[iri].order) for iri, entity in entities.items()}


def _has_iri(_: Term) -> bool:
    """True: Virtuoso gives its blank nodes IRIs."""
    return True
