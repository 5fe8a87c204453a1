"""What differs between the endpoints that serve Wikidata, and other Wikibases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

WIKIDATA: Final = "http://www.wikidata.org"
SUBCLASS: Final = "P279"
"""Wikidata's property from a class to the classes above it."""
_SEARCH: Final = "https://www.wikidata.org/w/api.php"
_VECTORS: Final = "https://wd-vectordb.wmcloud.org/item/query/"


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings of one kind of endpoint; an option of the graph overrides each of them."""

    path: str
    """The path of its endpoint, where the location names none."""
    base: str
    """What the IRIs of its entities and predicates begin with; empty: asked from the endpoint."""
    hosts: tuple[str, ...] = ()
    """Hosts that this preset is taken for where none is named."""
    search: str = ""
    """Address of the Wikibase API that finds entities by name; empty: labels are searched in SPARQL."""
    vectors: str = ""
    """Address of a search by meaning, which is used where the option `vector_search` asks for it."""
    scans: bool = False
    """Whether all labels may be read to find one that is written in another way."""
    counted: int | None = None
    """Triples up to which what points at an entity is counted by grouping; None: however many there are."""


PRESETS: Final[Mapping[str, Preset]] = {
    "wdqs": Preset(
        path="/sparql",
        base=WIKIDATA,
        hosts=("query.wikidata.org", "query-main.wikidata.org"),
        search=_SEARCH,
        vectors=_VECTORS,
        counted=5_000,
    ),
    "wdqs-scholarly": Preset(
        path="/sparql",
        base=WIKIDATA,
        hosts=("query-scholarly.wikidata.org",),
        search=_SEARCH,
        counted=5_000,
    ),
    "qlever": Preset(
        path="/api/wikidata",
        base=WIKIDATA,
        hosts=("qlever.dev", "qlever.cs.uni-freiburg.de"),
        search=_SEARCH,
        vectors=_VECTORS,
    ),
    "custom": Preset(path="/sparql", base="", scans=True),
}


def preset_of(host: str) -> str:
    """The name of the preset for a host; `custom` where it is not a known one."""
    return next((name for name, preset in PRESETS.items() if host.lower() in preset.hosts), "custom")
