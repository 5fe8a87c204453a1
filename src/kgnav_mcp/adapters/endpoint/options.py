"""What can be set for an endpoint: behind its address as `#name=value&...`, and in its table in kgnav.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from rdflib import URIRef

from kgnav_mcp.adapters.endpoint.ids import Ids
from kgnav_mcp.adapters.options import read_prefixes, refuse_unknown
from kgnav_mcp.adapters.sparql.contact import checked_contact
from kgnav_mcp.adapters.sparql.terms import iri
from kgnav_mcp.adapters.wellknown import ALIAS_RELATIONS, DESCRIPTION_RELATIONS, NAME_RELATIONS, PREFIXES, RDF_TYPE
from kgnav_mcp.errors import ConfigurationError, InvalidArgument
from kgnav_mcp.port import AdapterOptions

S = TypeVar("S", bound=StrEnum)

GRAPH = "default-graph-uri"
_PREFIX = "prefix."
_LISTS: Mapping[str, Sequence[str]] = {
    "labels": NAME_RELATIONS,
    "aliases": ALIAS_RELATIONS,
    "descriptions": DESCRIPTION_RELATIONS,
    "types": (RDF_TYPE,),
}
_KNOWN = ("graph", "prefixes", *_LISTS, "mediators", "full_text")


class Mediators(StrEnum):
    """Which nodes without a name only tie others together: blank nodes, or every node that leads on."""

    BLANK = "blank"
    UNNAMED = "unnamed"


class FullText(StrEnum):
    """The full-text index of an endpoint: none that is known of, or Virtuoso's."""

    NONE = "none"
    VIRTUOSO = "virtuoso"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A graph at an endpoint: where it is, and what its relations mean."""

    address: str
    host: str
    contact: str
    """Who runs this program, as the host is told; empty: nobody is named."""
    graphs: tuple[str, ...]
    """Named graphs that are walked as one; none: the endpoint's default graph."""
    ids: Ids
    names: tuple[URIRef, ...]
    """Relations that give names, the best first."""
    aliases: tuple[URIRef, ...]
    descriptions: tuple[URIRef, ...]
    types: tuple[URIRef, ...]
    mediators: Mediators
    full_text: FullText

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Endpoint:
        """The graph that a location and its options name; an option behind the address wins over the table's.

        Options: `graph` (IRI or list of them), `prefixes` (a table; behind the address `prefix.NAME=IRI`), `labels`,
        `aliases`, `descriptions`, `types` (lists of relations), `mediators` and `full_text`.

        Raises:
            ConfigurationError: the location has no host, an option is unknown or of the wrong kind, or Wikimedia
                would be asked in nobody's name.
        """
        parts = urlsplit(location)
        host = parts.hostname
        if not host:
            raise ConfigurationError(
                "the graph's address names no host", next_step="Write it as sparql+https://example.org/sparql."
            )
        extra = {**options.extra, **_behind(parts.fragment)}
        refuse_unknown("a SPARQL endpoint", (key for key in extra if not key.startswith(_PREFIX)), _KNOWN)
        given = parse_qsl(parts.query, keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in given if name != GRAPH])
        ids = Ids(PREFIXES | _prefixes(extra))
        lists = {
            key: tuple(_relation(ids, text) for text in _texts(extra, key) or usual) for key, usual in _LISTS.items()
        }
        return cls(
            address=urlunsplit((parts.scheme.rpartition("+")[2], parts.netloc, parts.path or "/sparql", rest, "")),
            host=host,
            contact=checked_contact(host, options.contact),
            graphs=tuple(_iri(text) for text in _texts(extra, "graph") or [v for name, v in given if name == GRAPH]),
            ids=ids,
            names=lists["labels"],
            aliases=lists["aliases"],
            descriptions=lists["descriptions"],
            types=lists["types"],
            mediators=_choice(extra, "mediators", Mediators),
            full_text=_choice(extra, "full_text", FullText),
        )


def _behind(fragment: str) -> dict[str, object]:
    """The options behind an address, where a name that comes twice is a list."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(fragment, keep_blank_values=True):
        earlier = found.get(name)
        found[name] = value if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), value]
    return found


def _prefixes(extra: Mapping[str, object]) -> dict[str, str]:
    """The table of prefixes, and those behind the address."""
    behind = {key.removeprefix(_PREFIX): value for key, value in extra.items() if key.startswith(_PREFIX)}
    found = read_prefixes(extra) | read_prefixes({"prefixes": behind})
    for namespace in found.values():
        _iri(namespace)
    return found


def _texts(extra: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = extra.get(key, ())
    found = value.split(",") if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in cast("list[object]", found)):
        raise ConfigurationError(f"the option {key!r} is a list of texts", next_step=f'Write it as {key} = ["..."].')
    return tuple(text.strip() for text in cast("list[str]", found))


def _choice(extra: Mapping[str, object], key: str, kind: type[S]) -> S:
    value = extra.get(key, next(iter(kind)))
    try:
        return kind(cast("str", value))
    except ValueError as error:
        choices = " or ".join(repr(str(one)) for one in kind)
        raise ConfigurationError(
            f"the option {key!r} is {choices}, not {value!r}", next_step=f'Write it as {key} = "{next(iter(kind))}".'
        ) from error


def _relation(ids: Ids, text: str) -> URIRef:
    meant = ids.iri(text)
    if meant is None:
        raise ConfigurationError(f"{text!r} is the id of no relation", next_step="Write it as a full IRI.")
    return meant


def _iri(text: str) -> str:
    try:
        return str(iri(text))
    except InvalidArgument as error:
        raise ConfigurationError(error.message, next_step=error.next_step) from error
