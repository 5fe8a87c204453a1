"""What every reader of a Freebase graph shares: the connection, the options, and what relations mean there."""

from __future__ import annotations

from rdflib import Literal

from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.sparql.reading import Reader, Selects
from kgnav_mcp.adapters.sparql.terms import listed
from kgnav_mcp.port import AdapterOptions

SAMPLE = 1_000
"""Rows of a relation that are looked at to say what it leads to."""
FRESH = 60.0
"""Seconds that counts are kept, so that the pages of one list do not count it again and again."""
_BATCH = 500
"""Entities of one list in a query: two of them read a page of 1,000 names a tenth to a third faster than one does."""
_BRANCHES = 40
"""Branches of one union: its cost grows faster than their number."""


class Store:
    """The endpoint with the meanings of the graph's relations."""

    def __init__(self, client: Selects, freebase: Freebase, options: AdapterOptions) -> None:
        self.freebase = freebase
        self.ids = freebase.ids
        self.languages = options.languages
        namespace = freebase.ids.namespace
        known = {
            **freebase.relations,
            "length": len(namespace) + len("m."),
            "topics": Literal(f"{namespace}m."),
            "guids": Literal(f"{namespace}g."),
            "languages": listed(*(Literal(language.lower()) for language in (*options.languages, ""))),
        }
        self.reader = Reader(client, known, options.timeout, batch=_BATCH, branches=_BRANCHES)
