"""Nodes by label and property value, and the distinct values of a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.pages import list_page, skipped_items
from kgnav_mcp.adapters.cypher.session import Builder, labelled, quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Count, Entity, Page, ValueFacts
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.values.comparison import Moment, Period, WantedValue
from kgnav_mcp.values.scalars import NUMBER

_MAX_YEAR = 999_999_999
"""The last year that dates have in Cypher."""
_FOUR_DIGITS = 9999


@dataclass(frozen=True, slots=True)
class ValueCondition:
    """A condition on `n`, with its parameters."""

    text: str
    parameters: Mapping[str, object]


def value_condition(builder: Builder, keys: Sequence[str], value: str, *, indexed: bool) -> ValueCondition:
    """The condition that one of the properties has a value, or a list that contains it.

    With an index (of the only key), the ranges of the index that may contain the value are read: the value itself,
    dates of its period, and lists of its type, which the index stores as a whole.
    """
    text = encodable(value)
    wanted = WantedValue.read(text)
    values = builder.dialect.values.possible_values(text)
    period = wanted.period if wanted.period is not None and _is_in_range(wanted.period) else None
    parameters: dict[str, object] = {"keys": keys, "values": values, "texts": [text, f"{text}[UTC]"]}
    dates = ""
    if period is not None:
        parameters |= _ends(period)
        dates = f" OR {builder.fill(queries.IN_PERIOD, x='value')}"
    condition = builder.fill(queries.WITH_VALUE, in_period=dates)
    if not indexed or not all(isinstance(each, str | int | float) or period is not None for each in values):
        return ValueCondition(condition, parameters)
    ranges = [queries.INDEXED_VALUE, queries.INDEXED_TEXTS]
    if wanted.number is not None:
        ranges.append(queries.INDEXED_NUMBERS)
        parameters["least_numbers"] = [float("-inf")]
    if any(isinstance(each, bool) for each in values):
        ranges.append(queries.INDEXED_BOOLEANS)
    if period is not None:
        ranges += [queries.IN_PERIOD, queries.INDEXED_DATES]
    by_index = " OR ".join(builder.fill(each, x=f"n.{quoted(keys[0])}") for each in ranges)
    return ValueCondition(f"({by_index}) AND {condition}", parameters)


def _is_in_range(period: Period) -> bool:
    return all(abs(end[0]) < _MAX_YEAR for end in (period.first, period.after))


def _ends(period: Period) -> Mapping[str, str]:
    days = period.days
    return {
        "first_day": _date(days.first),
        "day_after": _date(days.after),
        "first": _date_time(period.first),
        "after": _date_time(period.after),
    }


def _date(moment: Moment) -> str:
    """The day of a moment in ISO 8601; a year of other than four digits has a sign."""
    year, month, day = map(int, moment[:3])
    sign = "-" if year < 0 else "+" if year > _FOUR_DIGITS else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _date_time(moment: Moment) -> str:
    hour, minute = map(int, moment[3:5])
    return f"{_date(moment)}T{hour:02}:{minute:02}:{moment[5]:012.9f}"


_NAMES = frozenset({"name", "label"})
"""Properties that mean any name of a node, unless the graph itself has a property of that name."""


class ListReader:
    """Answers the verbs `nodes` and `values`."""

    def __init__(self, entities: Entities) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._entities = entities

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes in the store's own order. Uses an index where there is one and the label is given.

        Raises:
            UnknownName: the graph has no such label or property.
            InvalidCursor: `after` is not a position in this list, or the length of the list has changed.
        """
        catalogue = await self._catalogue.with_names(label)
        label = catalogue.resolve_label(label) if label is not None else None
        condition = await self._condition(catalogue, label, property_name, value)
        parts = {"label": labelled(label), "condition": condition.text}
        parameters = condition.parameters
        skip = skipped_items(after, None)
        decoder = self._entities.decoder
        nodes = await self._session.items(
            queries.SELECTED, parts, **parameters, described=decoder.described_keys, skip=skip, limit=limit
        )
        total = len(nodes)
        if after is not None or total == limit:
            (total,) = await self._session.row(queries.SELECTED_COUNT, parts, **parameters)
        skipped_items(after, total)
        return await in_thread(len(nodes), lambda: list_page([decoder.entity(node) for node in nodes], skip, total))

    async def _condition(
        self, catalogue: Catalogue, label: str | None, property_name: str | None, value: str | None
    ) -> ValueCondition:
        if property_name is None:
            return ValueCondition("", {})
        keys = await self._catalogue.keys_of(property_name)
        if not keys and property_name.casefold() in _NAMES and value is not None:
            keys = catalogue.name_keys
        if not keys:
            raise catalogue.unknown_property("property", property_name)
        if value is None:
            return ValueCondition(f" WHERE {queries.WITH_PROPERTY}", {"keys": keys})
        indexed = label is not None and len(keys) == 1 and (label, keys[0]) in catalogue.indexed
        condition = value_condition(self._session.builder, keys, value, indexed=indexed)
        return ValueCondition(f" WHERE {condition.text}", condition.parameters)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """Distinct values (by text) of the nodes of a label or the edges of a type: numbers by size, then texts.

        Raises:
            UnknownName: the graph has no such property, label or relation.
            InvalidCursor: `after` is not a position in this list, or the length of the list has changed.
        """
        of_nodes = kind is ValueOwner.NODE
        with_names = self._catalogue.with_names
        catalogue = await (with_names(label=owner) if of_nodes else with_names(relation=owner))
        if owner is not None:
            owner = catalogue.resolve_label(owner) if of_nodes else catalogue.resolve_type(owner)
        keys = await self._catalogue.keys_of(property_name)
        if not of_nodes and keys and not (await self._session.row(queries.EDGE_WITH, keys=keys))[0]:
            keys = ()
        if not keys:
            raise catalogue.unknown_property("property" if of_nodes else "relationship property", property_name)
        skip = skipped_items(after, None)
        pattern = queries.NODES_OF if of_nodes else queries.EDGES_OF
        parts = {"pattern": self._session.builder.fill(pattern, label=labelled(owner))}
        pairs, (total,) = await gathered(
            self._session.items(queries.VALUES, parts, keys=keys, number=NUMBER, skip=skip, limit=limit),
            self._session.row(queries.VALUES_COUNT, parts, keys=keys),
        )
        skipped_items(after, total)
        literal = self._session.dialect.values.literal

        def page() -> Page[ValueFacts]:
            facts = [ValueFacts(literal(value, split_key(key)[1]), Count(number)) for (key, value), number in pairs]
            return list_page(facts, skip, total)

        return await in_thread(len(pairs), page)
