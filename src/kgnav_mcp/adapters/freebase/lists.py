"""Lists of nodes by type and value, and of the distinct values of properties or of the roles of mediators."""

from __future__ import annotations

from dataclasses import replace

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.store import SAMPLE
from kgnav_mcp.adapters.generic_sparql import lists
from kgnav_mcp.adapters.sparql_base import lists as sparql_base
from kgnav_mcp.adapters.sparql_base.lists import EDGES, BlankNodes
from kgnav_mcp.adapters.sparql_base.terms import Fragment, values
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Page, ValueFacts


class ListReader(lists.ListReader):
    """Answers the verbs `nodes` and `values`."""

    templates = replace(lists.TEMPLATES, every=queries.EVERY)
    max_compared = 1_000_000
    _most_named = 500

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

    async def _blank_nodes(self, conditions: Fragment, skip: int, most: int) -> BlankNodes:
        return await sparql_base.ListReader._blank_nodes(self, conditions, skip, most)  # they have no ids in Freebase


def _no_edge_properties(what: str) -> Unsupported:
    return Unsupported(
        f"in Freebase {what} have no properties of their own",
        next_step="Use a relation that leads to mediators (get_relations shows them), or a property of nodes.",
    )
