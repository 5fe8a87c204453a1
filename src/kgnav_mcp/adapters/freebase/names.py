"""Names of Freebase's entities, whose types and descriptions come with them, and of its relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import FRESH, Store
from kgnav_mcp.adapters.sparql import names
from kgnav_mcp.adapters.sparql.names import Facts, Naming
from kgnav_mcp.adapters.sparql.reading import iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.model import Entity, Node


class Names(names.Names):
    """Names by `type.object.name`. An entity without any is a mediator, unless it is no topic."""

    def __init__(self, store: Store) -> None:
        ids = store.ids
        naming = Naming(
            short=ids.short,
            iri=ids.term,
            datatype=ids.datatype,
            languages=store.languages,
            labels=queries.LABELS,
            labels_of_any_language=queries.LABELS_OF_ANY_LANGUAGE,
            fresh=FRESH,
        )
        super().__init__(store.reader, naming)
        self._topic = ids.topic
        self._meanings = store.freebase.relations

    def node(self, term: Term, labels: Mapping[URIRef, str]) -> Node:
        """A far end: a value, or an entity with its name."""
        if isinstance(term, Literal):
            return self.literal(term)
        label = labels.get(URIRef(str(term)))
        return Entity(self.naming.short(term), label, mediator=label is None and self._topic(term))

    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        """What one query tells of entities; names in other languages than the wanted ones take another."""
        texts: dict[URIRef, dict[URIRef, list[Literal]]] = {iri: defaultdict(list) for iri in self._meanings.values()}
        types: dict[URIRef, dict[URIRef, list[Literal]]] = defaultdict(lambda: defaultdict(list))
        for row in await self._about(queries.DESCRIPTIONS, iris):
            relation, node = iri_in(row, "p"), row["o"]
            if isinstance(node, Literal):
                texts[relation][iri_in(row, "s")].append(node)
            elif relation == self._meanings["type"]:
                add_name(types[iri_in(row, "s")][iri_in(row, "o")], row.get("called"))
        labels, descriptions = (
            {iri: self.best(found) or "" for iri, found in texts[self._meanings[meaning]].items()}
            for meaning in ("name", "description")
        )
        labels |= await self.read_labels(iri for iri in iris if iri not in labels)
        self.keep_relations({type_: called for found in types.values() for type_, called in found.items()})
        named = await self.relations(type_ for found in types.values() for type_ in found)
        return Facts(labels, {iri: [named[one].label for one in found] for iri, found in types.items()}, descriptions)

    def _iri(self, term: Term) -> URIRef | None:
        return None if isinstance(term, Literal) else URIRef(str(term))

    async def _mediators(self, unnamed: Sequence[URIRef]) -> Collection[URIRef]:
        return set(filter(self._topic, unnamed))

    async def _label_relations(self, iris: Sequence[URIRef]) -> Mapping[URIRef, str]:
        """Names in other languages say less of a relation than its id does."""
        return await self._texts(queries.LABELS, iris)


def add_name(names: list[Literal], name: Term | None) -> None:
    """Add a name, if there is one."""
    if isinstance(name, Literal):
        names.append(name)
