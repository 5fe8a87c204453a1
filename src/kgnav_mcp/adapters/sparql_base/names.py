"""Reads the names of entities, relations and classes: in batches, in the preferred languages, with a cache."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from cachetools import LRUCache, TTLCache
from rdflib import RDF, XSD, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.naming import language_rank, readable
from kgnav_mcp.adapters.sparql_base.queries import EXISTING
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, fill
from kgnav_mcp.concurrency import apply_in_slices, in_thread
from kgnav_mcp.model import Entity, Node, Relation

_VARIABLE = re.compile(r"\?\w+")


def preferred(labels: Iterable[Literal], languages: Sequence[str]) -> Literal | None:
    """The label to show: by rank of its language, then the first in alphabetical order; None where all are blank."""
    written = (label for label in labels if label.strip())
    return min(written, key=lambda label: (*label_rank(label, languages), str(label)), default=None)


def label_rank(label: Literal, languages: Sequence[str]) -> tuple[int, str]:
    """Sort key of a label: the rank of its language; unwanted languages by their tags."""
    return language_rank(label.language, languages), label.language or ""


def in_languages(variable: str, languages: Sequence[str]) -> Fragment:
    """A condition for `FILTER ($condition)` that keeps texts in one of the languages, or without one. Uses no index.

    Raises:
        ValueError: `variable` is not of the form `?name`.
    """
    if _VARIABLE.fullmatch(variable) is None:
        raise ValueError(f"{variable!r} is not a variable")
    tag = f"LANG({variable})"
    matches = [fill(f"LANGMATCHES({tag}, $language)", language=Literal(language)) for language in languages]
    return Fragment(" || ".join([f'{tag} = ""', *matches]))


_RELATION_CACHE_SIZE = 20_000
"""Cache size for names of relations. They are part of the schema, so they do not expire."""
_ENTITY_CACHE_SIZE = 50_000
_DESCRIBED_CACHE_SIZE, _DESCRIBED_SECONDS = 2_000, 60.0
"""Size of the cache of entities with types and descriptions, which the next calls ask for again, and its seconds."""
_MAX_REMEMBERED = 200
"""Entities of one call that are looked up in that cache."""


_PLAIN_TEXT = {str(XSD.string): "string", str(RDF.langString): "langString"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How a store names things: its forms of ids, and its queries for names.

    The queries take `$ids` and return ?s and ?o, and ?p where several relations give names.
    """

    short: Callable[[str], str]
    """Converts an IRI to the id that is printed."""
    iri: Callable[[str], URIRef | None]
    """Converts an id in any of its forms to an IRI; None where the text is not an id."""
    datatype: Callable[[str | None], str | None] = lambda full: full
    languages: Sequence[str]
    """The preferred languages, in order."""
    relations: Sequence[URIRef] = ()
    """Relations that give names and descriptions, the preferred first."""
    labels: str
    """The query for names in a preferred language, or without one."""
    labels_of_any_language: str
    existing: str = EXISTING
    """The query for the entities that occur in any triple."""
    cache_seconds: float
    """Seconds to cache names, since the graph may be written to."""

    def value_type(self, full: str | None) -> str:
        """The datatype of values as a schema prints it: plain text is `string`, or `langString` with a language."""
        return _PLAIN_TEXT.get(full or "") or self.datatype(full) or "string"


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels, types and descriptions of entities. An entity without a name has no entry in `labels`."""

    labels: Mapping[URIRef, str]
    types: Mapping[URIRef, Collection[URIRef]] = field(default_factory=dict[URIRef, Collection[URIRef]])
    type_names: Mapping[URIRef, str] = field(default_factory=dict[URIRef, str])
    """The name of each type."""
    descriptions: Mapping[URIRef, str] = field(default_factory=dict[URIRef, str])
    merged: Mapping[URIRef, URIRef] = field(default_factory=dict[URIRef, URIRef])
    """Entities that were merged into another one, which has all their facts."""

    def __contains__(self, iri: URIRef) -> bool:
        has_facts = iri in self.labels or iri in self.types or iri in self.descriptions
        return has_facts and iri not in self.merged


class Names(ABC):
    """Reads names and caches them."""

    def __init__(self, reader: Reader, naming: Naming) -> None:
        self.naming = naming
        self._reader = reader
        self._relation_ranks = {str(relation): rank for rank, relation in enumerate(naming.relations)}
        self._label_cache: TTLCache[URIRef, str] = TTLCache(_ENTITY_CACHE_SIZE, naming.cache_seconds)
        self._entity_cache: TTLCache[URIRef, Entity] = TTLCache(
            _DESCRIBED_CACHE_SIZE, min(naming.cache_seconds, _DESCRIBED_SECONDS)
        )
        self._relation_cache: LRUCache[URIRef, str] = LRUCache(_RELATION_CACHE_SIZE)

    async def read_labels(self, iris: Iterable[URIRef]) -> dict[URIRef, str]:
        """Read the names of entities: in a preferred language, else without a language, else in any.

        Entities without a name are left out.
        """
        labels: dict[URIRef, str] = {}
        unknown: list[URIRef] = []

        def look_up(batch: Sequence[URIRef]) -> None:
            for iri in batch:
                if (label := self._label_cache.get(iri)) is None:
                    unknown.append(iri)
                elif label:
                    labels[iri] = label

        await apply_in_slices(list(dict.fromkeys(iris)), look_up)
        for query in (self.naming.labels, self.naming.labels_of_any_language):
            if unknown:
                found = await self._texts(query, unknown)
                await self._cache_labels(found)
                labels.update(found)
                unknown = await in_thread(len(unknown), partial(_without, unknown, found))
        await self._cache_labels(dict.fromkeys(unknown, ""))
        return labels

    async def nodes(self, terms: Sequence[Term]) -> dict[Term, Node]:
        """Convert terms to values and named entities. Nodes without an IRI are left out."""
        wanted, iris = await in_thread(len(terms), lambda: self._with_iris(terms))
        labels = await self.read_labels(iris.values())
        unnamed = await in_thread(len(iris), lambda: _without(dict.fromkeys(iris.values()), labels))
        mediators = await self._mediators(unnamed)

        def named() -> dict[Term, Node]:
            values: dict[Term, Node] = {term: self.literal(term) for term in wanted if isinstance(term, Literal)}
            return values | {
                term: Entity(self.naming.short(iri), labels.get(iri), mediator=iri in mediators)
                for term, iri in iris.items()
            }

        return await in_thread(len(wanted), named)

    def without_labels(
        self, terms: Iterable[Term], relations: Iterable[URIRef]
    ) -> tuple[dict[Term, Node], dict[URIRef, Relation]]:
        """Convert terms to values and entities, and IRIs to relations, with their ids alone."""
        wanted, iris = self._with_iris(terms)
        values: dict[Term, Node] = {term: self.literal(term) for term in wanted if isinstance(term, Literal)}
        entities = {term: Entity(self.naming.short(iri)) for term, iri in iris.items()}
        return values | entities, {iri: Relation(short := self.naming.short(iri), short) for iri in relations}

    def _with_iris(self, terms: Iterable[Term]) -> tuple[Collection[Term], dict[Term, URIRef]]:
        """The distinct terms, and the IRIs of those that can be looked up."""
        wanted = dict.fromkeys(terms)
        return wanted, {term: iri for term in wanted if (iri := self._iri(term)) is not None}

    def unknown(self, iris: Iterable[URIRef]) -> list[URIRef]:
        """The entities whose names are not in the cache."""
        return [iri for iri in iris if iri not in self._label_cache]

    async def keep(self, names: Mapping[URIRef, Sequence[Literal]]) -> None:
        """Cache entities' names. An empty sequence means that the entity has no name in any language."""
        await self._cache_labels(
            await in_thread(len(names), lambda: {iri: self.best(found) or "" for iri, found in names.items()})
        )

    def best(self, texts: Iterable[Literal]) -> str | None:
        """Choose the text to show; None if there is none."""
        found = preferred(texts, self.naming.languages)
        return None if found is None else str(found)

    async def relations(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Relations with their names in the graph, else names derived from their ids."""
        return await self._schema_names(iris, readable)

    async def classes(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Classes with their names."""
        return await self.relations(iris)

    async def keep_relations(self, names: Mapping[URIRef, Iterable[Literal]]) -> None:
        """Cache the names of relations and types. An empty sequence means that the relation or type has no name."""
        best = await in_thread(len(names), lambda: {iri: self.best(found) or "" for iri, found in names.items()})
        await apply_in_slices(list(best.items()), self._relation_cache.update)

    def literal(self, term: Literal) -> model.Literal:
        """Convert an RDF literal to a value."""
        return model.Literal(
            str(term), self.naming.datatype(str(term.datatype) if term.datatype else None), term.language
        )

    async def described(self, iris: Iterable[URIRef]) -> dict[URIRef, Entity]:
        """Entities with names, types and descriptions, in the given order. An IRI that no triple has is omitted.

        An entity that was merged into another one is described as that one, with the requested id in `asked_as`.
        """
        distinct_iris = list(dict.fromkeys(iris))
        if len(distinct_iris) > _MAX_REMEMBERED:
            return await self._read_entities(distinct_iris)
        known = {iri: entity for iri in distinct_iris if (entity := self._entity_cache.get(iri)) is not None}
        known |= await self._read_entities([iri for iri in distinct_iris if iri not in known])
        return {iri: known[iri] for iri in distinct_iris if iri in known}

    async def _read_entities(self, wanted: Sequence[URIRef]) -> dict[URIRef, Entity]:
        """Read the names, types and descriptions of entities, and keep them for a while."""
        if not wanted:
            return {}
        facts = await self._facts(wanted)
        without_facts = await in_thread(
            len(wanted), lambda: [iri for iri in wanted if iri not in facts and iri not in facts.merged]
        )
        missing = await self._missing(without_facts)
        unnamed = await in_thread(
            len(wanted),
            lambda: [iri for iri in wanted if not any(iri in known for known in (facts.labels, missing, facts.merged))],
        )
        mediators = await self._mediators(unnamed)
        targets = await self.described(facts.merged.values())

        def entities() -> dict[URIRef, Entity]:
            found: dict[URIRef, Entity] = {}
            for iri in wanted:
                if (target := facts.merged.get(iri)) is not None:
                    if target in targets:
                        found[iri] = replace(targets[target], asked_as=self.naming.short(iri))
                elif iri not in missing:
                    found[iri] = self._entity(iri, facts, mediator=iri in mediators)
            if len(found) <= _MAX_REMEMBERED:
                self._entity_cache.update(found)
            return found

        return await in_thread(len(wanted), entities)

    def _entity(self, iri: URIRef, facts: Facts, *, mediator: bool) -> Entity:
        types = tuple(sorted(facts.type_names[type_] for type_ in facts.types.get(iri, ())))
        return Entity(self.naming.short(iri), facts.labels.get(iri), types, facts.descriptions.get(iri), mediator)

    async def _missing(self, iris: Sequence[URIRef]) -> Collection[URIRef]:
        """The entities that occur in no triple."""
        read = await self._reader.in_batches(self.naming.existing, "ids", iris)
        rows = read.all_rows()
        return await in_thread(len(iris), lambda: set(iris).difference(iri_in(row, "s") for row in rows))

    @abstractmethod
    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        """Read the facts on some entities."""

    def _iri(self, term: Term) -> URIRef | None:
        """The IRI by which a term can be looked up; None if it has none."""
        return term if isinstance(term, URIRef) else None

    async def _mediators(self, unnamed: Sequence[URIRef]) -> Collection[URIRef]:
        """The entities without a name that are mediators. By default none are."""
        del unnamed
        return ()

    async def _label_relations(self, iris: Sequence[URIRef]) -> Mapping[URIRef, str]:
        """Read the names of relations and classes that are not in the cache."""
        return await self.read_labels(iris)

    async def _schema_names(self, iris: Iterable[URIRef], from_id: Callable[[str], str]) -> dict[URIRef, Relation]:
        known = {iri: self._relation_cache.get(iri) for iri in dict.fromkeys(iris)}
        if unknown := [iri for iri, label in known.items() if label is None]:
            labels = await self._label_relations(unknown)
            found = {iri: labels.get(iri, "") for iri in unknown}
            self._relation_cache.update(found)
            known |= found
        return {
            iri: Relation(self.naming.short(iri), label or from_id(iri), label_from_id=not label)
            for iri, label in known.items()
        }

    async def _texts(self, query: str, iris: Sequence[URIRef]) -> dict[URIRef, str]:
        """The best text of each entity: by language, then by the order of the relations. Blank texts are left out."""
        rows = await self._about(query, iris)

        def best() -> dict[URIRef, str]:
            found: dict[URIRef, list[tuple[tuple[int, str, int], str]]] = defaultdict(list)
            for row in rows:
                if isinstance(text := row["o"], Literal) and text.strip():
                    rank = (*label_rank(text, self.naming.languages), self._relation_ranks.get(str(row.get("p")), 0))
                    found[iri_in(row, "s")].append((rank, str(text)))
            return {iri: min(texts)[1] for iri, texts in found.items()}

        return await in_thread(len(rows), best)

    async def _about(self, query: str, iris: Sequence[URIRef]) -> Sequence[Row]:
        return (await self._reader.in_batches(query, "ids", iris)).all_rows()

    async def _cache_labels(self, labels: Mapping[URIRef, str]) -> None:
        await apply_in_slices(list(labels.items()), self._label_cache.update)


def _without(iris: Iterable[URIRef], known: Container[URIRef]) -> list[URIRef]:
    """The entities that are not among the known ones."""
    return [iri for iri in iris if iri not in known]
