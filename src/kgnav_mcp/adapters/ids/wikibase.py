"""Ids of a Wikibase. `wd:Q42` and `wdt:P31` are printed; `Q42`, `P31`, other prefixes and full IRIs are accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rdflib import URIRef

_LOCAL = r"[QPL][1-9]\d{0,14}(?:-[FS][1-9]\d{0,5})?"
_SHORT = re.compile(rf"(?:(?:wd|wdt|p|ps|pq|psv|pqv|wdno):)?({_LOCAL})", re.IGNORECASE)
_TAIL = re.compile(_LOCAL)
_PROPERTY = re.compile(r"P[1-9]\d{0,14}")
_FOLDERS = (
    "entity/",
    "wiki/",
    "wiki/Property:",
    "wiki/Item:",
    "wiki/Special:EntityData/",
    "prop/",
    "prop/direct/",
    "prop/statement/",
    "prop/qualifier/",
)
"""Paths under the base whose IRIs, and addresses of web pages, mean the entity at their end."""


@dataclass(frozen=True, slots=True)
class WikibaseIds:
    """Converts between short ids and full IRIs under one concept base."""

    base: str

    @property
    def entities(self) -> str:
        """The namespace of entities."""
        return f"{self.base}/entity/"

    def local(self, reference: str) -> str | None:
        """The bare id (`Q42`) that a text means in any accepted form; None if it is not an id."""
        text = reference.strip()
        if match := _SHORT.fullmatch(text):
            return match[1].upper()
        bare = text.removeprefix("<").removesuffix(">").partition("://")[2]
        place = self.base.partition("://")[2] + "/"
        if not bare.startswith(place):
            return None
        rest = bare.removeprefix(place)
        for folder in _FOLDERS:
            if rest.startswith(folder) and _TAIL.fullmatch(local := rest.removeprefix(folder)):
                return local
        return None

    def entity(self, reference: str) -> URIRef | None:
        """The IRI of the entity that a text means; None if it is not an id."""
        local = self.local(reference)
        return None if local is None else URIRef(self.entities + local)

    def property(self, reference: str) -> str | None:
        """The bare id of the property that a text means; None if it is not one."""
        local = self.local(reference)
        return local if local is not None and _PROPERTY.fullmatch(local) else None

    def is_entity(self, iri: str) -> bool:
        """Whether an IRI is that of an entity."""
        return iri.startswith(self.entities) and _TAIL.fullmatch(iri.removeprefix(self.entities)) is not None

    def shown(self, iri: str) -> str:
        """An entity's id as it is printed."""
        return f"wd:{iri.removeprefix(self.entities)}"

    def property_of(self, iri: str) -> str | None:
        """The bare id of the property of a predicate, in any of its namespaces; None if it has none."""
        tail = iri.rpartition("/")[2]
        return tail if _PROPERTY.fullmatch(tail) and iri.startswith(f"{self.base}/prop/") else None

    @staticmethod
    def relation(local: str) -> str:
        """A property's id as it is printed."""
        return f"wdt:{local}"

    def direct(self, local: str) -> URIRef:
        """The predicate from an entity to the values of its best-ranked statements (`wdt:`)."""
        return URIRef(f"{self.base}/prop/direct/{local}")

    def claim(self, local: str) -> URIRef:
        """The predicate from an entity to its statements (`p:`)."""
        return URIRef(f"{self.base}/prop/{local}")

    def value(self, local: str) -> URIRef:
        """The predicate from a statement to its value (`ps:`)."""
        return URIRef(f"{self.base}/prop/statement/{local}")

    def full_value(self, local: str) -> URIRef:
        """The predicate from a statement to the node with its full value (`psv:`)."""
        return URIRef(f"{self.base}/prop/statement/value/{local}")

    def qualifier(self, local: str) -> URIRef:
        """The predicate from a statement to the value of a qualifier (`pq:`)."""
        return URIRef(f"{self.base}/prop/qualifier/{local}")

    def full_qualifier(self, local: str) -> URIRef:
        """The predicate from a statement to the node with a qualifier's full value (`pqv:`)."""
        return URIRef(f"{self.base}/prop/qualifier/value/{local}")

    def is_unknown(self, iri: str) -> bool:
        """Whether an IRI stands for an unknown value ("somevalue")."""
        return "/.well-known/genid/" in iri
