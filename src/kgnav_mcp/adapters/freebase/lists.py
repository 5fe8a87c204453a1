"""Lists of nodes by type and value, and of the distinct values of properties or of the roles of mediators."""

from __future__ import annotations

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import CatalogueCache
from kgnav_mcp.adapters.freebase.store import SAMPLE, Store
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import EDGES
from kgnav_mcp.adapters.sparql_base.property_lists import PropertyLists, PropertyTemplates
from kgnav_mcp.adapters.sparql_base.terms import values
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Page, ValueFacts

_TEMPLATES = PropertyTemplates(
    values=queries.VALUES,
    counted_values=queries.COUNTED_VALUES,
    value_count=queries.VALUE_COUNT,
    value="o",
    with_types=queries.WITH_TYPE,
    listed=values,
    every=queries.EVERY,
    with_any=queries.WITH_PROPERTY,
    with_text=queries.WITH_TEXT,
    with_term=queries.WITH_TERM,
    node_values=queries.WITH_PROPERTY,
    having=lambda relations: values(*relations),
    most_compared=1_000_000,
)


class ListReader(PropertyLists):
    """Answers the verbs `nodes` and `values`."""

    def __init__(self, store: Store, linker: EntityFinder, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, _TEMPLATES, linker, catalogues.get, store.languages)

    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """The distinct values of a role of the mediators that a relation leads to.

        Edges have no properties of their own; the roles of a mediator take the place of qualifiers.

        Raises:
            Unsupported: no relation is named, or it does not lead to mediators.
        """
        if owner is None:
            raise _no_edge_properties("edges")
        for relation in await self._properties(owner):
            read = await self._reader.select(queries.HAS_MEDIATORS, owner=relation, sample=SAMPLE)
            if read.all_rows():
                having = values(*await self._properties(property_name))
                conditions = self._reader.part(queries.ROLES, owner=relation, having=having)
                return await self._values(conditions, self._literals, limit, after, counted=EDGES)
        raise _no_edge_properties(f"the edges of {echoed(owner)}")


def _no_edge_properties(what: str) -> Unsupported:
    return Unsupported(
        f"in Freebase {what} have no properties of their own",
        next_step="Use a relation that leads to mediators (get_relations shows them), or a property of nodes.",
    )
