"""Nodes by class and value, and the distinct values of a property or of a qualifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from rdflib import XSD, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql.paging import UNSORTED, WHOLE, Condition, cut, in_part, items_before, seen
from kgnav_mcp.adapters.sparql.reading import Read, Row, address, fits, worst
from kgnav_mcp.adapters.sparql.terms import Terms, listed, rows, sendable, values
from kgnav_mcp.adapters.wikidata import queries, words
from kgnav_mcp.adapters.wikidata.catalogue import QUANTITY, TIME, Catalogues
from kgnav_mcp.adapters.wikidata.classes import Called, Classes, FindNamed
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.statements import StatementReader
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import Count, Entity, Page, Stop
from kgnav_mcp.port.ordering import value_order

_NAMESAKES = 500
_ID = "id"
_LABELS = frozenset({"name", "label", "rdfs:label"})
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)")


class ListReader:
    """Answers `nodes` and `values`."""

    def __init__(
        self,
        store: Store,
        *,
        names: Names,
        catalogues: Catalogues,
        classes: Classes,
        statements: StatementReader,
        named: FindNamed,
    ) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._catalogues = catalogues
        self._classes = classes
        self._statements = statements
        self._named = named

    async def nodes(
        self, label: str | None, name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes of a class whose property has a value, as it is printed; of a quantity the number is compared.

        Raises:
            UnknownName: the graph has no such class or property.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        conditions: list[str] = []
        condition, meant = Condition(""), Called(())
        if label is not None:
            meant = await self._classes.called(label)
            conditions.append(self._reader.filled(queries.IN_CLASS, classes=values(*meant.classes)))
        if name is not None and value is not None and name.casefold() in {_ID, *_LABELS}:
            return await self._by_name(name, value, label, skip, limit)
        if name is not None and name.casefold() not in _LABELS:
            condition = await self._with_value(self.property(name), value)
            if condition.text is None:
                return in_part(condition.of(Page((), (), Count(0))), Stop.COMPLETE, meant.note)
            conditions.append(condition.text)
        if not conditions:
            conditions.append(self._reader.filled(queries.WITH_LABEL))
        page = condition.of(await self._page(Terms(" ".join(conditions)), skip, limit))
        return in_part(page, Stop.COMPLETE, meant.note)

    async def values(self, name: str, owner: str | None, limit: int, after: str | None) -> Page[model.Literal]:
        """The distinct values of a property over the nodes of a class; one text is one value.

        Raises:
            UnknownName: the graph has no such property or class.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        local = self.property(name)
        narrowed, meant = Terms(""), Called(())
        if owner is not None:
            meant = await self._classes.called(owner)
            narrowed = self._reader.part(queries.IN_CLASS, classes=values(*meant.classes))
        ids = self._store.ids
        claims = self._store.rows(self._store.form.claims, local)
        of = self._reader.part(queries.OF_NODES, claims=claims, **{"class": narrowed})
        said = self._said(local, of, ids.value(local), ids.full_value(local)) if self._store.form.statements else of
        return in_part(await self._values(local, said, skip, limit), Stop.COMPLETE, meant.note)

    async def roles(self, name: str, owner: str | None, limit: int, after: str | None) -> Page[model.Literal]:
        """The distinct values of a qualifier, over all statements or those of one property.

        Raises:
            UnknownName: nothing is qualified by such a property, or there is no such owner.
            InvalidCursor: `after` is no position of this list.
        """
        skip = items_before(after)
        local, ids = self.property(name), self._store.ids
        owned = Terms("")
        if owner is not None:
            owned = self._reader.part(queries.OWNED, owner=ids.value(self.property(owner, "relation")))
        if not (await self._reader.select(queries.IS_QUALIFIER, p=ids.qualifier(local))).some():
            raise UnknownName("qualifier", name, self._catalogues.current.nearest(name))
        of = self._reader.part(queries.OF_EDGES, owned=owned)
        said = self._said(local, of, ids.qualifier(local), ids.full_qualifier(local))
        return await self._values(local, said, skip, limit)

    def property(self, name: str, kind: str = "property") -> str:
        """The bare id of the property that an id or a label means.

        Raises:
            UnknownName: there is none.
            StoreTimeout: there may be one, of those that were not listed in time.
        """
        catalogue = self._catalogues.current
        local = self._store.ids.property(name)
        if local is not None and (local in catalogue or not catalogue.whole):
            return local
        found = catalogue.called(name)
        if not found:
            raise catalogue.unknown(kind, name)
        return found[0]

    def _said(self, local: str, of: Terms, plain: URIRef, full: URIRef) -> Terms:
        """The conditions under which `?o` is a value of a property, with its parts where it has some."""
        template = {TIME: queries.TIMES, QUANTITY: queries.AMOUNTS}.get(
            self._catalogues.current.get(local).datatype, queries.PLAIN
        )
        if template is queries.PLAIN:
            return self._reader.part(template, of=of, p=plain)
        return self._reader.part(template, of=of, full=full)

    async def _by_name(self, name: str, value: str, label: str | None, skip: int, limit: int) -> Page[Entity]:
        """The node with this id, or the nodes with this label."""
        stop, note = Stop.COMPLETE, ""
        if name.casefold() == _ID:
            meant = self._store.ids.entity(value)
            items = list((await self._names.described([meant])).values()) if meant is not None else []
        else:
            namesakes = await self._named(value, _NAMESAKES)
            items, stop = [one.entity for one in namesakes.items], namesakes.stop
        if label is not None:
            called = await self._classes.called(label)
            note = called.note
            labels = await self._names.labels(called.classes)
            titles = {labels.get(str(iri)) or self._store.ids.shown(iri) for iri in called.classes}
            items = [entity for entity in items if titles & set(entity.types)]
        shown = items[skip : skip + limit]
        page = Page(
            tuple(shown),
            tuple(str(n) for n in range(skip + 1, skip + len(shown) + 1)),
            Count(len(items)),
            Stop.LIMIT if skip + limit < len(items) else Stop.COMPLETE,
        )
        return in_part(page, stop, note)

    async def _with_value(self, local: str, value: str | None) -> Condition:
        """The condition that a property has a value; nothing meets it where no value of its datatype reads so."""
        ids = self._store.ids
        if value is None:
            return Condition(self._reader.filled(queries.WITH_PROPERTY, direct=ids.direct(local)))
        if not sendable(value):
            return Condition(None)
        known = self._catalogues.current.get(local)
        if known.datatype == TIME and self._store.form.statements:
            return Condition(self._with_time(local, value))
        direct, text = ids.direct(local), Literal(value)
        if known.datatype and not known.to_entities:
            terms, stop = self._terms(known.datatype, value), Stop.COMPLETE
        else:
            terms, stop = await self._meant(value)
        if terms and not known.datatype:
            found = self._reader.filled(queries.WITH_EITHER, direct=direct, text=text, terms=listed(*terms))
        elif terms is None or not known.datatype:
            found = self._reader.filled(queries.WITH_TEXT, direct=direct, text=text)
        else:
            found = self._reader.filled(queries.WITH_TERMS, direct=direct, terms=values(*terms)) if terms else None
        return Condition(found, stop)

    def _with_time(self, local: str, value: str) -> str | None:
        moments = [
            (Literal(text, datatype=XSD.dateTime), Literal(precision)) for text, precision in words.times_of(value)
        ]
        if not moments:
            return None
        full, claim = self._store.ids.full_value(local), self._store.ids.claim(local)
        return self._reader.filled(queries.WITH_TIME, moments=rows(*moments), full=full, claim=claim)

    async def _meant(self, value: str) -> tuple[Sequence[URIRef], Stop]:
        """The entities that a value means where the property leads to entities: by id, else by label; why not all."""
        meant = self._store.ids.entity(value)
        if meant is not None:
            return [meant], Stop.COMPLETE
        namesakes = await self._named(value, _NAMESAKES)
        named = [iri for one in namesakes.items if (iri := self._store.ids.entity(one.entity.id)) is not None]
        return named, namesakes.stop

    @staticmethod
    def _terms(datatype: str, value: str) -> Sequence[Literal] | None:
        """The terms that read as a value; None where there may be others."""
        if datatype == QUANTITY:
            match = _NUMBER.match(value)
            return [Literal(match[0].removeprefix("+"), datatype=XSD.decimal, normalize=False)] if match else []
        if datatype in {"string", "external-id"}:
            return [Literal(value)]
        if datatype == TIME:
            return [Literal(text, datatype=XSD.dateTime) for text, _ in words.times_of(value)]
        return None

    async def _page(self, conditions: Terms, skip: int, limit: int) -> Page[Entity]:
        total = await self._reader.count(queries.UP_TO_NODES, conditions=conditions, most=WHOLE + 1)
        if fits(total, WHOLE):
            read = Read((await self._reader.slice(queries.NODES, 0, WHOLE, conditions=conditions)).whole())
            shown = sorted((address(row, "s") for row in read.rows), key=_number)[skip : skip + limit]
        else:
            read = await self._reader.slice(queries.NODES, skip, limit, conditions=conditions)
            shown = [address(row, "s") for row in read.rows]
            total = seen(await self._count(conditions, total), skip + len(shown))
        described = await self._names.described(shown)
        items = [described.get(iri) or Entity(self._store.ids.shown(iri)) for iri in shown]
        return Page(
            tuple(items),
            tuple(str(skip + n) for n in range(1, len(items) + 1)),
            total,
            worst((read.stop, cut(total, skip, len(shown), limit))),
        )

    async def _count(self, conditions: Terms, least: Count) -> Count:
        """The size of a list of which `least` is known, as far as it can be counted."""
        if self._store.wikidata.counted is not None:
            return least
        try:
            return seen(await self._reader.count(queries.NODE_COUNT, conditions=conditions), least.value)
        except StoreTimeout:
            return least

    async def _values(self, local: str, conditions: Terms, skip: int, limit: int) -> Page[model.Literal]:
        order = _ORDERS.get(self._catalogues.current.get(local).datatype, value_order)
        note = ""
        read = await self._reader.slice(queries.VALUES, 0, WHOLE + 1, conditions=conditions)
        least = len(read.rows)
        if least <= WHOLE and read.stop is not Stop.TIME_OUT:
            texts = {literal.text: literal for literal in await self._literals(local, read.rows)}
            items = [texts[text] for text in sorted(texts, key=order)]
            total, shown, more = Count(len(items)), items[skip : skip + limit], skip + limit < len(items)
        else:
            read = await self._reader.slice(queries.VALUES, skip, limit, conditions=conditions)
            shown = await self._literals(local, read.rows)
            total, more = Count.at_least(max(least, skip + len(shown))), len(shown) == limit
            note = UNSORTED
        stop = worst((read.stop, Stop.LIMIT if more else Stop.COMPLETE))
        return Page(tuple(shown), tuple(str(skip + n) for n in range(1, len(shown) + 1)), total, stop, note)

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
                found.append(model.Literal(words.UNKNOWN, "somevalue"))
        return found


_PARTS = (("q", "timePrecision"), ("u", "timeCalendarModel"), ("u", "quantityUnit"))
"""What the variables of a value's parts are called in its node."""


def _amount_order(text: str) -> tuple[bool, float, str]:
    """The order of quantities: by their number, whose unit may stand behind it."""
    return (*value_order(text.partition(" ")[0])[:2], text)


_ORDERS: Mapping[str, Callable[[str], tuple[bool, float, str]]] = {
    QUANTITY: _amount_order,
    TIME: lambda text: (True, 0.0, text),
}
"""The orders of values that are no plain texts: a year is a time, with its decade before it (`1950s`)."""


def _number(iri: URIRef) -> tuple[int, str]:
    digits = iri.rpartition("/")[2][1:]
    return (int(digits) if digits.isdecimal() else 0), str(iri)
