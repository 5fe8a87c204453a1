"""Reads labels in the preferred languages, descriptions, classes, and redirects of merged entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base import names
from kgnav_mcp.adapters.sparql_base.names import Facts, Naming
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.terms import comma_separated
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache, label_languages
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Entity, Relation

_LABEL_SECONDS = 3600.0
"""Seconds for which a label is cached: it may be edited at any time."""


class Names(names.Names):
    """Reads labels: in the preferred languages, or else in `mul`, English or any.

    Labels of properties are in the catalogue.
    """

    def __init__(self, store: Store, catalogues: CatalogueCache) -> None:
        ids, languages = store.ids, label_languages(store.languages)
        language_terms = {"languages": languages, "described_in": [one for one in languages if one != "mul"]}
        store.reader.add_known({name: comma_separated(*map(Literal, some)) for name, some in language_terms.items()})
        naming = Naming(
            short=ids.shown,
            iri=ids.entity,
            languages=languages,
            labels=queries.LABELS,
            labels_of_any_language=queries.ANY_LABELS,
            existing=queries.EXISTING,
            cache_seconds=_LABEL_SECONDS,
        )
        super().__init__(store.reader, naming)
        self._ids = ids
        self._catalogues = catalogues

    async def labels(self, iris: Iterable[str]) -> dict[str, str]:
        """The labels of entities by IRI. Entities without a label are left out."""
        all_iris = list(iris)
        properties, missing = await in_thread(len(all_iris), lambda: self._of_properties(all_iris))
        labels = await self.read_labels(missing)
        return await in_thread(len(labels), lambda: properties | {str(iri): label for iri, label in labels.items()})

    def _of_properties(self, iris: Iterable[str]) -> tuple[dict[str, str], list[URIRef]]:
        """The labels of properties, as far as the catalogue has them; and all other IRIs."""
        found: dict[str, str] = {}
        others: list[URIRef] = []
        catalogue = self._catalogues.current
        for iri in dict.fromkeys(map(str, iris)):
            local = iri.removeprefix(self._ids.entities)
            if local in catalogue and catalogue.get(local).labels:
                found[iri] = catalogue.label(local)
            else:
                others.append(URIRef(iri))
        return found, others

    def relation(self, local: str) -> Relation:
        """The property with a bare id as a relation."""
        return self._catalogues.current.relation(local)

    def entity(self, iri: str, labels: Mapping[str, str]) -> Entity:
        """An entity with its label."""
        return Entity(self._ids.shown(iri), labels.get(str(iri)))  # an rdflib term is never equal to a text

    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        rows = await self._about(queries.ABOUT, iris)
        classes, merged = await in_thread(len(rows), lambda: self._classes_and_merged(rows))
        left = await in_thread(len(iris), lambda: [iri for iri in iris if iri not in merged])
        named = {one for found in classes.values() for one in found}
        labels, descriptions = await gathered(self.labels([*left, *named]), self._texts(queries.DESCRIPTIONS, left))
        return Facts(
            await in_thread(len(left), lambda: {iri: labels[str(iri)] for iri in left if str(iri) in labels}),
            classes,
            {one: labels.get(str(one)) or self._ids.shown(one) for one in named},
            descriptions,
            merged,
        )

    def _classes_and_merged(self, rows: Iterable[Row]) -> tuple[dict[URIRef, list[URIRef]], dict[URIRef, URIRef]]:
        """The classes of each entity, and for merged entities the one that they redirect to."""
        classes: dict[URIRef, list[URIRef]] = defaultdict(list)
        merged: dict[URIRef, URIRef] = {}
        for row in rows:
            if not isinstance(row["o"], URIRef) or not self._ids.is_entity(row["o"]):
                continue
            if str(row["p"]) == "same":
                merged[iri_in(row, "s")] = iri_in(row, "o")
            else:
                classes[iri_in(row, "s")].append(row["o"])
        return classes, merged
