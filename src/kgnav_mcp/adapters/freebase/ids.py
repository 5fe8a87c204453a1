"""Ids of Freebase, such as `m.0abc` and `people.person.place_of_birth`: short forms of IRIs of one namespace."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rdflib import BNode, URIRef

from kgnav_mcp.adapters.naming import is_iri
from kgnav_mcp.adapters.sparql.terms import iri
from kgnav_mcp.errors import InvalidArgument

FREEBASE = "http://rdf.freebase.com/ns/"

_XSD = "http://www.w3.org/2001/XMLSchema#"
_LOCAL = r"[\w%~-]+(?:\.[\w%~-]+)+"
_SHORT = re.compile(_LOCAL)
_PREFIXED = re.compile(rf"(?:ns|fb):({_LOCAL})")
_PATH = re.compile(r"/[\w%~-]+(?:/[\w%~-]+)+")
"""The form of ids in Freebase's own query language: `/m/0abc`, `/people/person/place_of_birth`."""
_TOPIC = re.compile(r"[mg]\..+")
_MAX_LENGTH = 2_000
"""Maximum length of an id in characters: Virtuoso stores no longer IRIs."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Converts between short and full forms of the ids of one namespace."""

    namespace: str

    def short(self, term: URIRef | BNode | str) -> str:
        """The printed form of an IRI: short in the namespace, else the full IRI."""
        text = str(term)
        local = text.removeprefix(self.namespace)
        return local if local != text and _SHORT.fullmatch(local) else text

    def iri(self, reference: str) -> URIRef | None:
        """Resolve an id in any form to an IRI; None if the text is not an id."""
        if len(reference) > _MAX_LENGTH:
            return None
        if reference.startswith("<") and reference.endswith(">"):
            reference = reference[1:-1]
        if _SHORT.fullmatch(reference):
            full = self.namespace + reference
        elif match := _PREFIXED.fullmatch(reference):
            full = self.namespace + match[1]
        elif _PATH.fullmatch(reference):
            full = self.namespace + reference.strip("/").replace("/", ".")
        elif is_iri(reference):
            full = reference
        else:
            return None
        try:
            return iri(full)
        except InvalidArgument:
            return None  # The text is not an id.

    def is_topic(self, term: URIRef | BNode | str) -> bool:
        """Whether an IRI identifies an entity or a mediator (`m.`, `g.`), and not a type or a relation."""
        return _TOPIC.fullmatch(self.short(term)) is not None

    @staticmethod
    def datatype(full: str | None) -> str | None:
        """The printed form of a datatype, such as `xsd:date`; None for plain text."""
        if full is None or full in {f"{_XSD}string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"}:
            return None
        return f"xsd:{full.removeprefix(_XSD)}" if full.startswith(_XSD) else full
