"""Lists of nodes and values for graphs with a catalogue, which knows if a relation leads to entities or to values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rdflib import Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql_base.catalogue import Catalogue, Use
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import ListReader, Templates, Types
from kgnav_mcp.adapters.sparql_base.paging import Condition
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, is_at_most
from kgnav_mcp.adapters.sparql_base.terms import Fragment, sendable, values
from kgnav_mcp.adapters.sparql_base.value_conditions import equals, lookup_note, usual_terms
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Page, ValueFacts

_UNCOUNTED = Use(Count.unknown(), Count.unknown())


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyTemplates(Templates):
    """The query templates for conditions on the relations $having."""

    with_any: str
    with_text: str
    """Nodes with a value that meets the condition $equal; compares all values."""
    with_term: str
    """Nodes with one of the far ends $terms."""
    node_values: str
    having: Callable[[Sequence[URIRef]], Fragment]
    """Formats relations for $having."""
    most_compared: int
    """Maximum number of values to compare. Beyond it, literals that the text may stand for are looked up."""


class PropertyLists(ListReader):
    """Answers the verbs `nodes` and `values` with the help of the catalogue."""

    def __init__(
        self,
        reader: Reader,
        templates: PropertyTemplates,
        linker: EntityFinder,
        catalogue: Callable[[], Awaitable[Catalogue]],
        languages: Sequence[str],
    ) -> None:
        super().__init__(reader, templates, linker)
        self._property_templates = templates
        self._catalogue = catalogue
        self._languages = languages

    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        having = self._property_templates.having(await self._properties(property_name))
        condition = self._reader.filled(self._property_templates.node_values, having=having)
        if owner is not None:
            condition += " " + self._with_types((await self.types(owner)).iris)
        conditions = self._conditions(None, condition)
        return await self._values(conditions, self._literals, limit, after)

    async def _literals(self, rows: Sequence[Row]) -> list[model.Literal]:
        literal = self._linker.names.literal
        return await in_thread(
            len(rows), lambda: [literal(term) for row in rows for term in row.values() if isinstance(term, Literal)]
        )

    async def types(self, label: str) -> Types:
        return Types((await self._catalogue()).types_named(label, self._linker.naming.iri(label)))

    async def _properties(self, name: str) -> Sequence[URIRef]:
        """Resolve a name to relations. Raises UnknownName."""
        return (await self._catalogue()).properties(name, self._linker.naming.iri(name))

    async def has_several_values(self, property_id: str) -> bool:
        return await self._have_several(await self._properties(property_id))

    async def _with_property(self, name: str, value: str | None) -> Condition:
        relations = await self._properties(name)
        uses_of = (await self._catalogue()).relations
        templates, having, fill = (
            self._property_templates,
            self._property_templates.having(relations),
            self._reader.filled,
        )
        if value is None:
            return Condition(fill(templates.with_any, having=having))
        uses = [uses_of.get(iri, _UNCOUNTED) for iri in relations]
        if not sendable(value):
            return Condition(None)
        if not any(use.has_values for use in uses):
            entities, stop = await self._meant(value)
            return Condition(
                fill(templates.with_term, having=having, terms=values(*entities)) if entities else None, stop
            )
        if is_at_most(Count.sum(use.values for use in uses), templates.most_compared):
            return Condition(fill(templates.with_text, having=having, equal=equals(self._reader, "?o", value)))
        terms = values(*usual_terms(value, self._languages))
        return Condition(fill(templates.with_term, having=having, terms=terms), note=lookup_note(self._languages))
