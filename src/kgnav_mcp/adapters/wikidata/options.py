"""Settings of a Wikidata graph, read from its location and its options."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from kgnav_mcp.adapters.options import Options
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.location import Location
from kgnav_mcp.adapters.sparql_base.user_agent import checked_contact, is_wikimedia
from kgnav_mcp.adapters.wikidata.presets import PRESETS, Preset, preset_of
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions

_OPTIONS = (
    "preset",
    "contact",
    "base",
    "graph",
    "search",
    "vectors",
    "vector_search",
    "counted",
    "statements",
    "external_ids",
    "instance_of",
    "cache",
    "cache_hours",
)
INSTANCE_OF = "P31"
_PROPERTY = re.compile(r"P\d+")


@dataclass(frozen=True, slots=True)
class Wikidata:
    """Settings of a Wikibase: its endpoint, how it is queried, and what is shown."""

    endpoint: str
    host: str
    graph: str | None
    contact: str
    """The operator of this program, for the User-Agent: an e-mail address or a web page; empty if not configured."""
    base: str
    """The concept base; empty: read from the endpoint."""
    known: bool
    """Whether it is a known public endpoint, which certainly has statements, so that nothing has to be detected."""
    search: str
    vectors: str
    vector_search: bool
    scans: bool
    """Whether all labels may be scanned to find a name in another spelling."""
    counted: int | None
    """Incoming triples up to which an entity's relations are counted by grouping; None: always."""
    dialect: Dialect
    """The dialect of the store as far as the preset knows it."""
    every_rank: bool
    """Whether statements of lower ranks are shown too, not only the best ones."""
    external_ids: bool
    """Whether identifiers of other databases are shown without being asked for."""
    values_only: bool
    """Whether bare values are read also where there are statements."""
    instance_of: str
    cache: Path | None
    """Folder in which the property catalogue is cached; None: it is not cached."""
    cache_hours: float

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Wikidata:
        """Read the settings from a location and its options.

        Options: `preset` (wdqs, wdqs-scholarly, qlever, custom; by default chosen by the host), `contact` (overrides
        the setting of that name), `base` (concept base), `graph` (IRI of a named graph), `search` (address of the
        Wikibase API, "" for none), `vectors` and `vector_search` (search by meaning), `counted`, `statements` (truthy
        or all), `external_ids` (shown unasked), `instance_of` (P31), `cache` (a folder, "" for none), `cache_hours`.

        Raises:
            ConfigurationError: the location has no host, an option is unknown or of the wrong type, or the endpoint is
                one of Wikimedia's and there is no contact.
        """
        extra = Options("a Wikidata graph", options.extra, _OPTIONS)
        place = Location.read(location, "wikidata+https://query.wikidata.org/sparql")
        preset = extra.choice("preset", PRESETS, preset_of(place.host))
        contact = checked_contact(place.host, extra.text("contact", options.contact))
        search = extra.text("search", preset.search)
        vectors = extra.text("vectors", preset.vectors)
        return cls(
            endpoint=_endpoint(place, preset),
            host=place.host,
            graph=extra.text("graph") or next(iter(place.graphs), None),
            contact=contact,
            base=extra.text("base", preset.base).rstrip("/"),
            known=bool(preset.base),
            search="" if _lacks_contact(search, contact) else search,
            vectors="" if _lacks_contact(vectors, contact) else vectors,
            vector_search=extra.boolean("vector_search", default=False),
            scans=preset.scans,
            counted=extra.number("counted", preset.max_grouped_triples),
            dialect=preset.dialect,
            every_rank=extra.choice("statements", {"truthy": False, "all": True}),
            external_ids=extra.boolean("external_ids", default=False) or options.raw_triples,
            values_only=options.raw_triples,
            instance_of=_property(extra.text("instance_of", INSTANCE_OF)),
            cache=_folder(extra.text("cache", str(options.cache or ""))),
            cache_hours=float(extra.number("cache_hours", 24) or 0),
        )


def _folder(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _lacks_contact(address: str, contact: str) -> bool:
    """Whether an address is one of Wikimedia's, which require a contact, and none is configured."""
    return bool(address) and not contact and is_wikimedia(urlsplit(address).hostname or "")


def _property(text: str) -> str:
    if _PROPERTY.fullmatch(text) is None:
        raise ConfigurationError(f"the option 'instance_of' cannot be {text!r}", next_step='Write instance_of = "P31".')
    return text


def _endpoint(place: Location, preset: Preset) -> str:
    """The address for queries. At the root of a known public host is a web page, and its endpoint is elsewhere."""
    at_root = bool(preset.hosts) and place.path == "/"
    return (replace(place, path="") if at_root else place).address(preset.path)
