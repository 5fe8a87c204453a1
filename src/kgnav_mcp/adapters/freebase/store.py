"""The settings of a Freebase graph, from its location and its table in kgnav.toml, and the state its readers share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.generic_sparql import store
from kgnav_mcp.adapters.generic_sparql.blanks import Blanks
from kgnav_mcp.adapters.generic_sparql.reification import Reification
from kgnav_mcp.adapters.generic_sparql.store import Endpoint, Mediators
from kgnav_mcp.adapters.ids.rdf import FreebaseIds, iri
from kgnav_mcp.adapters.options import Options
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.requests import Location
from kgnav_mcp.adapters.sparql_base.terms import comma_separated
from kgnav_mcp.adapters.sparql_base.virtuoso import FULL_TEXT, VIRTUOSO
from kgnav_mcp.adapters.wellknown import FREEBASE
from kgnav_mcp.errors import ConfigurationError, InvalidArgument
from kgnav_mcp.port import AdapterOptions

_RELATIONS = {
    "name": "type.object.name",
    "alias": "common.topic.alias",
    "description": "common.topic.description",
    "type": "type.object.type",
}
_KNOWN = ("graph", "namespace", "namespaces", *_RELATIONS)


@dataclass(frozen=True, slots=True)
class Freebase(Endpoint):
    """The configuration of a Freebase graph. Names, aliases, descriptions and types have one relation each."""

    ids: FreebaseIds
    shown: tuple[str, ...] = ("",)
    """Prefixes of the IRIs of relations that are shown. An empty prefix shows all."""

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Freebase:
        """Read the configuration from a location and options.

        Options: `graph` (IRI of the graph), `namespace` (of the short ids), `namespaces` (others whose relations are
        shown as well; `*` is all), and the ids of the relations `name`, `alias`, `description`, `type`.

        Raises:
            ConfigurationError: the location has no host, or an option is unknown or of the wrong kind.
        """
        checked = Options("a Freebase graph", options.extra, _KNOWN)
        parsed = Location.read(location, "freebase+http://127.0.0.1:8890/sparql")
        namespace = checked.text("namespace") or FREEBASE
        graph = checked.text("graph") or next(iter(parsed.graphs), None)
        ids = FreebaseIds(namespace)
        others = checked.texts("namespaces")
        relations = {key: _relation(ids, checked.text(key) or usual) for key, usual in _RELATIONS.items()}
        return cls(
            address=parsed.address(),
            host=parsed.host,
            contact="",
            graphs=() if graph is None else (graph,),
            ids=ids,
            names=(relations["name"],),
            aliases=(relations["alias"],),
            descriptions=(relations["description"],),
            types=(relations["type"],),
            stated=tuple((key, relation) for key, relation in relations.items() if checked.text(key)),
            mediators=Mediators.UNNAMED,
            full_text=FULL_TEXT,
            subclasses=(),
            shown=("",) if "*" in others else (namespace, *others),
        )

    def shows(self, relation: str) -> bool:
        """Whether the relation with this IRI is in a namespace that is shown."""
        return str(relation).startswith(self.shown)  # URIRef.startswith takes no tuple


def _relation(ids: FreebaseIds, text: str) -> URIRef:
    try:
        return ids.iri(text) or iri(text)
    except InvalidArgument as error:
        raise ConfigurationError(f"{text!r} is not the id of a relation", next_step=error.next_step) from error


SAMPLE = 1_000
"""Number of rows of a relation that are sampled for mediators."""


@dataclass(frozen=True, slots=True)
class Store(store.Store):
    """A Freebase graph in Virtuoso. It has no statements about triples."""

    endpoint: Freebase

    @classmethod
    def of(cls, client: Selects, freebase: Freebase, options: AdapterOptions) -> Store:
        """Create the store without checking whether the graph has the configured relations."""
        namespace = freebase.ids.namespace
        known = {
            "length": len(namespace) + len("m."),
            "topics": Literal(f"{namespace}m."),
            "guids": Literal(f"{namespace}g."),
            "languages": comma_separated(*(Literal(language.lower()) for language in (*options.languages, ""))),
        }
        reader = Reader(client, known, options.timeout, dialect=VIRTUOSO)
        return cls(
            reader=reader,
            endpoint=freebase,
            languages=options.languages,
            reification=Reification(reader, frozenset(), frozenset()),
            blanks=Blanks(reader),
            names=freebase.names,
            aliases=freebase.aliases,
            descriptions=freebase.descriptions,
            types=freebase.types,
            absent=(),
            mediator=queries.MEDIATOR,
            spoken=reader.part(queries.SPOKEN),
        )

    @classmethod
    async def checked(cls, client: Selects, freebase: Freebase, options: AdapterOptions) -> Store:
        """Create the store after checking its options. `absent` are the configured relations that no triple has."""
        unchecked = cls.of(client, freebase, options)
        used = await unchecked.reader.used(relation for _, relation in freebase.stated)
        return replace(unchecked, absent=tuple(pair for pair in freebase.stated if pair[1] not in used))
