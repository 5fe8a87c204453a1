"""What all readers of an open endpoint share: the connection, the options, and what was detected on opening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Blanks, Resolved
from kgnav_mcp.adapters.generic_sparql.options import Endpoint
from kgnav_mcp.adapters.generic_sparql.reification import Reification, detect_notations
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.names import in_languages
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.port import AdapterOptions


@dataclass(frozen=True, slots=True)
class Store:
    """An open endpoint. Of the configured relations for names and types, it has those that the graph uses."""

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
    """The relations that options name and no triple has, each with its option."""
    mediator: str
    """The condition that ?m is a mediator."""
    spoken: Fragment
    """The condition that the text ?o is in a preferred language, or without one."""

    def __post_init__(self) -> None:
        """Let every query name the relations by their roles (`$name0`), and the conditions."""
        self.reader.add_known({"named": one_of(self.names), "typed": one_of(self.types), "spoken": self.spoken})
        roles = {"name": self.names, "alias": self.aliases, "description": self.descriptions, "type": self.types}
        for role, relations in roles.items():
            self.reader.add_known(dict(zip(placeholders(role, relations), relations, strict=True)))
        self.reader.add_known({"mediator": self.reader.part(self.mediator)})

    @classmethod
    async def opened(cls, client: Selects, endpoint: Endpoint, options: AdapterOptions) -> Store:
        """Detect which of the configured relations the graph uses, and which notations for statements about triples.

        Raises:
            StoreTimeout: the endpoint did not say in time which relations it uses.
        """
        reader = Reader(client, {}, options.timeout)
        lists = (endpoint.names, endpoint.aliases, endpoint.descriptions, endpoint.types)
        used = await reader.used(relation for relations in lists for relation in relations)
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
