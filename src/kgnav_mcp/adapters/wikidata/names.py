"""Labels in the wanted languages, descriptions, classes, and what has been merged into what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cachetools import TTLCache
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql.reading import address
from kgnav_mcp.adapters.sparql.terms import listed
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import Catalogues, fallbacks
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Entity

_KEPT = 50_000
_HOUR = 3600.0
"""Seconds that a label is kept: other people edit it."""


class Names:
    """Reads labels, in batches, and keeps them."""

    def __init__(self, store: Store, catalogues: Catalogues) -> None:
        self._reader = store.reader
        self._ids = store.ids
        self._catalogues = catalogues
        self._order = fallbacks(store.languages)
        self._languages = listed(*(Literal(language) for language in self._order))
        self._described_in = listed(*(Literal(language) for language in self._order if language != "mul"))
        self._kept: TTLCache[str, str | None] = TTLCache(_KEPT, _HOUR)
        self._unnamed: TTLCache[str, bool] = TTLCache(_KEPT, _HOUR)

    async def labels(self, iris: Iterable[str]) -> dict[str, str]:
        """The labels of entities by their IRIs: in the wanted languages, else `mul`, English, any. Some have none."""
        found: dict[str, str] = {}
        missing: list[URIRef] = []
        for iri in dict.fromkeys(str(iri) for iri in iris):
            local = iri.removeprefix(self._ids.entities)
            if local in self._catalogues.current and self._catalogues.current.get(local).labels:
                found[iri] = self._catalogues.current.label(local)
            elif (label := self._kept.get(iri)) is not None:
                found[iri] = label
            elif not self._unnamed.get(iri):
                missing.append(URIRef(iri))
        read = await self._read(missing)
        for iri in map(str, missing):
            if iri in read:
                self._kept[iri] = read[iri]
            else:
                self._unnamed[iri] = True
        return found | read

    async def _read(self, missing: Sequence[URIRef]) -> dict[str, str]:
        if not missing:
            return {}
        found = self._best((await self._reader.over(queries.LABELS, "ids", missing, languages=self._languages)).whole())
        left = [iri for iri in missing if str(iri) not in found]
        if left:
            found |= self._best((await self._reader.over(queries.ANY_LABELS, "ids", left)).whole())
        return found

    def _best(self, rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
        texts: dict[str, list[Literal]] = defaultdict(list)
        for row in rows:
            if isinstance(text := row["o"], Literal):
                texts[str(row["s"])].append(text)
        return {iri: self.best(found) for iri, found in texts.items()}

    def best(self, texts: Iterable[Literal]) -> str:
        """The text to show of several."""
        return str(min(texts, key=lambda text: (self.rank(text.language), text.language or "", str(text))))

    def rank(self, language: str | None) -> int:
        """The place of a language among those that are looked for; then all others."""
        tag = (language or "").lower()
        return self._order.index(tag) if tag in self._order else len(self._order)

    def entity(self, iri: str, labels: Mapping[str, str]) -> Entity:
        """An entity with its label."""
        return Entity(self._ids.shown(iri), labels.get(str(iri)))  # an rdflib term is never equal to a text

    async def described(self, iris: Sequence[URIRef]) -> dict[URIRef, Entity]:
        """Entities with labels, classes and descriptions, in the order asked; unknown ones are absent.

        What was merged into another entity is described as that one, which says what it was asked as.
        """
        wanted = list(dict.fromkeys(iris))
        if not wanted:
            return {}
        classes, merged = await self._about(wanted)
        if merged:
            found = await self.described([iri for iri in wanted if iri not in merged])
            targets = await self.described(list(dict.fromkeys(merged.values())))
            return {
                iri: found[iri] if iri in found else replace(targets[merged[iri]], asked_as=self._ids.shown(iri))
                for iri in wanted
                if iri in found or merged.get(iri) in targets
            }
        labels, descriptions = await gathered(
            self.labels([*wanted, *(one for found in classes.values() for one in found)]), self._descriptions(wanted)
        )
        silent = [
            iri for iri in wanted if str(iri) not in labels and iri not in classes and str(iri) not in descriptions
        ]
        existing = set(wanted) - set(silent)
        if silent:
            read = await self._reader.over(queries.EXISTING, "ids", silent)
            existing |= {address(row, "s") for row in read.whole()}
        return {
            iri: Entity(
                self._ids.shown(iri),
                labels.get(str(iri)),
                tuple(sorted(labels.get(one) or self._ids.shown(one) for one in classes.get(iri, ()))),
                descriptions.get(str(iri)),
            )
            for iri in wanted
            if iri in existing
        }

    async def _about(self, iris: Sequence[URIRef]) -> tuple[dict[URIRef, list[str]], dict[URIRef, URIRef]]:
        """The classes of entities, and what they were merged into."""
        classes: dict[URIRef, list[str]] = defaultdict(list)
        merged: dict[URIRef, URIRef] = {}
        for row in (await self._reader.over(queries.ABOUT, "ids", iris)).whole():
            if not isinstance(row["o"], URIRef) or not self._ids.is_entity(row["o"]):
                continue
            if str(row["p"]) == "same":
                merged[address(row, "s")] = address(row, "o")
            else:
                classes[address(row, "s")].append(str(row["o"]))
        return dict(classes), merged

    async def _descriptions(self, iris: Sequence[URIRef]) -> dict[str, str]:
        read = await self._reader.over(queries.DESCRIPTIONS, "ids", iris, languages=self._described_in)
        return self._best(read.whole())
