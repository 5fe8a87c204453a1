"""Groups the matches of a pattern by values: properties and labels of nodes, and types of edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from rdflib import XSD, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.plans.patterns import Pattern
from kgnav_mcp.adapters.sparql_base.plans.writing import Writer, cannot_express
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated
from kgnav_mcp.adapters.sparql_base.value_conditions import scalar_of
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Cell, Entity
from kgnav_mcp.plan import Aggregate, AggregateFunction, Call, Constant, Function, Property, Variable
from kgnav_mcp.port.pattern_queries import GroupKey, PatternMatch, PatternQuery
from kgnav_mcp.values.arithmetic import average, total
from kgnav_mcp.values.scalars import NUMBERS, WHOLE_NUMBERS, scalar

SHARE = 0.5
"""The fraction of a call's time for each query. If it does not suffice, the pattern is matched edge by edge."""
_MAX_DISTINCT = 100_000
"""Distinct nodes, each for a spelling of a value, that are read at most."""
MAX_FEW = 2_000
"""Matches near known nodes up to which they are grouped here: a query for groups takes twice as long."""
_WHOLE = comma_separated(*(XSD[kind] for kind in sorted(WHOLE_NUMBERS)))
_FRACTIONS = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS - WHOLE_NUMBERS)))
_KINDS = {XSD[kind] for kind in NUMBERS}
_MAY_BE_NO_TEXTS = {*map(str, (*_KINDS, XSD.boolean))}
_WHOLE_KINDS = {XSD[kind] for kind in WHOLE_NUMBERS}


def bounded(reader: Reader, pattern: str) -> Fragment:
    """The pattern, with each match once, and limited in their number where the store has no time limit."""
    if reader.max_matches is None:
        return reader.each_once(pattern)
    return reader.part(queries.BOUNDED, pattern=Fragment(pattern), most=reader.max_matches)


class GroupReader:
    """Reads the groups of queries that have keys or measures (aggregated values)."""

    def __init__(self, reader: Reader, names: Names, writer: Writer) -> None:
        self._reader, self._names, self._writer = reader, names, writer
        self._several: set[frozenset[tuple[str, ...]]] = set()
        """Sets of properties of which one had several values at a node: single keys of them are refused at once."""

    async def groups(self, question: PatternQuery, pattern: Pattern, limit: int) -> Sequence[PatternMatch]:
        """The groups of a query.

        Raises:
            Unsupported: there are more than `limit`, the pattern has more matches than its bound, a node has several
                values of a property and these are no list, or SPARQL computes a value differently from plans.
        """
        lists = question.list_keys
        properties = frozenset(key.ids for key in _values(question) if isinstance(key, Property))
        if not lists and any(several <= properties for several in self._several):
            raise _several_values()
        for key in question.keys:
            if isinstance(key, Call) and isinstance(owned := key.arguments[0], Property):
                await self._writer.load_texts(owned)
        keys = [self._key(pattern, key, Fragment(f"?k{place}"), lists=lists) for place, key in enumerate(question.keys)]
        columns = list(dict.fromkeys(column.text for column, _ in keys))
        parts = [pattern.text, *(value for _, value in keys)]
        if question.measures:
            parts += self._measured(question, pattern)
            groups = [*columns, "?kind"]
            numbers, results = queries.MEASURES, queries.MEASURE_RESULTS
        else:
            groups = columns
            numbers, results = self._number(question, pattern), "?n"
        with_values = " ".join(part.text for part in parts if part.text)
        variables = [column.text.removeprefix("?") for column, _ in keys]
        if pattern.has_known_nodes and not question.measures:
            rows = await self._groups_of_few(question, pattern, columns, with_values, properties)
            if rows is not None:
                return await self._matches(question, pattern, rows, variables, with_values)
        read = await self._reader.select(
            queries.MATCHES_BY_VALUES,
            share=SHARE,
            columns=Fragment(" ".join(groups)),
            numbers=Fragment(numbers),
            results=Fragment(results),
            groups=self._reader.part(queries.GROUPED, nodes=Fragment(" ".join(groups))),
            pattern_with_values=bounded(self._reader, with_values),
            pattern=bounded(self._reader, pattern.text.text),
            most=limit + 1,
        )
        rows = self._checked(read.all_rows(), limit, properties)
        return await self._matches(question, pattern, rows, variables, with_values)

    def _key(self, pattern: Pattern, key: GroupKey, column: Fragment, *, lists: bool) -> tuple[Fragment, Fragment]:
        """The variable of a value that matches are grouped by, and the text that binds it.

        `column` is the variable to bind. The text is empty if the value already has a variable. `lists`: all values of
        a property at a node are one key, and labels may be.

        Raises:
            Unsupported: SPARQL cannot express the value for this store.
        """
        writer, value, letters = self._writer, Fragment(f"{column.text}v"), None
        match key:
            case Property() as owned:
                pass
            case Call(Function.LEFT, (Property() as owned, Constant(int() as letters))):
                pass
            case Call(Function.LABELS, (Variable(name),)) if lists:
                item, values = writer.labels(pattern.node(name), value)
                return column, self._list_key(pattern.node(name), column, item, values)
            case Call(Function.TYPE, (Variable(name),)):
                return pattern.relation(name), Fragment("")
            case _:
                raise cannot_express("a value of this kind")
        if (edge := pattern.edge_ends(owned.owner)) is not None:
            if lists:
                raise cannot_express("lists of values of an edge")
            values = writer.qualifier_values(edge, owned.ids[0], value)
        else:
            own = {"node": pattern.node(owned.owner), "property": writer.property(owned.ids[0])}
            values = writer.part(queries.PROPERTY_VALUES, **own, value=value)
        if lists:
            item = writer.part(queries.PROPERTY_ITEM, value=value)
            return column, self._list_key(pattern.node(owned.owner), column, item, values)
        shown = value
        if letters is not None:
            shown = writer.part(queries.FIRST_LETTERS, value=value, number=Literal(letters))
        none = URIRef(queries.NO_VALUE_IRI)
        return column, writer.part(queries.KEY, values=values, shown=shown, none=none, key=column)

    def _list_key(self, node: Fragment, column: Fragment, item: Fragment, values: Fragment) -> Fragment:
        """The text that binds a key of several items of a node, which are bound by `values`."""
        own = {"size": Fragment(f"{column.text}s"), "items": Fragment(f"{column.text}i"), "key": column}
        return self._writer.part(queries.LIST_KEY, node=node, item=item, values=values, **own)

    async def _groups_of_few(
        self,
        question: PatternQuery,
        pattern: Pattern,
        columns: Sequence[str],
        with_values: str,
        properties: frozenset[tuple[str, ...]],
    ) -> Sequence[Row] | None:
        """The groups, counted here after one pass over the pattern; None if there are more than a few matches.

        Raises:
            Unsupported: a node has several values of a property.
        """
        names = list(dict.fromkeys([*columns, *pattern.identity]))
        terms = {"columns": Fragment(" ".join(names)), "pattern_with_values": self._reader.each_once(with_values)}
        read = await self._reader.select(queries.MATCHES_WITH_VALUES, share=SHARE, most=MAX_FEW + 1, **terms)
        rows = read.all_rows()
        if len(rows) > MAX_FEW:
            return None
        values: dict[tuple[Term | None, ...], tuple[Term | None, ...]] = {}
        groups: dict[tuple[Term | None, ...], list[Term | None]] = {}
        counted = "" if question.counted is None else pattern.node(question.counted).text.removeprefix("?")
        for row in rows:
            key = tuple(row.get(name.removeprefix("?")) for name in columns)
            if values.setdefault(tuple(row.get(name.removeprefix("?")) for name in pattern.identity), key) != key:
                self._several |= {properties} if properties else set()
                raise _several_values()
            groups.setdefault(key, []).append(row.get(counted))
        return [
            {
                **{name.removeprefix("?"): term for name, term in zip(columns, key, strict=True) if term is not None},
                "n": Literal(len({*found}) if counted else len(found)),
            }
            for key, found in groups.items()
        ]

    def _number(self, question: PatternQuery, pattern: Pattern) -> str:
        counted = Fragment(queries.EACH)
        if question.counted is not None:
            counted = self._reader.part(queries.DIFFERENT, node=pattern.node(question.counted))
        return self._reader.filled(queries.NUMBER, counted=counted)

    def _measured(self, question: PatternQuery, pattern: Pattern) -> list[Fragment]:
        """The parts that bind the measured value, its datatype, and the number that it is."""
        _, value = self._key(pattern, _values(question)[-1], Fragment("?measured"), lists=False)
        none = URIRef(queries.NO_VALUE_IRI)
        return [value, self._reader.part(queries.MEASURED, whole=_WHOLE, fractions=_FRACTIONS, none=none)]

    def _checked(self, rows: Sequence[Row], limit: int, properties: frozenset[tuple[str, ...]]) -> Sequence[Row]:
        """The rows of groups, which are complete. Raises as `groups` does."""
        groups = [row for row in rows if "size" in row]
        matches = sum(number_in(row, "total") for row in rows if "size" not in row)
        bound = self._reader.max_matches
        if len(groups) > limit or (bound is not None and matches >= bound):
            raise cannot_express("this many groups or matches")
        if sum(number_in(row, "size") for row in groups) != matches:
            self._several |= {properties} if properties else set()
            raise _several_values()
        return groups

    async def _matches(
        self,
        question: PatternQuery,
        pattern: Pattern,
        rows: Sequence[Row],
        variables: Sequence[str],
        with_values: str,
    ) -> Sequence[PatternMatch]:
        """Convert groups. If several terms are one key, their distinct nodes are read, since they may share some."""
        found = await self._converted(question, rows, variables)
        if question.counted is None or len(found) == len(rows):
            return found
        node = pattern.node(question.counted)
        names = dict.fromkeys([*(f"?{name}" for name in variables), node.text])
        read = await self._reader.select(
            queries.DISTINCT_VALUES,
            share=SHARE,
            columns=Fragment(" ".join(names)),
            pattern_with_values=Fragment(with_values),
            most=_MAX_DISTINCT + 1,
        )
        pairs = read.all_rows()
        if len(pairs) > _MAX_DISTINCT:
            raise cannot_express("distinct nodes of a value with several spellings")
        return await self._converted(question, pairs, variables, counted=node.text.removeprefix("?"))

    async def _converted(
        self, question: PatternQuery, rows: Sequence[Row], variables: Sequence[str], *, counted: str | None = None
    ) -> Sequence[PatternMatch]:
        """Convert groups, or the distinct values of their keys and of the variable `counted`."""
        labelled = [name for key, name in zip(question.keys, variables, strict=True) if _is_labels(key)]
        types = await in_thread(
            len(rows), lambda: sorted({iri for row in rows for name in labelled for iri in _items(row.get(name))})
        )
        names = await self._names.classes(map(URIRef, types))
        labels = {str(iri): named.label for iri, named in names.items()}

        edges = {edge.variable for edge in question.match.edges}

        def cell(key: GroupKey, term: Term | None) -> Cell:
            if isinstance(key, Property) and key.owner in edges and type(term) is URIRef and not _is_none(term):
                return Entity(self._names.naming.short(term))
            if _is_labels(key):
                return tuple(sorted(labels[iri] for iri in set(_items(term))))
            is_list = question.list_keys and isinstance(key, Property)
            return _value_or_list(_items(term)) if is_list else self._cell(key, term)

        return await in_thread(len(rows), lambda: self._merged(question, rows, variables, cell, counted))

    @staticmethod
    def _merged(
        question: PatternQuery,
        rows: Sequence[Row],
        variables: Sequence[str],
        cell: Callable[[GroupKey, Term | None], Cell],
        counted: str | None,
    ) -> list[PatternMatch]:
        """Convert groups. Those of different terms with one value, such as `1` and `01`, are one group.

        So are 1 and 1.0 if distinct nodes are counted, since the counts of both could not be added afterwards.
        """
        identity = _identity if question.counted is None else _equality
        groups: dict[tuple[object, ...], tuple[tuple[Cell, ...], list[Row]]] = {}
        for row in rows:
            cells = tuple(cell(key, row.get(name)) for key, name in zip(question.keys, variables, strict=True))
            groups.setdefault(tuple(map(identity, cells)), (cells, []))[1].append(row)
        found: list[PatternMatch] = []
        for key, own in groups.values():
            sums = _Measures.of(own) if question.measures else None
            measures = () if sums is None else map(sums.result, question.measures)
            number = sum(number_in(row, "n") for row in own) if counted is None else len({row[counted] for row in own})
            found.append(PatternMatch((), number, keys=(*key, *measures)))
        return found

    def _cell(self, key: GroupKey, term: Term | None) -> Cell:
        if isinstance(key, Call) and key.function is not Function.LEFT:
            return self._names.naming.short(URIRef(str(term)))
        if _is_none(term):
            return None
        if not isinstance(term, Literal):
            raise cannot_express("a property whose values are nodes")
        if isinstance(key, Property):
            return scalar_of(term)
        kind, _, text = str(term).partition(" ")
        if kind in _MAY_BE_NO_TEXTS:
            raise cannot_express("the first characters of values that are no texts")
        return text


def _is_none(term: Term | None) -> bool:
    return term == URIRef(queries.NO_VALUE_IRI)


def _is_labels(key: GroupKey) -> bool:
    return isinstance(key, Call) and key.function is Function.LABELS


def _equality(cell: Cell) -> object:
    """A key that is equal for equal values: 1 and 1.0 are equal, 1 and true are not."""
    return tuple(map(_equality, cell)) if isinstance(cell, tuple) else (isinstance(cell, bool), cell)


def _identity(cell: Cell) -> object:
    """A key that is equal for equal values of the same type only: 1 is not true."""
    return tuple(map(_identity, cell)) if isinstance(cell, tuple) else (type(cell), cell)


def _values(question: PatternQuery) -> list[GroupKey]:
    """The keys of a query, and the property that it measures."""
    measured = (one.of for one in question.measures if isinstance(one.of, Property))
    return [*question.keys, *dict.fromkeys(measured)]


def _several_values() -> Unsupported:
    return cannot_express("groups by a property of which a node has several values")


def _items(term: Term | None) -> list[str]:
    """The items of a key that is a list.

    Raises:
        Unsupported: some are missing.
    """
    number, *items = str(term).split(" ")
    if number != str(len(items)):
        raise cannot_express("a list of values that the store does not return as a whole")
    return items


def _value_or_list(items: Iterable[str]) -> Cell:
    """The value of a property, or its distinct values: numbers first, then texts, then booleans."""
    found: dict[tuple[bool, object], str | int | float | bool] = {}
    for item in sorted(items):
        text, *kind = item.split("|")
        if len(kind) != 2:
            raise cannot_express("a property whose values are nodes")
        value = scalar(model.Literal(unquote(text), kind[0] or None))
        found[isinstance(value, bool), value] = value
    values = tuple(sorted(found.values(), key=lambda one: (isinstance(one, bool), isinstance(one, str), one)))
    return values if len(values) > 1 else next(iter(values), None)


@dataclass(frozen=True, slots=True)
class _Measures:
    """The values of one group: their number, and of the numbers among them the parts of each datatype."""

    values: int
    numbers: int
    sums: tuple[float, ...]
    minima: tuple[float, ...]
    maxima: tuple[float, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> _Measures:
        """Read the rows of a group, one for each datatype.

        Raises:
            Unsupported: the store has not added all numbers, or not exactly.
        """
        own = list(rows)
        numeric = [row for row in own if row.get("kind") in _KINDS]
        if any(number_in(row, "n") != number_in(row, "numbers") for row in numeric):
            raise cannot_express("a malformed number")
        parts = [[_number_of(row, name) for row in numeric] for name in ("sum", "min", "max")]
        return cls(
            sum(number_in(row, "n") for row in own),
            sum(number_in(row, "numbers") for row in numeric),
            *map(tuple, parts),
        )

    def result(self, one: Aggregate) -> Cell:
        """The value of an aggregate.

        Raises:
            Unsupported: it compares values that are not numbers.
        """
        match one.function:
            case AggregateFunction.COUNT:
                return self.values
            case AggregateFunction.SUM:
                return total(self.sums)
            case AggregateFunction.AVERAGE:
                return average(self.sums, self.numbers)
            case _ if self.values > self.numbers:
                raise cannot_express("the minimum or maximum of values that are not numbers")
            case AggregateFunction.MINIMUM:
                return min(self.minima, default=None)
            case _:
                return max(self.maxima, default=None)


def _number_of(row: Mapping[str, Term], name: str) -> float:
    """A number in a row of one datatype: an integer if this is one of integers."""
    term = row.get(name)
    value = scalar_of(term) if isinstance(term, Literal) else None
    is_whole = row["kind"] in _WHOLE_KINDS
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float) or not math.isfinite(value):
        raise cannot_express("a sum of numbers of this kind")
    return value if is_whole else float(value)
