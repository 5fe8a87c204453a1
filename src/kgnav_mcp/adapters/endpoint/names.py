"""Names: of entities in the languages that are wanted, and of relations and classes, kept as long as they are used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cachetools import LRUCache
from rdflib import BNode, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.blanks import Blank, Resolved
from kgnav_mcp.adapters.endpoint.options import Mediators
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.naming import entity_name, local_name, readable
from kgnav_mcp.adapters.sparql.labels import in_languages, preferred
from kgnav_mcp.adapters.sparql.reading import Read, address
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, values
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Entity, Node, Relation, Stop

_RELATIONS = 20_000
_BATCH = 100
"""Entities of one query, which has a branch for each relation: Virtuoso does not compile much longer lists."""
_ANY = Terms("isLiteral(?o)")


class Names:
    """Reads and keeps names."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids = store.endpoint.ids
        self._kept: LRUCache[URIRef, str] = LRUCache(_RELATIONS)
        self._wanted = in_languages("?o", store.languages)

    async def labels(self, terms: Iterable[Term]) -> dict[URIRef, str]:
        """The names of entities: in a wanted language, else without a language, else in any. Some have none."""
        return await self._texts(terms, self._store.names)

    async def relations(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Relations with the names that the graph gives them, else names read from their ids."""
        return await self._schema_names(iris, classes=False)

    async def classes(self, iris: Iterable[URIRef]) -> dict[URIRef, Relation]:
        """Classes with the names that the graph gives them, else the last part of their ids."""
        return await self._schema_names(iris, classes=True)

    async def entities(self, iris: Iterable[URIRef]) -> dict[URIRef, Entity]:
        """The entities among some IRIs with all that is told of them; an IRI in no triple is left out."""
        wanted = list(dict.fromkeys(iris))
        if not wanted:
            return {}
        labels = await self._texts(wanted, self._store.names)
        descriptions = await self._texts(wanted, self._store.descriptions)
        types = await self._types(wanted)
        silent = [iri for iri in wanted if iri not in labels and iri not in types and iri not in descriptions]
        existing = set(wanted) - set(silent)
        if silent:
            read = await self._store.reader.over(queries.EXISTING, "ids", silent)
            existing |= {address(row, "s") for row in read.whole()}
        unnamed = await self._mediators(iri for iri in existing if iri not in labels)
        classes = await self.classes(type_ for found in types.values() for type_ in found)
        return {
            iri: Entity(
                self._ids.short(iri),
                labels.get(iri),
                tuple(sorted(classes[type_].label for type_ in types.get(iri, ()))),
                descriptions.get(iri),
                iri in unnamed,
            )
            for iri in wanted
            if iri in existing
        }

    async def nodes(self, terms: Iterable[Term]) -> dict[Term, Node]:
        """Values, and entities with IRIs by their names; blank nodes are left out."""
        wanted = list(dict.fromkeys(term for term in terms if not isinstance(term, BNode)))
        labels = await self.labels(wanted)
        unnamed = await self._mediators(term for term in wanted if isinstance(term, URIRef) and term not in labels)
        return {
            term: self.literal(term)
            if isinstance(term, Literal)
            else Entity(self._ids.short(term), labels.get(term), mediator=term in unnamed)
            for term in wanted
        }

    async def blank(self, found: Resolved) -> Entity:
        """A blank node with all that is told of it: its own triples say it."""
        types = [far for relation, far in found.blank.outgoing if relation in self._store.types]
        classes = await self.classes(type_ for type_ in types if isinstance(type_, URIRef))
        label = self._own(found.blank, self._store.names)
        return Entity(
            self._ids.written(found.path),
            label,
            tuple(sorted(one.label for one in classes.values())),
            self._own(found.blank, self._store.descriptions),
            label is None,
        )

    def blank_node(self, identity: str, blank: Blank) -> Entity:
        """A blank node at the far end of a triple."""
        label = self._own(blank, self._store.names)
        return Entity(identity, label, mediator=label is None)

    def literal(self, term: Literal) -> model.Literal:
        """A value as it is shown."""
        datatype = self._ids.datatype(str(term.datatype) if term.datatype else None)
        return model.Literal(str(term), datatype, term.language)

    def best(self, texts: Iterable[Literal]) -> str | None:
        """The text to show of several."""
        found = preferred(texts, self._store.languages)
        return None if found is None else str(found)

    def _own(self, blank: Blank, relations: Sequence[URIRef]) -> str | None:
        texts = [(relation, far) for relation, far in blank.outgoing if isinstance(far, Literal)]
        for wanted in relations:
            if text := self.best(far for relation, far in texts if relation == wanted):
                return text
        return None

    async def _texts(self, terms: Iterable[Term], relations: Sequence[URIRef]) -> dict[URIRef, str]:
        """The best text of each entity; of two relations in the same language the first one's."""
        wanted = list(dict.fromkeys(term for term in terms if isinstance(term, URIRef)))
        found: dict[URIRef, list[tuple[int, Literal]]] = defaultdict(list)
        for condition in (self._wanted, _ANY):
            missing = [iri for iri in wanted if iri not in found]
            read = await self._about(queries.TEXTS, missing, relations, wanted=condition)
            for row in read.rows:
                if isinstance(text := row["o"], Literal):
                    found[address(row, "s")].append((relations.index(address(row, "p")), text))
        chosen: dict[URIRef, str] = {}
        for iri, texts in found.items():
            best = preferred([text for _, text in texts], self._store.languages)
            same = min(
                (place, str(text)) for place, text in texts if best is not None and text.language == best.language
            )
            chosen[iri] = same[1]
        return chosen

    async def _types(self, iris: Sequence[URIRef]) -> dict[URIRef, list[URIRef]]:
        found: dict[URIRef, list[URIRef]] = defaultdict(list)
        for row in (await self._about(queries.TYPES, iris, self._store.types)).rows:
            type_ = address(row, "o")
            if type_ not in found[address(row, "s")]:
                found[address(row, "s")].append(type_)
        return dict(found)

    async def _about(self, template: str, iris: Sequence[URIRef], relations: Sequence[URIRef], **terms: Terms) -> Read:
        """What some relations say of entities, in a query for every hundred of them; fewer where the answer was cut."""
        reader = self._store.reader

        async def read(batch: Sequence[URIRef]) -> Read:
            ids = values(*batch)
            answer = await reader.union(
                [reader.filled(template, ids=ids, p=relation, **terms) for relation in relations]
            )
            if answer.stop is not Stop.ROW_CAP or len(batch) == 1:
                return Read(answer.whole())
            half = len(batch) // 2
            return Read.together([await read(batch[:half]), await read(batch[half:])])

        return Read.together(await gathered(*(read(batch) for batch in batches(iris, _BATCH))))

    async def _mediators(self, unnamed: Iterable[URIRef]) -> set[URIRef]:
        """Which nodes with an IRI but without a name are mediators: none, unless the options say so."""
        asked = list(unnamed)
        if self._store.endpoint.mediators is not Mediators.UNNAMED or not asked:
            return set()
        read = await self._store.reader.over(queries.LEADING_ON, "ids", asked)
        return {address(row, "s") for row in read.whole()}

    async def _schema_names(self, iris: Iterable[URIRef], *, classes: bool) -> dict[URIRef, Relation]:
        wanted = list(dict.fromkeys(iris))
        known = {iri: self._kept.get(iri) for iri in wanted}
        unknown = [iri for iri, label in known.items() if label is None]
        if unknown:
            labels = await self.labels(unknown)
            for iri in unknown:
                known[iri] = labels.get(iri) or self._from_id(iri, classes=classes)
                self._kept[iri] = known[iri] or ""
        return {iri: Relation(self._ids.short(iri), label or "") for iri, label in known.items()}

    @staticmethod
    def _from_id(iri: URIRef, *, classes: bool) -> str:
        return entity_name(local_name(iri)) if classes else readable(iri)
