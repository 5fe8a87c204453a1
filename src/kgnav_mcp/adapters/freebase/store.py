"""What all readers of a Freebase graph share: the connection, the options and the meanings of relations."""

from __future__ import annotations

from rdflib import Literal

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.terms import comma_separated
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.port import AdapterOptions

SAMPLE = 1_000
"""Number of rows of a relation that are sampled for mediators."""
FRESH = 60.0
"""Seconds to cache names, and a catalogue that a time-out cut."""


class Store:
    """The connection to a Freebase graph, with the meanings of its relations."""

    def __init__(self, client: Selects, freebase: Freebase, options: AdapterOptions) -> None:
        self.freebase = freebase
        self.ids = freebase.ids
        self.languages = options.languages
        namespace = freebase.ids.namespace
        known = {
            **freebase.relations,
            "named": freebase.relations["name"],
            "typed": freebase.relations["type"],
            "length": len(namespace) + len("m."),
            "topics": Literal(f"{namespace}m."),
            "guids": Literal(f"{namespace}g."),
            "languages": comma_separated(*(Literal(language.lower()) for language in (*options.languages, ""))),
        }
        self.reader = Reader(client, known, options.timeout, dialect=VIRTUOSO)
        self.reader.add_known({"mediator": self.reader.part(queries.MEDIATOR)})
