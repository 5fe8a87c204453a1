"""Detects what an endpoint contains: the concept base of its IRIs, and whether it has statements or only values."""

from __future__ import annotations

from typing import Final

from rdflib import Literal

from kgnav_mcp.adapters.ids.wikibase import WikibaseIds
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.adapters.wikidata.presets import WIKIDATA
from kgnav_mcp.adapters.wikidata.queries import Form
from kgnav_mcp.errors import InvalidStore

_MAX_TRIPLES: Final = 100_000
"""Triples that are searched for a value, if nothing else shows that there is a Wikibase."""


async def detect_wikibase(reader: Reader, wikidata: Wikidata) -> tuple[WikibaseIds, Form]:
    """The ids under the endpoint's concept base, and the form of its rows (statements, or values of a truthy dump).

    The base is read from definitions of properties if there are any, else from predicates in use.

    Raises:
        InvalidStore: the endpoint has neither statements nor values of a Wikibase.
        StoreTimeout: none was found in time.
    """
    if wikidata.known:
        return WikibaseIds(wikidata.base), queries.TRUTHY if wikidata.values_only else queries.FULL
    defined = () if wikidata.base else (await reader.select(queries.DIRECT_CLAIM)).any_rows()
    claims = (await reader.select(queries.CLAIM)).any_rows()
    direct = ()
    if not claims:
        instance = WikibaseIds(wikidata.base or WIKIDATA).direct(wikidata.instance_of)
        folder = Literal(f"{wikidata.base}{queries.TRUTHY.folder}P")
        direct = (await reader.select(queries.DIRECT, instance=instance, folder=folder, most=_MAX_TRIPLES)).any_rows()
        if not (defined or direct or wikidata.base):
            raise InvalidStore(
                "this endpoint has no Wikibase in it: no statement (wikibase:BestRank), no property "
                "(wikibase:directClaim), no value (prop/direct/)",
                next_step="Correct the graph's address, or name the graph that has it (option graph).",
            )
    iris = [*(row["direct"] for row in defined), *(row["p"] for row in (*claims, *direct))]
    found = next((base for base, folder, _ in (str(iri).partition("/prop/") for iri in iris) if folder), WIKIDATA)
    bare = wikidata.values_only or direct or (defined and not claims)
    return WikibaseIds(wikidata.base or found), queries.TRUTHY if bare else queries.FULL
