"""What a location and the options of its graph say: which endpoint, of which kind, for whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

from kgnav_mcp.adapters.options import refuse_unknown
from kgnav_mcp.adapters.sparql.contact import checked_contact, is_wikimedia
from kgnav_mcp.adapters.wikidata.presets import PRESETS, preset_of
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions

_GRAPH = "default-graph-uri"
_KNOWN = (
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
_PROPERTY = re.compile(r"P\d+")


@dataclass(frozen=True, slots=True)
class Wikidata:
    """A Wikibase: where it is, how it is asked, and what of it is shown."""

    endpoint: str
    host: str
    graph: str | None
    contact: str
    """Who runs this program: an e-mail address or a web page; empty where nobody is named."""
    base: str
    """The concept base; empty: asked from the endpoint."""
    known: bool
    """Whether it is a public endpoint, of which it need not be asked whether it has statements."""
    search: str
    vectors: str
    vector_search: bool
    scans: bool
    """Whether all labels may be read to find one that is written in another way."""
    counted: int | None
    every_rank: bool
    """Whether statements of lower ranks are shown beside the best ones."""
    external_ids: bool
    """Whether identifiers of other databases are shown without being asked for."""
    instance_of: str
    cache: Path | None
    """Folder of the property catalogue; None: it is kept nowhere."""
    cache_hours: float

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Wikidata:
        """The endpoint that a location and its options name.

        Options: `preset` (wdqs, wdqs-scholarly, qlever, custom; else told by the host), `contact` (over the setting of
        that name), `base` (concept base), `graph` (IRI of a named graph), `search` (address of the Wikibase API, ""
        for none), `vectors` and `vector_search` (search by meaning), `counted`, `statements` (truthy or all),
        `external_ids` (shown unasked), `instance_of` (P31), `cache` (a folder, "" for none), `cache_hours`.

        Raises:
            ConfigurationError: the location has no host, an option is unknown or of the wrong kind, or Wikimedia
                would be asked in nobody's name.
        """
        extra = _Options(dict(options.extra))
        parts = urlsplit(location)
        host = parts.hostname
        if not host:
            raise ConfigurationError(
                f"{location!r} names no host", next_step="Write it as wikidata+https://query.wikidata.org/sparql."
            )
        name = extra.choice("preset", preset_of(host), tuple(PRESETS))
        preset = PRESETS[name]
        path = parts.path if parts.path.strip("/") else preset.path
        contact = checked_contact(host, extra.text("contact", options.contact))
        search = extra.text("search", preset.search)
        vectors = extra.text("vectors", preset.vectors)
        return cls(
            endpoint=urlunsplit((parts.scheme.rpartition("+")[2], parts.netloc, path, "", "")),
            host=host,
            graph=extra.text("graph", "") or next(iter(parse_qs(parts.query).get(_GRAPH, ())), None),
            contact=contact,
            base=extra.text("base", preset.base).rstrip("/"),
            known=bool(preset.base),
            search="" if _unnamed(search, contact) else search,
            vectors="" if _unnamed(vectors, contact) else vectors,
            vector_search=extra.truth("vector_search", default=False),
            scans=preset.scans,
            counted=extra.number("counted", preset.counted),
            every_rank=extra.choice("statements", "truthy", ("truthy", "all")) == "all",
            external_ids=extra.truth("external_ids", default=False),
            instance_of=extra.matching("instance_of", "P31", _PROPERTY),
            cache=_folder(extra.text("cache", str(options.cache or ""))),
            cache_hours=float(extra.number("cache_hours", 24) or 0),
        )


def _folder(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _unnamed(address: str, contact: str) -> bool:
    """Whether an address is Wikimedia's and there is nobody to name to it."""
    return bool(address) and not contact and is_wikimedia(urlsplit(address).hostname or "")


class _Options:
    """The options of a graph's table, each read as what it must be."""

    def __init__(self, given: dict[str, object]) -> None:
        refuse_unknown("a Wikidata graph", given, _KNOWN)
        self._given = given

    def text(self, key: str, default: str) -> str:
        value = self._given.get(key, default)
        if not isinstance(value, str):
            raise ConfigurationError(f"the option {key!r} is a text", next_step=f'Write it as {key} = "...".')
        return value

    def truth(self, key: str, *, default: bool) -> bool:
        value = self._given.get(key, default)
        if not isinstance(value, bool):
            raise ConfigurationError(f"the option {key!r} is true or false", next_step=f"Write it as {key} = true.")
        return value

    def number(self, key: str, default: int | None) -> int | None:
        value = self._given.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ConfigurationError(f"the option {key!r} is a whole number", next_step=f"Write it as {key} = 24.")
        return value

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise ConfigurationError(
                f"the option {key!r} cannot be {value!r}", next_step=f"Use one of: {', '.join(choices)}."
            )
        return value

    def matching(self, key: str, default: str, form: re.Pattern[str]) -> str:
        value = self.text(key, default)
        if form.fullmatch(value) is None:
            raise ConfigurationError(f"the option {key!r} cannot be {value!r}", next_step=f'Write {key} = "{default}".')
        return value
