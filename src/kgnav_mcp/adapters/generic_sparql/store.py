"""The options of an endpoint, after its address as `#name=value&...` or in kgnav.toml, and the state of an open one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Blanks, Resolved
from kgnav_mcp.adapters.generic_sparql.reification import Reification, detect_notations
from kgnav_mcp.adapters.generic_sparql.several_graphs import repeats_triples
from kgnav_mcp.adapters.ids.rdf import RdfIds, iri
from kgnav_mcp.adapters.options import Options, read_prefixes
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.dialect import FullText
from kgnav_mcp.adapters.sparql_base.dialects import DIALECTS
from kgnav_mcp.adapters.sparql_base.names import in_languages
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.requests import Location, checked_contact
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.wellknown import (
    ALIAS_RELATIONS,
    DESCRIPTION_RELATIONS,
    NAME_RELATIONS,
    PREFIXES,
    RDF_TYPE,
    RDFS_SUBCLASS,
)
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import ConfigurationError, InvalidArgument
from kgnav_mcp.port import AdapterOptions

_PREFIX = "prefix."
_LISTS: Mapping[str, Sequence[str]] = {
    "labels": NAME_RELATIONS,
    "aliases": ALIAS_RELATIONS,
    "descriptions": DESCRIPTION_RELATIONS,
    "types": (RDF_TYPE,),
}
_FULL_TEXT = {"none": None} | {dialect.name: dialect.full_text for dialect in DIALECTS if dialect.full_text}
_KNOWN = ("graph", "prefixes", *_LISTS, "mediators", "full_text")


class Mediators(StrEnum):
    """Which nodes without a name are mediators: only blank nodes, or every node with outgoing triples."""

    BLANK = "blank"
    UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The configuration of a graph: where it is, and what its relations mean."""

    address: str
    host: str
    contact: str
    """The operator's e-mail address or page, sent to the host in the User-Agent; empty: none is sent."""
    graphs: tuple[str, ...]
    """Named graphs that are queried as one; empty: the endpoint's default graph."""
    ids: RdfIds
    names: tuple[URIRef, ...]
    """Relations that give names, the preferred first."""
    aliases: tuple[URIRef, ...]
    descriptions: tuple[URIRef, ...]
    types: tuple[URIRef, ...]
    stated: tuple[tuple[str, URIRef], ...]
    """The relations that the user configured, as (option, relation).

    Defaults of options that were not given are not in it.
    """
    mediators: Mediators
    full_text: FullText | None
    """The full-text index that contains the names; None: there is none."""
    subclasses: tuple[URIRef, ...] = (URIRef(RDFS_SUBCLASS),)
    """Relations from a class to the classes that it is part of."""

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Endpoint:
        """Read the configuration from a location and options. Options after the address override those of the table.

        Options: `graph` (IRI or list of them), `prefixes` (a table; after the address `prefix.NAME=IRI`), `labels`,
        `aliases`, `descriptions`, `types` (lists of relations), `mediators` and `full_text`.

        Raises:
            ConfigurationError: the location has no host, an option is unknown or of the wrong kind, or the host is
                Wikimedia's and there is no contact.
        """
        parsed = Location.read(location, "sparql+https://example.org/sparql")
        extra = {**options.extra, **_fragment_options(parsed.fragment)}
        without_prefixes = {key: value for key, value in extra.items() if not key.startswith(_PREFIX)}
        checked = Options("a SPARQL endpoint", without_prefixes, _KNOWN)
        ids = RdfIds(_prefixes(extra), PREFIXES)
        lists = {
            key: tuple(_relation(ids, text) for text in checked.texts(key) or usual) for key, usual in _LISTS.items()
        }
        return cls(
            address=parsed.address(),
            host=parsed.host,
            contact=checked_contact(parsed.host, options.contact),
            graphs=tuple(_iri(text) for text in checked.texts("graph") or parsed.graphs),
            ids=ids,
            names=lists["labels"],
            aliases=lists["aliases"],
            descriptions=lists["descriptions"],
            types=lists["types"],
            stated=tuple((key, relation) for key in _LISTS if checked.texts(key) for relation in lists[key]),
            mediators=checked.choice("mediators", {str(one): one for one in Mediators}),
            full_text=checked.choice("full_text", _FULL_TEXT),
        )


def _fragment_options(fragment: str) -> dict[str, object]:
    """Parse the options after an address. A name that occurs several times becomes a list."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(fragment, keep_blank_values=True):
        earlier = found.get(name)
        found[name] = value if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), value]
    return found


def _prefixes(extra: Mapping[str, object]) -> dict[str, str]:
    """The prefixes of the table and of the address."""
    in_address = {key.removeprefix(_PREFIX): value for key, value in extra.items() if key.startswith(_PREFIX)}
    found = read_prefixes({"prefixes": in_address})
    found |= {name: namespace for name, namespace in read_prefixes(extra).items() if name not in found}
    for namespace in found.values():
        _iri(namespace)
    return found


def _relation(ids: RdfIds, text: str) -> URIRef:
    relation = ids.iri(text)
    if relation is None:
        raise ConfigurationError(f"{text!r} is not the id of a relation", next_step="Write it as a full IRI.")
    return relation


def _iri(text: str) -> str:
    try:
        return str(iri(text))
    except InvalidArgument as error:
        raise ConfigurationError(error.message, next_step=error.next_step) from error


@dataclass(frozen=True, slots=True)
class Store:
    """An open endpoint. Its relations for names and types are the configured ones that the graph uses."""

    reader: Reader
    endpoint: Endpoint
    languages: tuple[str, ...]
    reification: Reification
    blanks: Blanks
    names: tuple[URIRef, ...]
    aliases: tuple[URIRef, ...]
    descriptions: tuple[URIRef, ...]
    types: tuple[URIRef, ...]
    absent: tuple[tuple[str, URIRef], ...]
    """The configured relations that no triple has, as (option, relation)."""
    mediator: str
    """The condition that ?m is a mediator."""
    spoken: Fragment
    """The condition that the text ?o is in a preferred language, or without one."""

    def __post_init__(self) -> None:
        """Make the relations of each role (`$name0`) and the conditions available to every query."""
        self.reader.add_known({"named": one_of(self.names), "typed": one_of(self.types), "spoken": self.spoken})
        roles = {"name": self.names, "alias": self.aliases, "description": self.descriptions, "type": self.types}
        for role, relations in roles.items():
            self.reader.add_known(dict(zip(placeholders(role, relations), relations, strict=True)))
        self.reader.add_known({"mediator": self.reader.part(self.mediator)})

    @classmethod
    async def opened(cls, client: Selects, endpoint: Endpoint, options: AdapterOptions) -> Store:
        """Open an endpoint: detect which configured relations the graph uses, and its notations for statements.

        Raises:
            StoreTimeout: the endpoint did not answer in time.
        """
        reader = Reader(client, {}, options.timeout)
        lists = (endpoint.names, endpoint.aliases, endpoint.descriptions, endpoint.types)
        used, repeats = await gathered(
            reader.used(relation for relations in lists for relation in relations),
            repeats_triples(reader, endpoint.graphs),
        )
        if repeats:
            reader.match_each_once()
        names, aliases, descriptions, types = (
            tuple(relation for relation in relations if relation in used) for relations in lists
        )
        return cls(
            reader=reader,
            endpoint=endpoint,
            languages=options.languages,
            reification=await detect_notations(reader),
            blanks=Blanks(reader),
            names=names or endpoint.names[:1],  # queries cannot do without names and types
            aliases=aliases,
            descriptions=descriptions,
            types=types or endpoint.types[:1],
            absent=tuple((option, relation) for option, relation in endpoint.stated if relation not in used),
            mediator=queries.MEDIATOR[endpoint.mediators],
            spoken=in_languages("?o", options.languages),
        )

    def written(self, anchor: Anchor) -> str:
        """The printed id of an entity."""
        ids = self.endpoint.ids
        return ids.written(anchor.path) if isinstance(anchor, Resolved) else ids.short(str(anchor))


def one_of(relations: Sequence[URIRef]) -> Fragment:
    """A property path over any of some relations."""
    return queries.alternatives(tuple(relation.n3() for relation in relations))


def placeholders(role: str, relations: Sequence[URIRef]) -> list[str]:
    """The placeholder names for the relations of a role: `name0`, `name1` and so on."""
    return [f"{role}{n}" for n in range(len(relations))]
