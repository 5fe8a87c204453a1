"""Presets: the settings that differ between the endpoints of Wikidata, and other Wikibases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.dialects import BLAZEGRAPH, QLEVER

WIKIDATA: Final = "http://www.wikidata.org"
SUBCLASS: Final = "P279"
"""Wikidata's property `subclass of`."""
_SEARCH: Final = "https://www.wikidata.org/w/api.php"
_VECTORS: Final = "https://wd-vectordb.wmcloud.org/item/query/"


@dataclass(frozen=True, slots=True)
class Preset:
    """Default settings of one kind of endpoint. Options of the graph override them."""

    path: str
    """The path of the endpoint, if the location has none."""
    base: str
    """The concept base, with which IRIs of entities and predicates begin; empty: read from the endpoint."""
    hosts: tuple[str, ...] = ()
    """Hosts for which this preset is chosen by default."""
    search: str = ""
    """Address of the Wikibase API that finds entities by name; empty: labels are searched in SPARQL."""
    vectors: str = ""
    """Address of a search by meaning, which is used where the option `vector_search` asks for it."""
    scans: bool = False
    """Whether all labels may be scanned to find a name in another spelling."""
    max_grouped_triples: int | None = None
    """Incoming triples up to which an entity's relations are counted by grouping; None: always."""
    dialect: Dialect = PLAIN
    """The dialect of the store, which proxies may hide; PLAIN: detected."""


PRESETS: Final[Mapping[str, Preset]] = {
    "wdqs": Preset(
        path="/sparql",
        base=WIKIDATA,
        hosts=("query.wikidata.org", "query-main.wikidata.org"),
        search=_SEARCH,
        vectors=_VECTORS,
        max_grouped_triples=5_000,
        dialect=BLAZEGRAPH,
    ),
    "wdqs-scholarly": Preset(
        path="/sparql",
        base=WIKIDATA,
        hosts=("query-scholarly.wikidata.org",),
        search=_SEARCH,
        max_grouped_triples=5_000,
        dialect=BLAZEGRAPH,
    ),
    "qlever": Preset(
        path="/api/wikidata",
        base=WIKIDATA,
        hosts=("qlever.dev", "qlever.cs.uni-freiburg.de"),
        search=_SEARCH,
        vectors=_VECTORS,
        dialect=QLEVER,
    ),
    "custom": Preset(path="/sparql", base="", scans=True),
}


def preset_of(host: str) -> str:
    """The name of the preset for a host; `custom` where it is not a known one."""
    return next((name for name, preset in PRESETS.items() if host.lower() in preset.hosts), "custom")
