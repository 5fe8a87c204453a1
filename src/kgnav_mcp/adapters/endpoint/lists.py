"""Nodes by type and value, and the distinct values of a property of nodes or of statements about triples."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import BNode, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.endpoint.linking import Linker
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.store import Store, one_of, term_order
from kgnav_mcp.adapters.sparql.catalogue import Use
from kgnav_mcp.adapters.sparql.forms import left_out, likely
from kgnav_mcp.adapters.sparql.paging import UNSORTED, WHOLE, Condition, cut, items_before, seen
from kgnav_mcp.adapters.sparql.reading import Read, fits, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, listed, values
from kgnav_mcp.errors import InvalidArgument, StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Count, Entity, Page, Stop
from kgnav_mcp.port.ordering import value_order

_SCANNED = 200_000
"""Values that are compared as texts; where a property has more, a value is looked up in the forms it may have."""
_NAMESAKES = 50
_UNCOUNTED = Use(Count.unknown(), Count.unknown())
_ID, _NAME = "id", "name"
"""What every node has, whatever the graph calls it."""


class ListReader:
    """Answers `nodes` and `values`."""

    def __init__(self, store: Store, names: Names, catalogues: Catalogues, linker: Linker) -> None:
        self._store = store
        self._reader = store.reader
        self._ids = store.endpoint.ids
        self._names = names
        self._catalogues = catalogues
        self._linker = linker

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes with a type whose property has a value; any condition may be left out.

        Raises:
            UnknownName: the graph has no such type or property.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        types = None if label is None else catalogue.types_called(label, self._ids.iri(label))
        if property_name is not None and property_name.casefold() == _ID and value is not None:
            return await self._by_id(value, types)
        conditions: list[str] = []
        condition = Condition("")
        if types is not None:
            conditions.append(self._with_types(types))
        if property_name is not None:
            condition = await self._with_property(catalogue, property_name, value)
            if condition.text is None:
                return condition.of(Page((), (), Count(0)))
            conditions.append(condition.text)
        if not conditions:
            conditions.append(self._reader.filled(queries.WITH_PROPERTY, having=one_of(self._store.names)))
        conditions.append(self._store.reification.no_reifier("?s").text)
        return condition.of(await self._page(Terms(" ".join(conditions)), skip, limit))

    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[model.Literal]:
        """The distinct values of a property over the nodes with a type; one text is one value.

        Raises:
            UnknownName: the graph has no such property or type.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        properties = self._properties(catalogue, property_name)
        conditions = [self._reader.filled(queries.NODE_VALUES, having=one_of(properties))]
        if owner is not None:
            conditions.append(self._with_types(catalogue.types_called(owner, self._ids.iri(owner))))
        conditions.append(self._store.reification.no_reifier("?s").text)
        return await self._values(Terms(" ".join(conditions)), skip, limit)

    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[model.Literal]:
        """The distinct values that statements about triples have of a property, over one relation or all.

        Raises:
            UnknownName: no statement has such a property, or the graph no such relation.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        catalogue = await self._catalogues.get()
        properties = catalogue.edge_properties(property_name, self._ids.iri(property_name))
        relations = [None] if owner is None else catalogue.edges(owner, self._ids.iri(owner))
        branches = [
            self._reader.filled(
                queries.EDGE_VALUES,
                properties=values(*properties),
                p=Terms("?p") if relation is None else relation,
                said=self._store.reification.said("?s", Terms("?p") if relation is None else relation, "?o"),
            )
            for relation in relations
        ]
        joined = branches[0] if len(branches) == 1 else " UNION ".join(f"{{ {branch} }}" for branch in branches)
        return await self._values(Terms(joined), skip, limit)

    def _with_types(self, types: Sequence[URIRef]) -> str:
        if len(types) == 1:
            return self._reader.filled(queries.WITH_ONE_TYPE, type=types[0])
        return self._reader.filled(queries.WITH_TYPE, types=listed(*types))

    def _properties(self, catalogue: Catalogue, name: str) -> list[URIRef]:
        """The relations of a name; `name` is what names entities, and where the graph calls something so, that too."""
        try:
            found = catalogue.properties(name, self._ids.iri(name))
        except (UnknownName, StoreTimeout, Unsupported):
            if name.casefold() != _NAME:
                raise
            found = []
        return list(dict.fromkeys([*found, *(self._store.names if name.casefold() == _NAME else ())]))

    async def _with_property(self, catalogue: Catalogue, name: str, value: str | None) -> Condition:
        """The condition that a node has a property, or a value of it."""
        properties = self._properties(catalogue, name)
        having = one_of(properties)
        if value is None:
            return Condition(self._reader.filled(queries.WITH_PROPERTY, having=having))
        uses = [catalogue.relations.get(iri, _UNCOUNTED) for iri in properties]
        if not any(use.has_values for use in uses):
            meant, stop = await self._meant(value)
            if not meant:
                return Condition(None, stop)
            return Condition(self._reader.filled(queries.WITH_TERM, having=having, terms=values(*meant)), stop)
        try:
            if sum(use.values.value for use in uses) > _SCANNED or catalogue.sampled:
                terms, note = values(*likely(value, self._store.languages)), left_out(self._store.languages)
                return Condition(self._reader.filled(queries.WITH_TERM, having=having, terms=terms), note=note)
            return Condition(self._reader.filled(queries.WITH_TEXT, having=having, text=Literal(value)))
        except InvalidArgument:
            return Condition(None)  # A text that no query can carry is no text of the graph.

    async def _meant(self, value: str) -> tuple[list[URIRef], Stop]:
        """The entities that a value means where the property leads to entities: by id, else by name; why not all."""
        given = self._ids.iri(value)
        if given is not None and given in await self._names.described([given]):
            return [given], Stop.COMPLETE
        namesakes = await self._linker.named(value, _NAMESAKES)
        return [iri for one in namesakes.items if (iri := self._ids.iri(one.entity.id)) is not None], namesakes.stop

    async def _by_id(self, value: str, types: Sequence[URIRef] | None) -> Page[Entity]:
        iri = self._ids.iri(value)
        found = list((await self._names.described([iri])).values()) if iri is not None else []
        if types is not None and iri is not None and found:
            read = await self._reader.over(queries.OF_TYPES, "ids", [iri], types=listed(*types))
            found = found if read.whole() else []
        return Page(tuple(found), tuple(str(n + 1) for n in range(len(found))), Count(len(found)))

    async def _page(self, conditions: Terms, skip: int, limit: int) -> Page[Entity]:
        total = await self._reader.count(queries.NODE_COUNT, conditions=conditions)
        whole = fits(total, WHOLE)
        if whole:
            read = Read((await self._reader.slice(queries.NODES, 0, WHOLE, conditions=conditions)).whole())
        else:
            read = await self._reader.slice(queries.NODES, skip, limit, conditions=conditions)
        terms: list[Term] = [row["s"] for row in read.rows]
        blanks = sum(isinstance(term, BNode) for term in terms)
        iris = [term for term in terms if isinstance(term, URIRef)]
        if whole:
            iris = sorted(iris)[skip : skip + limit]
            total = Count(total.value - blanks)  # Nothing leads to them here: they show at the nodes they belong to.
        stop = worst((read.stop, cut(total, skip, len(iris if whole else terms), limit)))
        if blanks and not whole:
            total = Count.at_least(0)
        described = await self._names.described(iris)
        items = [described[iri] for iri in iris if iri in described]
        return Page(
            items=tuple(items),
            positions=tuple(str(skip + n) for n in range(1, len(items) + 1)),
            total=seen(total, skip + len(items)),
            stop=stop,
        )

    async def _values(self, conditions: Terms, skip: int, limit: int) -> Page[model.Literal]:
        total = await self._reader.count(queries.VALUE_COUNT, conditions=conditions)
        if fits(total, WHOLE):
            read = Read((await self._reader.slice(queries.VALUES, 0, WHOLE, conditions=conditions)).whole())
            literals = self._distinct([row["v"] for row in read.rows])
            total = Count(len(literals))
            literals = literals[skip : skip + limit]
        else:
            read = await self._reader.slice(queries.VALUES, skip, limit, conditions=conditions)
            literals = [self._names.literal(term) for row in read.rows if isinstance(term := row["v"], Literal)]
        return Page(
            items=tuple(literals),
            positions=tuple(str(skip + n) for n in range(1, len(literals) + 1)),
            total=seen(total, skip + len(literals)),
            stop=worst((read.stop, cut(total, skip, len(literals), limit))),
            note="" if fits(total, WHOLE) else UNSORTED,
        )

    def _distinct(self, terms: Sequence[Term]) -> list[model.Literal]:
        """One literal for each text, in the order of values."""
        found: dict[str, model.Literal] = {}
        for term in sorted(terms, key=term_order):
            if isinstance(term, Literal):
                found.setdefault(str(term), self._names.literal(term))
        return [found[text] for text in sorted(found, key=value_order)]
