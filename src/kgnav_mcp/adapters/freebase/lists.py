"""Nodes by type and value, and the distinct values of a property."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.freebase.linking import Linker
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import SAMPLE, Store
from kgnav_mcp.adapters.sparql.forms import left_out, likely
from kgnav_mcp.adapters.sparql.paging import UNSORTED, WHOLE, Condition, cut, items_before
from kgnav_mcp.adapters.sparql.reading import Read, address, fits, worst
from kgnav_mcp.adapters.sparql.results import Term, count
from kgnav_mcp.adapters.sparql.terms import Terms, values
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Certainty, Count, Entity, Page, Stop
from kgnav_mcp.port.ordering import value_order

_SCANNED = 1_000_000
"""Values of a property that are compared as text one by one; among more, the likely terms are looked up."""
_NAMESAKES = 500
_ID = "id"


class ListReader:
    """Answers `nodes` and `values`."""

    def __init__(self, store: Store, names: Names, catalogues: Catalogues, linker: Linker) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._catalogues = catalogues
        self._linker = linker

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes with a type whose property has a value, compared as text.

        Raises:
            UnknownName: the graph has no such type or property.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        conditions: list[str] = []
        condition = Condition("")
        if label is not None:
            types = catalogue.types_called(label, self._store.ids.term(label))
            conditions.append(self._reader.filled(queries.WITH_TYPE, types=values(*types)))
        if property_name is not None:
            if property_name.casefold() == _ID and value is not None:
                return await self._by_id(value, label, catalogue)
            condition = await self._with_property(catalogue, property_name, value)
            if condition.text is None:
                return condition.of(Page((), (), Count(0)))
            conditions.append(condition.text)
        if not conditions:
            conditions.append(self._reader.filled(queries.WITH_NAME))
        return condition.of(await self._page(Terms(" ".join(conditions)), skip, limit))

    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[model.Literal]:
        """The distinct values of a property over the nodes with a type; one text is one value.

        Raises:
            UnknownName: the graph has no such property or type.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        properties = catalogue.properties(property_name, self._store.ids.term(property_name))
        conditions = self._reader.filled(queries.WITH_PROPERTY, properties=values(*properties))
        if owner is not None:
            types = catalogue.types_called(owner, self._store.ids.term(owner))
            conditions += " " + self._reader.filled(queries.WITH_TYPE, types=values(*types))
        return await self._values(Terms(conditions), skip, limit)

    async def roles(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[model.Literal]:
        """The distinct values of a role of the mediators that a relation leads to.

        Edges have no properties of their own; the roles of a mediator are what another store says of an edge.

        Raises:
            Unsupported: no relation is named, or it does not lead to mediators.
            UnknownName: the graph has no such property or relation.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        if owner is None:
            raise _no_edge_properties("edges")
        for relation in catalogue.properties(owner, self._store.ids.term(owner)):
            read = await self._reader.select(queries.HAS_MEDIATORS, owner=relation, sample=SAMPLE)
            if read.whole():
                properties = catalogue.properties(property_name, self._store.ids.term(property_name))
                conditions = self._reader.part(queries.ROLES, owner=relation, properties=values(*properties))
                return await self._values(conditions, skip, limit)
        raise _no_edge_properties(f"the edges of {echoed(owner)}")

    async def _with_property(self, catalogue: Catalogue, name: str, value: str | None) -> Condition:
        """The condition that a node has a property, or a value of it."""
        properties = catalogue.properties(name, self._store.ids.term(name))
        listed = values(*properties)
        if value is None:
            return Condition(self._reader.filled(queries.WITH_PROPERTY, properties=listed))
        uses = [catalogue.relations[iri] for iri in properties]
        if not any(use.has_values for use in uses):
            meant, stop = await self._meant(value)
            if not meant:
                return Condition(None, stop)
            return Condition(self._reader.filled(queries.WITH_TERM, properties=listed, terms=values(*meant)), stop)
        counts = [use.values for use in uses]
        if sum(count.value for count in counts) > _SCANNED or any(c.certainty is Certainty.UNKNOWN for c in counts):
            terms = values(*likely(value, self._store.languages))
            note = left_out(self._store.languages)
            return Condition(self._reader.filled(queries.WITH_TERM, properties=listed, terms=terms), note=note)
        return Condition(self._reader.filled(queries.WITH_TEXT, properties=listed, text=Literal(value)))

    async def _meant(self, value: str) -> tuple[list[URIRef], Stop]:
        """The entities that a value means where the property leads to entities: by id, else by name; why not all."""
        given = self._store.ids.term(value)
        if given is not None and given in await self._names.described([given]):
            return [given], Stop.COMPLETE
        namesakes = await self._linker.named(value, _NAMESAKES)
        named = [iri for one in namesakes.items if (iri := self._store.ids.term(one.entity.id)) is not None]
        return named, namesakes.stop

    async def _by_id(self, value: str, label: str | None, catalogue: Catalogue) -> Page[Entity]:
        iri = self._store.ids.term(value)
        found = list((await self._names.described([iri])).values()) if iri is not None else []
        if label is not None and iri is not None and found:
            types = catalogue.types_called(label, self._store.ids.term(label))
            read = await self._reader.over(queries.OF_TYPES, "ids", [iri], types=values(*types))
            found = found if read.whole() else []
        return Page(tuple(found), tuple(str(n + 1) for n in range(len(found))), Count(len(found)))

    async def _page(self, conditions: Terms, skip: int, limit: int) -> Page[Entity]:
        counted = await self._reader.select(queries.NODE_COUNT, conditions=conditions)
        total = _total(counted)
        if fits(total, WHOLE):
            read = Read((await self._reader.slice(queries.NODES, 0, WHOLE, conditions=conditions)).whole())
            iris = sorted(address(row, "s") for row in read.rows)[skip : skip + limit]
        else:
            read = await self._reader.slice(queries.NODES, skip, limit, conditions=conditions)
            iris = [address(row, "s") for row in read.rows]
        described = await self._names.described(iris)
        return Page(
            items=tuple(described[iri] for iri in iris),
            positions=tuple(str(skip + n) for n in range(1, len(iris) + 1)),
            total=total,
            stop=worst((read.stop, cut(total, skip, len(iris), limit))),
        )

    async def _values(self, conditions: Terms, skip: int, limit: int) -> Page[model.Literal]:
        counted = await self._reader.select(queries.VALUE_COUNT, conditions=conditions)
        total = _total(counted)
        if fits(total, WHOLE):
            read = Read((await self._reader.slice(queries.VALUES, 0, WHOLE, conditions=conditions)).whole())
            literals = self._distinct([row["o"] for row in read.rows])
            total = Count(len(literals))
            literals = literals[skip : skip + limit]
        else:
            read = await self._reader.slice(queries.VALUES, skip, limit, conditions=conditions)
            literals = [self._literal(row["o"]) for row in read.rows]
        return Page(
            items=tuple(literals),
            positions=tuple(str(skip + n) for n in range(1, len(literals) + 1)),
            total=total,
            stop=worst((read.stop, cut(total, skip, len(literals), limit))),
            note="" if fits(total, WHOLE) else UNSORTED,
        )

    def _distinct(self, terms: Sequence[Term]) -> list[model.Literal]:
        """One literal for each text, in the order of values."""
        found: dict[str, model.Literal] = {}
        for literal in map(self._literal, terms):
            kept = found.setdefault(literal.text, literal)
            found[literal.text] = min(kept, literal, key=lambda one: (one.datatype or "", one.language or ""))
        return [found[text] for text in sorted(found, key=value_order)]

    def _literal(self, term: Term) -> model.Literal:
        node = self._names.node(term, {})
        assert isinstance(node, model.Literal)  # noqa: S101 - the query keeps nothing else
        return node


def _total(counted: Read) -> Count:
    """The number in the answer to a query that counts: some of them, or unknown, where its time was over."""
    return count(counted.rows[0].get("n") if counted.rows else None, partial=counted.stop is Stop.TIME_OUT)


def _no_edge_properties(what: str) -> Unsupported:
    return Unsupported(
        f"in Freebase {what} have no properties of their own",
        next_step="Name a relation that leads to mediators, as get_relations shows, or ask for a node's property.",
    )
