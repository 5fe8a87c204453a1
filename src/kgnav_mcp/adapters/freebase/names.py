"""Names: of entities in the languages that are wanted, and of relations, kept as long as they are used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cachetools import LRUCache, TTLCache
from rdflib import BNode, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import FRESH, Store
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.sparql.reading import Row, address
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.model import Entity, Node, Relation

_RELATIONS = 20_000
"""Names of relations are part of a graph's schema: they are kept until others need the room."""
_ENTITIES = 20_000


class Names:
    """Reads and keeps names."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = store.reader
        self._ids = store.ids
        self._relations: LRUCache[URIRef, str] = LRUCache(_RELATIONS)
        self._labels: TTLCache[URIRef, str] = TTLCache(_ENTITIES, FRESH)

    async def labels(self, terms: Iterable[Term]) -> dict[URIRef, str]:
        """The names of entities: in a wanted language, else without a language, else in any. Some have none.

        Names are kept for a minute, as counts are: the ends of rows are the ends of the roles beside them.
        """
        known = {iri: self._labels.get(iri) for iri in _entities(terms)}
        for query in (queries.LABELS, queries.LABELS_OF_ANY_LANGUAGE):
            if unknown := [iri for iri, label in known.items() if label is None]:
                known |= self.keep(_collected((await self._reader.over(query, "ids", unknown)).whole()))
        nameless = [iri for iri, label in known.items() if label is None]
        self.keep(dict.fromkeys(nameless, ()))
        return {iri: label for iri, label in known.items() if label}

    def unknown(self, iris: Iterable[URIRef]) -> list[URIRef]:
        """Those of some entities whose names are not kept."""
        return [iri for iri in iris if iri not in self._labels]

    def keep(self, names: Mapping[URIRef, Sequence[Literal]]) -> dict[URIRef, str]:
        """Keep entities' names for a minute, and that some have none in any language."""
        labels = {iri: self.best(found) if found else "" for iri, found in names.items()}
        for iri, label in labels.items():
            self._labels[iri] = label
        return labels

    def best(self, names: Iterable[Literal]) -> str:
        """The name to show of several."""
        return str(min(names, key=lambda name: (self.rank(name.language), str(name))))

    def rank(self, language: str | None) -> int:
        """The place of a language among the wanted ones (`en-gb` is `en`, too); then no language, then any other."""
        if not language:
            return len(self._store.languages)
        for place, wanted in enumerate(self._store.languages):
            if language.lower() == wanted.lower() or language.lower().startswith(f"{wanted.lower()}-"):
                return place
        return len(self._store.languages) + 1

    async def relations(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Relations with their names in a wanted language or in none, else read from their ids."""
        wanted = list(dict.fromkeys(iris))
        known = {iri: self._relations.get(iri) for iri in wanted}
        unknown = [iri for iri, label in known.items() if label is None]
        if unknown:
            names = _collected((await self._reader.over(queries.LABELS, "ids", unknown)).whole())
            known |= self.keep_relations({iri: names[iri] for iri in unknown})
        return {iri: Relation(self._ids.short(iri), label or "") for iri, label in known.items()}

    def keep_relations(self, names: Mapping[URIRef, Sequence[Literal]]) -> dict[URIRef, str]:
        """Keep what relations and types are called: one without a name is called what its id says."""
        labels = {
            iri: (self.best(found) if found else "") or readable(self._ids.short(iri)) for iri, found in names.items()
        }
        for iri, label in labels.items():
            self._relations[iri] = label
        return labels

    def node(self, term: Term, labels: Mapping[URIRef, str]) -> Node:
        """A far end: a value, or an entity with its name."""
        if isinstance(term, Literal):
            datatype = self._ids.datatype(str(term.datatype) if term.datatype else None)
            return model.Literal(str(term), datatype, term.language)
        return self.entity(term, labels)

    def entity(self, term: URIRef | BNode, labels: Mapping[URIRef, str]) -> Entity:
        """An entity with its name. One without any is a mediator, unless it is no topic."""
        label = labels.get(URIRef(str(term)))
        return Entity(self._ids.short(term), label, mediator=label is None and self._ids.topic(term))

    async def described(self, iris: Sequence[URIRef]) -> dict[URIRef, Entity]:
        """Entities with names, types and descriptions, in the order asked; unknown ones are absent.

        A type stands by its name. A description is in a wanted language or in none.
        """
        wanted = list(dict.fromkeys(iris))
        if not wanted:
            return {}
        rows = (await self._reader.over(queries.DESCRIPTIONS, "ids", wanted)).whole()
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        descriptions: dict[URIRef, list[Literal]] = defaultdict(list)
        types: dict[URIRef, dict[URIRef, list[Literal]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            self._sort_out(row, names, descriptions, types)
        unnamed = [iri for iri in wanted if iri not in names]
        labels = {iri: self.best(found) for iri, found in names.items()} | await self.labels(unnamed)
        silent = [iri for iri in unnamed if iri not in labels and iri not in types and iri not in descriptions]
        existing: set[URIRef] = set(wanted) - set(silent)
        if silent:
            read = await self._reader.over(queries.EXISTING, "ids", silent)
            existing |= {address(row, "s") for row in read.whole()}
        self.keep_relations({type_: called for found in types.values() for type_, called in found.items()})
        type_names = await self.relations(type_ for found in types.values() for type_ in found)
        return {
            iri: Entity(
                self._ids.short(iri),
                labels.get(iri),
                tuple(sorted(type_names[type_].label for type_ in types[iri])) if iri in types else (),
                self.best(descriptions[iri]) if iri in descriptions else None,
                iri not in labels and self._ids.topic(iri),
            )
            for iri in wanted
            if iri in existing
        }

    def _sort_out(
        self,
        row: Row,
        names: dict[URIRef, list[Literal]],
        descriptions: dict[URIRef, list[Literal]],
        types: dict[URIRef, dict[URIRef, list[Literal]]],
    ) -> None:
        relations = self._store.freebase.relations
        relation, node = row["p"], row["o"]
        if relation == relations["type"] and not isinstance(node, Literal):
            called = types[address(row, "s")][address(row, "o")]
            if isinstance(name := row.get("called"), Literal):
                called.append(name)
        elif isinstance(node, Literal):
            (names if relation == relations["name"] else descriptions)[address(row, "s")].append(node)


def _entities(terms: Iterable[Term]) -> list[URIRef]:
    """The entities among some terms, each once."""
    return list(dict.fromkeys(URIRef(str(term)) for term in terms if not isinstance(term, Literal)))


def _collected(rows: Iterable[Row]) -> defaultdict[URIRef, list[Literal]]:
    """Names by what they are of."""
    found: defaultdict[URIRef, list[Literal]] = defaultdict(list)
    for row in rows:
        if isinstance(name := row["o"], Literal):
            found[address(row, "s")].append(name)
    return found


def add_name(names: list[Literal], name: Term | None) -> None:
    """Add a name, if there is one."""
    if isinstance(name, Literal):
        names.append(name)
