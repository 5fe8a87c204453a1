"""Ids of Freebase, such as `m.0abc` and `people.person.place_of_birth`: short forms of IRIs of one namespace."""

from __future__ import annotations

import re

from rdflib import URIRef

from kgnav_mcp.adapters.ids.rdf import BlankPath, RdfIds, iri
from kgnav_mcp.adapters.wellknown import PREFIXES

_SHORT = re.compile(r"[\w%~-]+(?:\.[\w%~-]+)+")
_PATH = re.compile(r"/[\w%~-]+(?:/[\w%~-]+)+")
"""The form of ids in Freebase's own query language: `/m/0abc`, `/people/person/place_of_birth`."""
_TOPIC = re.compile(r"[mg]\..+")
_MAX_LENGTH = 2_000
"""Maximum length of an id in characters: Virtuoso stores no longer IRIs."""


class FreebaseIds(RdfIds):
    """Converts between short and full forms of the ids of one namespace; those of others are printed in full."""

    def __init__(self, namespace: str) -> None:
        super().__init__({"ns": namespace, "fb": namespace}, PREFIXES)
        self.namespace = namespace

    def short(self, key: str) -> str:
        local = key.removeprefix(self.namespace)
        return local if len(local) < len(key) and _SHORT.fullmatch(local) else str(key)

    def iri(self, reference: str) -> URIRef | None:
        if len(reference) > _MAX_LENGTH:
            return None
        text = reference[1:-1] if reference.startswith("<") and reference.endswith(">") else reference
        if _PATH.fullmatch(text):
            text = text.strip("/").replace("/", ".")
        return iri(self.namespace + text) if _SHORT.fullmatch(text) else super().iri(reference)

    def is_topic(self, term: str) -> bool:
        """Whether an IRI identifies an entity or a mediator (`m.`, `g.`), and not a type or a relation."""
        return _TOPIC.fullmatch(self.short(term)) is not None

    def blank(self, reference: str) -> BlankPath | None:  # noqa: ARG002 - none is one
        """None: no blank node has an id."""
        return None
