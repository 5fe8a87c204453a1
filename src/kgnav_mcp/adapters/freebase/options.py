"""The options of a Freebase graph: in its location, or in its table in kgnav.toml."""

from __future__ import annotations

from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql.options import Endpoint, Mediators
from kgnav_mcp.adapters.ids.freebase import FreebaseIds
from kgnav_mcp.adapters.ids.rdf import iri
from kgnav_mcp.adapters.options import Options
from kgnav_mcp.adapters.sparql_base.location import Location
from kgnav_mcp.adapters.sparql_base.virtuoso import FULL_TEXT
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
