"""The ids and settings of a Wikidata graph, from its location and its options, and the state that all readers share.

`wd:Q42` and `wdt:P31` are printed; `Q42`, `P31`, other prefixes and full IRIs are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.options import Options
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.dialects import BLAZEGRAPH, QLEVER
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.requests import Location, checked_contact, is_wikimedia
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.queries import Form
from kgnav_mcp.errors import ConfigurationError, InvalidStore
from kgnav_mcp.port import AdapterOptions

_LOCAL = r"[QPL][1-9]\d{0,14}(?:-[FS][1-9]\d{0,5})?"
_SHORT = re.compile(rf"(?:(?:wd|wdt|p|ps|pq|psv|pqv|wdno):)?({_LOCAL})", re.IGNORECASE)
_TAIL = re.compile(_LOCAL)
_PROPERTY_ID = re.compile(r"P[1-9]\d{0,14}")
_FOLDERS = (
    "entity/",
    "wiki/",
    "wiki/Property:",
    "wiki/Item:",
    "wiki/Special:EntityData/",
    "prop/",
    "prop/direct/",
    "prop/statement/",
    "prop/qualifier/",
)
"""Paths under the base whose IRIs, and addresses of web pages, mean the entity at their end."""


@dataclass(frozen=True, slots=True)
class WikibaseIds:
    """Converts between short ids and full IRIs under one concept base."""

    base: str

    @property
    def entities(self) -> str:
        """The namespace of entities."""
        return f"{self.base}/entity/"

    def local(self, reference: str) -> str | None:
        """The bare id (`Q42`) that a text means in any accepted form; None if it is not an id."""
        text = reference.strip()
        if match := _SHORT.fullmatch(text):
            return match[1].upper()
        bare = text.removeprefix("<").removesuffix(">").partition("://")[2]
        place = self.base.partition("://")[2] + "/"
        if not bare.startswith(place):
            return None
        rest = bare.removeprefix(place)
        for folder in _FOLDERS:
            if rest.startswith(folder) and _TAIL.fullmatch(local := rest.removeprefix(folder)):
                return local
        return None

    def entity(self, reference: str) -> URIRef | None:
        """The IRI of the entity that a text means; None if it is not an id."""
        local = self.local(reference)
        return None if local is None else URIRef(self.entities + local)

    def property(self, reference: str) -> str | None:
        """The bare id of the property that a text means; None if it is not one."""
        local = self.local(reference)
        return local if local is not None and _PROPERTY_ID.fullmatch(local) else None

    def is_entity(self, iri: str) -> bool:
        """Whether an IRI is that of an entity."""
        return iri.startswith(self.entities) and _TAIL.fullmatch(iri.removeprefix(self.entities)) is not None

    def shown(self, iri: str) -> str:
        """An entity's id as it is printed."""
        return f"wd:{iri.removeprefix(self.entities)}"

    def property_of(self, iri: str) -> str | None:
        """The bare id of the property of a predicate, in any of its namespaces; None if it has none."""
        tail = iri.rpartition("/")[2]
        return tail if _PROPERTY_ID.fullmatch(tail) and iri.startswith(f"{self.base}/prop/") else None

    @staticmethod
    def relation(local: str) -> str:
        """A property's id as it is printed."""
        return f"wdt:{local}"

    def direct(self, local: str) -> URIRef:
        """The predicate from an entity to the values of its best-ranked statements (`wdt:`)."""
        return URIRef(f"{self.base}/prop/direct/{local}")

    def claim(self, local: str) -> URIRef:
        """The predicate from an entity to its statements (`p:`)."""
        return URIRef(f"{self.base}/prop/{local}")

    def value(self, local: str) -> URIRef:
        """The predicate from a statement to its value (`ps:`)."""
        return URIRef(f"{self.base}/prop/statement/{local}")

    def full_value(self, local: str) -> URIRef:
        """The predicate from a statement to the node with its full value (`psv:`)."""
        return URIRef(f"{self.base}/prop/statement/value/{local}")

    def qualifier(self, local: str) -> URIRef:
        """The predicate from a statement to the value of a qualifier (`pq:`)."""
        return URIRef(f"{self.base}/prop/qualifier/{local}")

    def full_qualifier(self, local: str) -> URIRef:
        """The predicate from a statement to the node with a qualifier's full value (`pqv:`)."""
        return URIRef(f"{self.base}/prop/qualifier/value/{local}")

    def is_unknown(self, iri: str) -> bool:
        """Whether an IRI stands for an unknown value ("somevalue")."""
        return "/.well-known/genid/" in iri


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
    """Address of a search by meaning. It is used only with the option `vector_search`."""
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
    """Whether it is a known public endpoint, which is known to have statements, so that nothing must be detected."""
    search: str
    vectors: str
    vector_search: bool
    scans: bool
    """Whether all labels may be scanned to find a name in another spelling."""
    counted: int | None
    """Number of incoming triples up to which an entity's relations are counted by grouping; None: always."""
    dialect: Dialect
    """The dialect of the store as far as the preset knows it."""
    every_rank: bool
    """Whether statements of lower ranks are shown too, not only the best ones."""
    external_ids: bool
    """Whether identifiers of other databases are shown without being requested."""
    values_only: bool
    """Whether only values are read, even where there are statements."""
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


_MAX_TRIPLES: Final = 100_000
"""Triples that are searched for a value, if nothing else shows that there is a Wikibase."""


async def detect_wikibase(reader: Reader, wikidata: Wikidata) -> tuple[WikibaseIds, Form]:
    """Detect the endpoint's ids (its concept base), and the form of its rows: statements, or values of a truthy dump.

    The base is read from definitions of properties if there are any, otherwise from predicates in use.

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
                "this endpoint has no Wikibase data: no statement (wikibase:BestRank), no property "
                "(wikibase:directClaim), no value (prop/direct/)",
                next_step="Correct the graph's address, or choose the graph with the option graph.",
            )
    iris = [*(row["direct"] for row in defined), *(row["p"] for row in (*claims, *direct))]
    found = next((base for base, folder, _ in (str(iri).partition("/prop/") for iri in iris) if folder), WIKIDATA)
    bare = wikidata.values_only or direct or (defined and not claims)
    return WikibaseIds(wikidata.base or found), queries.TRUTHY if bare else queries.FULL


class Store:
    """An open endpoint with its settings. Its `reader` fills in the terms and fragments that all queries share."""

    def __init__(
        self, client: Selects, wikidata: Wikidata, ids: WikibaseIds, form: Form, options: AdapterOptions
    ) -> None:
        self.wikidata = wikidata
        self.ids = ids
        self.form = form
        self.languages = options.languages
        known = {
            "best": queries.RANKED if wikidata.every_rank else queries.BEST,
            "value": Literal(f"{ids.base}{form.folder}P"),
            "qualifier": Literal(f"{ids.base}/prop/qualifier/P"),
            "entities": Literal(ids.entities),
            "statements": Literal(f"{ids.entities}statement/"),
            "instance": ids.direct(wikidata.instance_of),
            "typed": ids.direct(wikidata.instance_of),
        }
        self.reader = Reader(client, known, options.timeout, prologue=queries.PREFIXES)
        fragments = {
            "every": form.every,
            "leaving": form.leaving,
            "leaving_to": form.leaving_to,
            "arriving": form.arriving,
        }
        self.reader.add_known({name: self.reader.part(fragment) for name, fragment in fragments.items()})

    def value(self, local: str) -> URIRef:
        """The predicate that leads to the values of a property in this form of a copy."""
        return URIRef(f"{self.ids.base}{self.form.folder}{local}")

    def rows(self, fragment: str, local: str, **terms: URIRef) -> Fragment:
        """A fragment of the form, filled in for one property."""
        predicates = {"claim": self.ids.claim(local), "p": self.ids.value(local), "direct": self.ids.direct(local)}
        return self.reader.part(fragment, **terms, **{n: iri for n, iri in predicates.items() if f"${n} " in fragment})
