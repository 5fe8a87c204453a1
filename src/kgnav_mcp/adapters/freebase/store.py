"""What every reader of a Freebase graph shares: the connection, the options, and what relations mean there."""

from __future__ import annotations

from rdflib import Literal

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.sparql.reading import Reader, Selects
from kgnav_mcp.adapters.sparql.terms import listed
from kgnav_mcp.adapters.sparql.virtuoso import VIRTUOSO
from kgnav_mcp.port import AdapterOptions

SAMPLE = 1_000
"""Rows of a relation that are looked at to say what it leads to."""
FRESH = 60.0
"""Seconds that counts are kept, so that the pages of one list do not count it again and again."""


class Store:
    """The endpoint with the meanings of the graph's relations."""

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
            "languages": listed(*(Literal(language.lower()) for language in (*options.languages, ""))),
        }
        self.reader = Reader(client, known, options.timeout, dialect=VIRTUOSO)
        self.reader.know({"mediator": self.reader.part(queries.MEDIATOR)})
