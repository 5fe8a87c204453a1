"""What every reader of a Wikibase shares: the connection, the options, and the terms of its data model."""

from __future__ import annotations

from rdflib import Literal

from kgnav_mcp.adapters.sparql.reading import Reader, Selects
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.ids import Ids
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.port import AdapterOptions

_BATCH = 200
"""Entities of one list in a query."""
_BRANCHES = 40
"""Branches of one union."""


class Store:
    """The endpoint with the terms that mean the same in every query."""

    def __init__(self, client: Selects, wikidata: Wikidata, ids: Ids, options: AdapterOptions) -> None:
        self.wikidata = wikidata
        self.ids = ids
        self.languages = options.languages
        known = {
            "best": queries.RANKED if wikidata.every_rank else queries.BEST,
            "value": Literal(f"{ids.base}/prop/statement/P"),
            "qualifier": Literal(f"{ids.base}/prop/qualifier/P"),
            "entities": Literal(ids.entities),
            "instance": ids.direct(wikidata.instance_of),
        }
        self.reader = Reader(
            client, known, options.timeout, prologue=queries.PREFIXES, batch=_BATCH, branches=_BRANCHES
        )
