"""The concept base of a copy of Wikidata, or of another Wikibase: what the IRIs of its entities begin with."""

from __future__ import annotations

from urllib.parse import urlencode

from kgnav_mcp.adapters.sparql.reading import Reader
from kgnav_mcp.adapters.sparql.requests import Endpoint
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.ids import Ids
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.adapters.wikidata.presets import WIKIDATA
from kgnav_mcp.errors import InvalidStore


async def concept_base(reader: Reader, wikidata: Wikidata) -> str:
    """The base of its properties; where they are not defined, as in an item's export, of what leads to statements.

    Raises:
        InvalidStore: the endpoint has no statements.
        StoreTimeout: it did not find one in time.
    """
    defined = (await reader.select(queries.DIRECT_CLAIM)).some()
    claims = (await reader.select(queries.CLAIM)).some()
    if not claims:
        instance = Ids(WIKIDATA).direct("P31")
        if defined or (await reader.select(queries.TRUTHY, instance=instance)).some():
            raise _truthy(wikidata)
        raise InvalidStore(
            "this endpoint has no Wikibase in it: no statement (wikibase:BestRank), no property (wikibase:directClaim)",
            next_step="Correct the graph's address, or name the graph that has it (option graph).",
        )
    known = (*(row["direct"] for row in defined), *(row["p"] for row in claims))
    return next((base for base, folder, _ in (str(iri).partition("/prop/") for iri in known) if folder), WIKIDATA)


def _truthy(wikidata: Wikidata) -> InvalidStore:
    graph = f"?{urlencode({'default-graph-uri': wikidata.graph})}" if wikidata.graph else ""
    return InvalidStore(
        "this copy of a Wikibase has values but no statements (wikibase:BestRank), as a truthy dump",
        next_step=f"Walk its values: sparql+{Endpoint.parse(wikidata.endpoint).name}{graph} is a graph, too. "
        "Or load the full dump: statements carry the qualifiers and ranks.",
    )
