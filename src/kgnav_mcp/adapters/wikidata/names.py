"""Labels in the wanted languages, descriptions, classes, and what has been merged into what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql import names
from kgnav_mcp.adapters.sparql.names import Facts, Naming
from kgnav_mcp.adapters.sparql.reading import iri_in
from kgnav_mcp.adapters.sparql.terms import listed
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache, fallbacks
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Entity

_HOUR = 3600.0
"""Seconds that a label is kept: other people edit it."""


class Names(names.Names):
    """Labels in the wanted languages, else `mul`, English, any. Those of properties are in the catalogue."""

    def __init__(self, store: Store, catalogues: CatalogueCache) -> None:
        ids, languages = store.ids, fallbacks(store.languages)
        spoken = {"languages": languages, "described_in": [one for one in languages if one != "mul"]}
        store.reader.know({name: listed(*map(Literal, some)) for name, some in spoken.items()})
        naming = Naming(
            short=ids.shown,
            iri=ids.entity,
            languages=languages,
            labels=queries.LABELS,
            labels_of_any_language=queries.ANY_LABELS,
            existing=queries.EXISTING,
            fresh=_HOUR,
        )
        super().__init__(store.reader, naming)
        self._ids = ids
        self._catalogues = catalogues

    async def labels(self, iris: Iterable[str]) -> dict[str, str]:
        """The labels of entities by their IRIs. Some have none."""
        found: dict[str, str] = {}
        missing: list[URIRef] = []
        for iri in dict.fromkeys(str(iri) for iri in iris):
            local = iri.removeprefix(self._ids.entities)
            if local in self._catalogues.current and self._catalogues.current.get(local).labels:
                found[iri] = self._catalogues.current.label(local)
            else:
                missing.append(URIRef(iri))
        return found | {str(iri): label for iri, label in (await self.read_labels(missing)).items()}

    def entity(self, iri: str, labels: Mapping[str, str]) -> Entity:
        """An entity with its label."""
        return Entity(self._ids.shown(iri), labels.get(str(iri)))  # an rdflib term is never equal to a text

    async def _facts(self, iris: Sequence[URIRef]) -> Facts:
        classes: dict[URIRef, list[str]] = defaultdict(list)
        merged: dict[URIRef, URIRef] = {}
        for row in await self._about(queries.ABOUT, iris):
            if not isinstance(row["o"], URIRef) or not self._ids.is_entity(row["o"]):
                continue
            if str(row["p"]) == "same":
                merged[iri_in(row, "s")] = iri_in(row, "o")
            else:
                classes[iri_in(row, "s")].append(str(row["o"]))
        left = [iri for iri in iris if iri not in merged]
        of_classes = [one for iri in left for one in classes.get(iri, ())]
        labels, descriptions = await gathered(
            self.labels([*left, *of_classes]), self._texts(queries.DESCRIPTIONS, left)
        )
        return Facts(
            {iri: labels[str(iri)] for iri in left if str(iri) in labels},
            {iri: [labels.get(one) or self._ids.shown(one) for one in found] for iri, found in classes.items()},
            descriptions,
            merged,
        )
