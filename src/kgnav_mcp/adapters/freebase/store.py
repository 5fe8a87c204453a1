"""What all readers of a Freebase graph share. Its relations are known, so nothing has to be detected."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdflib import Literal

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.generic_sparql import store
from kgnav_mcp.adapters.generic_sparql.blanks import Blanks
from kgnav_mcp.adapters.generic_sparql.reification import Reification
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.terms import comma_separated
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.port import AdapterOptions

SAMPLE = 1_000
"""Number of rows of a relation that are sampled for mediators."""


@dataclass(frozen=True, slots=True)
class Store(store.Store):
    """A Freebase graph in Virtuoso. It has no statements about triples."""

    endpoint: Freebase

    @classmethod
    def of(cls, client: Selects, freebase: Freebase, options: AdapterOptions) -> Store:
        """A graph whose relations are not checked."""
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
        """A graph whose options are checked: `absent` are the relations that they name and no triple has."""
        unchecked = cls.of(client, freebase, options)
        used = await unchecked.reader.used(relation for _, relation in freebase.stated)
        return replace(unchecked, absent=tuple(pair for pair in freebase.stated if pair[1] not in used))
