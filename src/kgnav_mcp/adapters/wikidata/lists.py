"""Nodes by class and value, and the distinct values of a property or of a qualifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rdflib import XSD, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql_base import lists
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import NODES, Found, Templates, Types, ValueOrder
from kgnav_mcp.adapters.sparql_base.paging import MAX_SORTED, Condition, raised_total, truncated
from kgnav_mcp.adapters.sparql_base.queries import NODE_COUNT
from kgnav_mcp.adapters.sparql_base.query_reader import Row, is_at_most
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.sparql_base.value_conditions import date_time, equals, number_texts
from kgnav_mcp.adapters.wikibase_values import ENTITY_DATATYPES, QUANTITY, TIME, UNKNOWN_VALUE
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.schema import Classes
from kgnav_mcp.adapters.wikidata.statements import StatementReader
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Count, Page, Stop, ValueFacts
from kgnav_mcp.values.comparison import Moment, Period, WantedValue, period_of
from kgnav_mcp.values.scalars import value_order

_LABELS = frozenset({"name", "label", "rdfs:label"})
_STATEMENTS = Fragment("DISTINCT ?st")
_TEMPLATES = Templates(
    node_count=queries.UP_TO_NODES,
    values=queries.VALUES,
    counted_values=queries.COUNTED_VALUES,
    value_count=None,
    value="o",
    with_types=queries.IN_CLASS,
    listed=values,
    every=queries.EVERY,
)


class ListReader(lists.ListReader):
    """Answers the verbs `nodes` and `values`. Quantities are compared by their number, without the unit."""

    def __init__(
        self,
        store: Store,
        entity_finder: EntityFinder,
        *,
        names: Names,
        catalogues: CatalogueCache,
        classes: Classes,
        statements: StatementReader,
    ) -> None:
        super().__init__(store.reader, _TEMPLATES, entity_finder)
        self._store = store
        self._names = names
        self._catalogues = catalogues
        self._classes = classes
        self._statements = statements

    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        local, ids, form = await self.property(property_name), self._store.ids, self._store.form
        types = Types(()) if owner is None else await self.types(owner)
        narrowed = Fragment("" if owner is None else self._with_types(types.iris))
        of = self._reader.part(queries.OF_NODES, claims=self._store.rows(form.claims, local), **{"class": narrowed})
        datatype = await self._catalogues.datatype(local)
        if form.statements:
            of = self._value_pattern(datatype, of, ids.value(local), ids.full_value(local))
        return truncated(await self._values_of(local, datatype, of, limit, after), note=types.note)

    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """The distinct values of a qualifier, over all statements or those of the property `owner`.

        Raises:
            Unsupported: this copy has no statements.
            UnknownName: no statement has such a qualifier, or there is no property `owner`.
        """
        if not self._store.form.statements:
            raise Unsupported(
                "this copy of a Wikibase has values only (a truthy dump), so its relations have no qualifiers",
                next_step="Use a property of nodes instead (entity_type='node').",
            )
        local, ids = await self.property(property_name), self._store.ids
        owned = Fragment("")
        if owner is not None:
            owned = self._reader.part(queries.OWNED, owner=ids.value(await self.property(owner, "relation")))
        if not (await self._reader.select(queries.IS_QUALIFIER, p=ids.qualifier(local))).any_rows():
            raise UnknownName("qualifier", property_name, self._catalogues.current.nearest(property_name))
        of = self._reader.part(queries.OF_EDGES, owned=owned)
        datatype = await self._catalogues.datatype(local)
        conditions = self._value_pattern(datatype, of, ids.qualifier(local), ids.full_qualifier(local))
        return await self._values_of(local, datatype, conditions, limit, after, counted=_STATEMENTS)

    async def property(self, name: str, kind: str = "property") -> str:
        """The bare id of the property that an id or a label means.

        Raises:
            UnknownName: there is no such property.
            StoreTimeout, Unsupported: there may be one, but not all labels of properties were read.
        """
        catalogue = self._catalogues.current
        local = self._store.ids.property(name)
        if local is not None and await self._catalogues.has(local):
            return local
        found = catalogue.properties_named(name)
        if not found:
            raise catalogue.unknown(kind, name, is_id=local is not None)
        return found[0]

    def _value_pattern(self, datatype: str, of: Fragment, plain: URIRef, full: URIRef) -> Fragment:
        """The pattern that binds the values of a property to `?o`, and to `?q` and `?u` their precision or unit."""
        template = {TIME: queries.TIMES, QUANTITY: queries.AMOUNTS}.get(datatype, queries.PLAIN)
        if template is queries.PLAIN:
            return self._reader.part(template, of=of, p=plain)
        return self._reader.part(template, of=of, p=plain, full=full)

    async def types(self, label: str) -> Types:
        return await self._classes.resolve(label)

    async def _identified(self, property_name: str, value: str) -> Found | None:
        """The node with this id, or the nodes with this label."""
        if property_name.casefold() in _LABELS:
            return await self._by_name(value)
        return await super()._identified(property_name, value)

    async def has_several_values(self, property_id: str) -> bool:
        return await self._have_several([self._store.ids.direct(await self.property(property_id))])

    async def _with_property(self, name: str, value: str | None) -> Condition:
        """The condition that a property has a value. It is empty if no value of its datatype has this text."""
        if name.casefold() in _LABELS:
            return Condition(self._reader.filled(queries.WITH_LABEL))
        local, ids = await self.property(name), self._store.ids
        if value is None:
            return Condition(self._reader.filled(queries.WITH_PROPERTY, direct=ids.direct(local)))
        if not sendable(value):
            return Condition(None)
        datatype = await self._catalogues.datatype(local)
        if datatype == TIME:
            return Condition(self._with_time(local, value))
        direct = ids.direct(local)
        if datatype and datatype not in ENTITY_DATATYPES:
            terms, stop = self._exact_terms(datatype, value), Stop.COMPLETE
        else:
            terms, stop = await self._meant(value)
        equal = equals(self._reader, "?any", value)
        if terms and not datatype:
            found = self._reader.filled(queries.WITH_EITHER, direct=direct, equal=equal, terms=comma_separated(*terms))
        elif terms is None or not datatype:
            found = self._reader.filled(queries.WITH_EQUAL, direct=direct, equal=equal)
        else:
            found = self._reader.filled(queries.WITH_TERMS, direct=direct, terms=values(*terms)) if terms else None
        return Condition(found, stop)

    def _with_time(self, local: str, value: str) -> str | None:
        """The condition that a time is equal in the precision of both; None if the value is not a date."""
        period = period_of(value)
        if period is None:
            return None
        if not self._store.form.statements:
            return self._reader.filled(queries.WITH_MOMENT, direct=self._store.ids.direct(local), **_ends(period))
        month = Period.of(period.parts[:2])
        full, claim = self._store.ids.full_value(local), self._store.ids.claim(local)
        return self._reader.filled(
            queries.WITH_TIME,
            days=values(*_days_of_year(period)),
            first_of_month=_moment(month.first),
            month_after=_moment(month.after),
            **_ends(period),
            full=full,
            claim=claim,
        )

    @staticmethod
    def _exact_terms(datatype: str, value: str) -> Sequence[Literal] | None:
        """All terms that equal a value given as text; None if they cannot be listed."""
        if datatype == QUANTITY:
            number = WantedValue.read(value.partition(" ")[0]).number  # a unit may follow
            texts = [] if number is None else number_texts(number)
            return [Literal(text, datatype=XSD.decimal, normalize=False) for text in texts if "E" not in text]
        if datatype in {"string", "external-id"}:
            return [Literal(value)]
        return None

    async def _size(self, count: str, conditions: Fragment) -> Count:
        least = await self._reader.count(count, conditions=conditions, most=MAX_SORTED + 1)
        if is_at_most(least, MAX_SORTED) or self._store.wikidata.counted is not None:
            return least
        try:
            return raised_total(await self._reader.count(NODE_COUNT, conditions=conditions), least.value)
        except StoreTimeout:
            return least

    async def _values_of(
        self,
        local: str,
        datatype: str,
        conditions: Fragment,
        limit: int,
        after: str | None,
        *,
        counted: Fragment = NODES,
    ) -> Page[ValueFacts]:
        order = _ORDERS.get(datatype, value_order)
        read = partial(self._literals, local)
        return await self._values(conditions, read, limit, after, order=order, counted=counted)

    async def _literals(self, local: str, read: Sequence[Row]) -> list[model.Literal]:
        ids = self._store.ids
        iris = [str(term) for row in read for term in (row["o"], row.get("u")) if isinstance(term, URIRef)]
        labels = await self._names.labels(iri for iri in iris if ids.is_entity(iri))
        found: list[model.Literal] = []
        for row in read:
            full = {key: str(row[name]) for name, key in _PARTS if name in row}
            value = row["o"]
            if isinstance(value, URIRef) and ids.is_entity(value):
                found.append(model.Literal(labels.get(str(value)) or ids.shown(value)))
            elif isinstance(value, Literal) or (isinstance(value, URIRef) and not ids.is_unknown(value)):
                found.append(self._statements.literal(local, value, full, labels))
            else:
                found.append(model.Literal(UNKNOWN_VALUE, "somevalue"))
        return found


def _moment(moment: Moment) -> Literal:
    return Literal(date_time(moment), datatype=XSD.dateTime, normalize=False)


def _ends(period: Period) -> Mapping[str, Literal]:
    """The ends of a period, to the second and in whole days."""
    days = period.days
    return {
        "first": _moment(period.first),
        "after": _moment(period.after),
        "first_day": _moment(days.first),
        "day_after": _moment(days.after),
    }


def _days_of_year(period: Period) -> Iterator[Literal]:
    """The days of the year in which a period lies: a date that is less precise may be stored as any of them."""
    year = Period.of(period.parts[:1])
    day = Period.of(year.first[:3])
    while day.first < year.after:
        yield _moment(day.first)
        day = Period.of(day.after[:3])


_PARTS = (("q", "timePrecision"), ("u", "timeCalendarModel"), ("u", "quantityUnit"))
"""Variables of a value's parts, with the names of these parts in its node. `?u` has either meaning."""


def _amount_order(text: str) -> tuple[bool, float, str]:
    """The sort key of quantities: their number, ignoring a unit after it."""
    return (*value_order(text.partition(" ")[0])[:2], text)


_ORDERS: Mapping[str, ValueOrder] = {
    QUANTITY: _amount_order,
    TIME: lambda text: (True, 0.0, text),
}
"""Sort keys of values by datatype. Times are sorted by their text: a decade (`1950s`) comes before its years."""
