"""Lists nodes by label and value. Stored values that equal the requested one in any spelling are looked up first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.rows import Builder, node_behind
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.wikibase_values import QUANTITY
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, Entity, Literal, Page, Stop
from kgnav_mcp.values.comparison import Period, WantedValue
from kgnav_mcp.values.scalars import DATATYPES

_INDEXED_LENGTH = 64
_LAST_CHARACTER = "\U0010ffff"
_MAX_DIGITS = 15
"""Digits that all texts of a float share: further ones may be rounded differently."""
_MAX_ZEROS = 20
"""Superfluous zeros at either end of a number, at most."""
_KINDS = ("double", "integer", "date", "boolean")
"""A value that is not a text is one of these, too, whatever its datatype."""
_BOOLEANS = {"true": "1", "false": "0"}
_ZEROS = ["0" * count for count in range(_MAX_ZEROS + 1)]


def equal_values(builder: Builder, property_: RelationEntry, value: str) -> list[tuple[str, str]]:
    """Returns the stored values that equal the requested one in another spelling, each with its possible datatypes.

    Datatypes are separated and enclosed by blanks. A quantity of a Wikibase is compared without its unit.
    """
    wanted_value = WantedValue.read(value)
    ranges: set[tuple[str, str]] = set()
    if wanted_value.number is not None:
        signs = ["-"] if wanted_value.number < 0 else ["", "+"] if wanted_value.number > 0 else ["", "+", "-"]
        starts = [
            (sign + start, prefix) for sign, (start, prefix) in product(signs, _texts_of_number(wanted_value.number))
        ]
        if builder.session.one(queries.lists.LIKE_NUMBERS, property_.id):
            ranges |= {(start, _end(start, prefix=prefix)) for start, prefix in starts}
        if (QUANTITY,) in builder.session.all(queries.lists.DATATYPES_OF, property_.id):
            with_blank = [f"{start} " for start, prefix in starts if not prefix]
            ranges |= {(start, _end(start, prefix=True)) for start in with_blank}
    if wanted_value.period is not None:
        ranges |= {(start, _end(start, prefix=True)) for start in _years(wanted_value.period)}
    if value in _BOOLEANS:
        ranges.add((_BOOLEANS[value], _end(_BOOLEANS[value], prefix=False)))
    if not ranges:
        return []
    beginnings = builder.session.all(queries.lists.TEXTS_BETWEEN, property_.id, json.dumps(sorted(ranges)))
    return [
        (text, f" {' '.join(datatypes)} ")
        for text in _whole_texts(builder, property_, [text for (text,) in beginnings])
        if text != encodable(value) and (datatypes := _datatypes(wanted_value, text))
    ]


def _datatypes(wanted_value: WantedValue, text: str) -> list[str]:
    """Returns the datatypes with which a stored text equals a wanted value."""
    number, _, unit = text.partition(" ")
    datatypes = [QUANTITY] if unit and wanted_value.equals(Literal(number, QUANTITY)) else []
    if any(wanted_value.equals(Literal(text, kind)) for kind in _KINDS):
        datatypes += [datatype for datatype in DATATYPES if wanted_value.equals(Literal(text, datatype))]
    return datatypes


def _end(start: str, *, prefix: bool) -> str:
    """Returns the end of the range of texts that begin so, or of this one text, as the index has them."""
    return start[:_INDEXED_LENGTH] + (_LAST_CHARACTER if prefix else "\1")


def _whole_texts(builder: Builder, property_: RelationEntry, beginnings: list[str]) -> Iterator[str]:
    for text in beginnings:
        if len(text) < _INDEXED_LENGTH:
            yield text
        else:
            rows = builder.session.all(queries.lists.VALUES_BEGINNING, property_.id, text, -1, None)
            yield from dict.fromkeys(row[0] for row in rows)


def _texts_of_number(number: float) -> Iterator[tuple[str, bool]]:
    """Yields the texts that may be a number, without a sign; or, with True, beginnings of them.

    They are not all equal to the number: what follows a beginning decides, such as an exponent.
    """
    whole, _, fraction = f"{abs(Decimal(repr(number))):f}".partition(".")
    fraction = fraction.rstrip("0")
    for zeros in _ZEROS:
        yield f"{whole}.{fraction}{zeros}", False
        if whole == "0":
            yield f".{fraction}{zeros}", False
    if not fraction:
        yield whole, False
    digits = (whole + fraction).strip("0")[:_MAX_DIGITS]
    if not digits:
        yield from ((f"{zeros}{tail}", True) for zeros, tail in product(_ZEROS[1:], ("0", "e", "E", ".0e", ".0E")))
        return
    # Leading zeros, or a long number whose last digits may be rounded
    yield from ((f"{zeros}{mantissa}", True) for zeros, mantissa in product(_ZEROS[1:], _with_point(digits)))
    yield from ((f"{point}{zeros}{digits}", True) for point, zeros in product(("0.", "."), _ZEROS))
    if len(digits) == _MAX_DIGITS:
        yield from ((mantissa, True) for mantissa in _with_point(digits))
        return
    # An exponent
    for mantissa, zeros, mark in product(_with_point(digits), _ZEROS, "eE"):
        yield f"{mantissa}{zeros}{mark}", True
        if mantissa == digits:
            yield f"{mantissa}.{zeros}{mark}", True
            yield f"{mantissa}{zeros}.0{mark}", True


def _with_point(digits: str) -> list[str]:
    return [digits, *(f"{digits[:place]}.{digits[place:]}" for place in range(1, len(digits)))]


def _years(period: Period) -> Iterator[str]:
    """Yields the years with which an equal date may begin: a zone may move it by a day."""
    for year in range(int(period.first[0]) - 1, int(period.after[0]) + 2):
        yield f"{abs(year):04}"
        if year < 0:
            yield f"-{-year:04}"


Totals = dict[object, int]
"""Cached counts that are expensive to compute. They stay valid while a file is open, because it never changes."""

_MAX_TOTALS = 10_000
_NAME_PROPERTIES = frozenset({"name", "label"})
"""Property names that mean a node's name, unless the graph has a property of that name."""

_WITH_PROPERTY = {
    (True, False): queries.lists.NODES_WITH_PROPERTY,
    (False, True): queries.lists.NODES_WITH_RELATION,
    (True, True): queries.lists.NODES_WITH_PROPERTY_OR_RELATION,
}
"""Queries by whether a property has literals, and whether it has nodes as values."""


class NodeFinder:
    """Answers `nodes`, within one job. Nodes are sorted by their number in the file, which is also their position."""

    def __init__(self, builder: Builder, totals: Totals) -> None:
        self._builder = builder
        self._session = builder.session
        self._totals = totals

    def page(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Returns one page of the nodes that meet every given condition.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        entry = self._builder.catalogue.labels(self._session).one("label", label) if label is not None else None
        value = encodable(value) if value is not None else None
        if property_name is None:
            query, parameters = (queries.lists.NODES_WITH_LABEL if entry else queries.lists.ALL_NODES), {}
        else:
            property_ = property_entry(self._builder, property_name)
            query, parameters = self._with_property(property_name, property_, value, entry)
        return self._read_page(query, {**parameters, "label": entry.id if entry else None}, entry, limit, after)

    def _with_property(
        self, name: str, property_: RelationEntry | None, value: str | None, label: LabelEntry | None
    ) -> tuple[str, dict[str, Parameter]]:
        """Returns the query for nodes with a property, or with a value of it, and its parameters."""
        if property_ is None:
            if name.casefold() not in _NAME_PROPERTIES or value is None:
                raise unknown_property(self._builder, name)
            return queries.lists.NODES_WITH_NAME, {"value": value}
        if value is None:
            if label is not None:
                return queries.lists.NODES_WITH_LABEL_AND_PROPERTY, {"property": property_.id}
            return _WITH_PROPERTY[property_.attributes > 0, property_.edges > 0], {"property": property_.id}
        return self._with_value(property_, value)

    def _with_value(self, property_: RelationEntry, value: str) -> tuple[str, dict[str, Parameter]]:
        """Returns the query for nodes with a value of a property, a literal or a node, and its parameters."""
        if not property_.attributes:
            return queries.lists.NODES_WITH_TAIL, {"property": property_.id, "tails": self._tail_nodes(value)}
        others = equal_values(self._builder, property_, value)
        if not others and not property_.edges:
            return queries.lists.NODES_WITH_VALUE, {"property": property_.id, "value": value}
        parameters: dict[str, Parameter] = {"property": property_.id, "values": json.dumps([(value, None), *others])}
        if not property_.edges:
            return queries.lists.NODES_WITH_EQUAL_VALUES, parameters
        return queries.lists.NODES_WITH_EQUAL_VALUES_OR_TAIL, {**parameters, "tails": self._tail_nodes(value)}

    def _tail_nodes(self, value: str) -> str:
        """Returns as JSON the nodes that a value means by id or name, for a property that leads to nodes."""
        by_id = [row[0] for row in entities.resolved(self._builder, [value]).values()]
        by_name = self._session.all_named(
            queries.lists.NODES_WITH_NAME, {"value": value, "label": None, "after": 0, "limit": -1}
        )
        return json.dumps(sorted({*by_id, *(node for (node,) in by_name)}))

    def _read_page(
        self, query: str, parameters: Mapping[str, Parameter], label: LabelEntry | None, limit: int, after: str | None
    ) -> Page[Entity]:
        rows = self._session.all_named(query, {**parameters, "after": node_behind(after), "limit": limit + 1})
        numbers = [number for (number,) in rows]
        described = entities.described_by_number(self._builder, numbers[:limit])
        all_read = after is None and len(numbers) <= limit
        return Page(
            items=tuple(described[number] for number in numbers[:limit]),
            positions=tuple(map(str, numbers[:limit])),
            total=Count(len(numbers) if all_read else self._total(query, parameters, label)),
            stop=Stop.LIMIT if len(numbers) > limit else Stop.COMPLETE,
        )

    def _total(self, query: str, parameters: Mapping[str, Parameter], label: LabelEntry | None) -> int:
        if query == queries.lists.NODES_WITH_LABEL and label is not None:
            return label.size
        if query == queries.lists.ALL_NODES:
            return self._builder.catalogue.entities
        key = (query, *sorted(parameters.items()))
        if key not in self._totals:
            if len(self._totals) >= _MAX_TOTALS:
                self._totals.clear()
            (row,) = self._session.all_named(queries.lists.NODE_COUNTS[query], {**parameters, "after": 0, "limit": -1})
            self._totals[key] = row[0]
        return self._totals[key]


def property_entry(builder: Builder, name: str) -> RelationEntry | None:
    """Returns the property with this id or name, preferably one with literals, else a relation to nodes, else None."""
    names = builder.catalogue.relations(builder.session)
    return names.get(name, lambda entry: entry.attributes > 0) or names.get(name, lambda entry: entry.edges > 0)


def unknown_property(builder: Builder, name: str) -> UnknownName:
    """Returns the error for a property that the graph does not have, with the most similar names."""
    names = builder.catalogue.relations(builder.session)
    return UnknownName("property", name, names.nearest(name, lambda entry: entry.size > 0))
