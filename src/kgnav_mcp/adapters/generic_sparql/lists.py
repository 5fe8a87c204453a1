"""Lists of nodes by type and value, and of the distinct values of properties of nodes or of edges.

The catalogue says whether a relation leads to entities or to values.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from rdflib import Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Seeds
from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.store import Store, one_of
from kgnav_mcp.adapters.sparql_base import lists
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import EDGES, BlankNodes, Templates, Types
from kgnav_mcp.adapters.sparql_base.paging import Condition
from kgnav_mcp.adapters.sparql_base.queries import NODE_COUNT
from kgnav_mcp.adapters.sparql_base.query_reader import Row, is_at_most
from kgnav_mcp.adapters.sparql_base.schema import Use
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.sparql_base.value_conditions import equals, lookup_note, usual_terms
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Count, Page, Stop, ValueFacts

_NAME = "name"
"""The pseudo-property for a node's name, whichever relation the graph uses."""
_MAX_COUNTED = 100_000
"""Nodes or values that are counted in a large graph whose store could not be stopped while counting more."""
_SOME = {NODE_COUNT: queries.SOME_NODES, queries.VALUE_COUNT: queries.SOME_VALUES}
_UNCOUNTED = Use(Count.unknown(), Count.unknown())
TEMPLATES = Templates(
    values=queries.VALUES,
    counted_values=queries.COUNTED_VALUES,
    value_count=queries.VALUE_COUNT,
    value="v",
    with_types=queries.WITH_TYPE,
    every=queries.EVERY,
    listed=comma_separated,
)


class ListReader(lists.ListReader):
    """Answers the verbs `nodes` and `values`. Lists leave out reifiers."""

    templates: ClassVar[Templates] = TEMPLATES
    max_compared: ClassVar[int] = 200_000
    """Maximum number of values to compare one by one. Above it, the literals that the text may stand for are looked up.
    """
    _most_named = 50

    def __init__(self, store: Store, names: Names, entity_finder: EntityFinder, catalogues: CatalogueCache) -> None:
        every = queries.EVERY_BUT_STATEMENTS if store.reification.parallel else queries.EVERY
        super().__init__(store.reader, replace(self.templates, every=every), entity_finder)
        self._store = store
        self._entities = names
        self._catalogues = catalogues

    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        having = one_of(await self._properties(property_name))
        condition = self._reader.filled(queries.NODE_VALUES, having=having)
        if owner is not None:
            condition += " " + self._with_types((await self.types(owner)).iris)
        conditions = self._conditions(None, condition)
        return await self._values(conditions, self._literals, limit, after)

    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """The distinct values of a property of statements about triples, for one relation or all."""
        catalogue, iri = (
            await self._catalogues.get(property_name, *filter(None, [owner])),
            self._entity_finder.naming.iri,
        )
        properties = values(*catalogue.edge_properties(property_name, iri(property_name)))
        relations = [Fragment("?p")] if owner is None else catalogue.edges(owner, iri(owner))
        statement = self._store.reification.qualifier_pattern
        branches = [
            self._reader.filled(queries.EDGE_VALUES, properties=properties, p=p, statement=statement("?s", p, "?o"))
            for p in relations
        ]
        joined = branches[0] if len(branches) == 1 else " UNION ".join(f"{{ {branch} }}" for branch in branches)
        return await self._values(self._reader.each_once(joined), self._literals, limit, after, counted=EDGES)

    async def _literals(self, rows: Sequence[Row]) -> list[model.Literal]:
        literal = self._entity_finder.names.literal
        return await in_thread(
            len(rows), lambda: [literal(term) for row in rows for term in row.values() if isinstance(term, Literal)]
        )

    async def types(self, label: str) -> Types:
        return Types((await self._catalogues.get(label)).types_named(label, self._entity_finder.naming.iri(label)))

    async def has_several_values(self, property_id: str) -> bool:
        return await self._have_several(await self._properties(property_id))

    async def _with_property(self, name: str, value: str | None) -> Condition:
        relations = await self._properties(name)
        uses_of = (await self._catalogues.get()).relations
        having, fill = one_of(relations), self._reader.filled
        if value is None:
            return Condition(fill(queries.WITH_PROPERTY, having=having))
        uses = [uses_of.get(iri, _UNCOUNTED) for iri in relations]
        if not sendable(value):
            return Condition(None)
        nodes, stop, note = list[URIRef](), Stop.COMPLETE, ""
        if any(use.has_edges for use in uses):
            entities, stop = await self._meant(value)
            nodes = list(entities)
        terms: Sequence[Literal] | None = []
        if any(use.has_values for use in uses):
            terms = await self._literals_equal(relations, value)
        if terms is None and is_at_most(Count.sum(use.values for use in uses), self.max_compared):
            equal = equals(self._reader, "?o", value)
            if nodes:
                equal = self._reader.part(queries.EQUAL_OR_NODE, equal=equal, nodes=comma_separated(*nodes))
            return Condition(fill(queries.WITH_TEXT, having=having, equal=equal), stop)
        if terms is None:
            terms = usual_terms(value, self._store.languages, self._reader.dialect)
            note = lookup_note(self._store.languages)
        has_value = fill(queries.WITH_TERM, having=having, terms=values(*terms, *nodes)) if terms or nodes else None
        return Condition(has_value, stop, note=note)

    async def _literals_equal(self, relations: Sequence[URIRef], value: str) -> Sequence[Literal] | None:
        """All literals of some relations that equal a value; None if they are not known without comparing them."""
        if not self._reader.dialect.repeats_texts:
            return None
        forms = await self._entities.text_forms.of(relations)
        return forms.terms([value]) if forms is not None and forms.only_texts else None

    async def _properties(self, name: str) -> Sequence[URIRef]:
        """Resolve a name to relations. `name` means those that name entities, and any relation that has this name."""
        if name.casefold() != _NAME:
            return await self._named(name)
        found: Sequence[URIRef] = ()
        with suppress(UnknownName, StoreTimeout, Unsupported):  # the relations that name entities remain
            found = await self._named(name)
        return list(dict.fromkeys([*found, *self._store.names]))

    async def _named(self, name: str) -> Sequence[URIRef]:
        """The relations with an id or a name. Raises UnknownName."""
        return (await self._catalogues.get(name)).properties(name, self._entity_finder.naming.iri(name))

    async def _blank_nodes(self, conditions: Fragment, skip: int, most: int) -> BlankNodes:
        part = self._reader.part(queries.BLANKS_OF_NODES, conditions=conditions, skip=skip, most=most)
        read = await self._store.blanks.identified([Seeds(part, "s")])
        found = await self._entities.blank_nodes({path: read.nodes[label] for label, path in read.paths.items()})
        note = f"{read.unidentified:,} blank nodes are omitted: no path from a node with an IRI identifies them."
        return BlankNodes(sorted(found, key=lambda node: node.id), note if read.unidentified else "")

    def _with_types(self, types: Sequence[URIRef]) -> str:
        if len(types) == 1:
            return self._reader.filled(queries.WITH_ONE_TYPE, type=types[0])
        return super()._with_types(types)

    def _conditions(self, types: Types | None, condition: str) -> Fragment:
        catalogue = self._catalogues.loaded
        may_have_iris = catalogue is None or catalogue.reifiers.may_have_iris
        no_reifier = self._store.reification.no_reifier("?s", may_have_iris=may_have_iris)
        return Fragment(f"{super()._conditions(types, condition).text} {no_reifier.text}")

    async def _size(self, count: str, conditions: Fragment) -> Count:
        some = _SOME.get(count)
        if some is None or await self._catalogues.countable():
            return await super()._size(count, conditions)
        return await self._reader.count(some, most=_MAX_COUNTED, conditions=conditions)
