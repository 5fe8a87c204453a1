"""Python functions and aggregates that the query of a plan calls. `value_encoding` describes their values."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from operator import gt, itemgetter, lt
from typing import Any, Self, cast

from kgnav_mcp.adapters.embedded.plans import path_tables
from kgnav_mcp.adapters.embedded.plans import value_encoding as of_values
from kgnav_mcp.adapters.embedded.plans.value_encoding import DATE, NotEncodableError, Stored, decode, encode, sortable
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.concurrency import sorted_in_runs
from kgnav_mcp.model import Literal
from kgnav_mcp.plan import AggregateFunction
from kgnav_mcp.values.aggregates import aggregate
from kgnav_mcp.values.comparison import overlaps_period
from kgnav_mcp.values.scalars import Date, Growth, scalar
from kgnav_mcp.values.texts import matches_whole

_CACHE_SIZE = 20_000
"""Cached results of one function: about 4 MB."""
_WORD = 8
"""Bytes of a number that an aggregate holds."""
_SLOT = 64
"""Bytes of a member of a list in Python, beside its text."""
_COPIES, _LIST_COPIES = 4, 16
"""Bytes of memory for each byte of an argument while SQLite and Python hold copies of it.

For a list its members count too.
"""
_SMALL = 4_000
"""Bytes from which texts and lists are counted: there may be millions of smaller ones, whose memory SQLite limits."""


class Functions:
    """The functions that the queries of one session may call.

    `failure` is the error with which one of them ended the query.

    They are defined once for each session, because defining them again would make SQLite prepare all its queries again.
    """

    def __init__(self, builder: Builder) -> None:
        self.failure: Exception | None = None
        self._growth = Growth()
        self._prefixes = builder.prefixes
        self._sort_keys = path_tables.SortKeys(builder)
        self._cache_clears: list[Callable[[], None]] = [self._sort_keys.clear]
        labels = builder.catalogue.labels(builder.session).entries
        self.printed = {number: entry.printed for number, entry in labels.items()}
        self.relations = {number: entry.relation.id for number, entry in builder.relation_entries.items()}
        builder.session.define(**self._definitions())

    @classmethod
    @contextmanager
    def of(cls, builder: Builder) -> Generator[Self]:
        """Yields the functions of the builder's session, for one plan. Their caches are cleared afterwards."""
        functions = builder.session.get_or_create(cls, lambda: cls(builder))
        functions.failure, functions._growth = None, Growth()
        try:
            yield functions
        finally:
            functions.clear_caches()

    def clear_caches(self) -> None:
        """Clears all caches."""
        for clear in self._cache_clears:
            clear()

    def _aggregate(self, finished: Callable[[list[Any]], Stored], *, is_list: bool = False) -> type[Any]:
        """Returns an aggregate class for SQLite that collects the non-null values and passes them to `finished`.

        With `is_list`, the result is a list of them, and they are counted until they are in it.
        """
        guarded, count = self.guarded(finished), self.guarded(self._count_bytes)

        class Aggregate:
            def __init__(self) -> None:
                self._values: list[Any] = []
                self._size = 0

            def step(self, *values: Any) -> None:  # noqa: ANN401 - whatever SQLite gives
                if values[-1] is not None:
                    if is_list:
                        size = _COPIES * (_SLOT + _size(values[-1]))
                        self._size += size
                        count(size)
                    self._values.append(values[0] if len(values) == 1 else values)

            def finalize(self) -> Stored:
                count(-self._size)
                return guarded(self._values)

        return Aggregate

    def _of_numbers(self, function: AggregateFunction) -> type[Any]:
        """Returns the class for SQLite of an aggregate of numbers, which it holds as machine words and counts."""

        def finished(numbers: Sequence[float]) -> Stored:
            return encode(aggregate(function, numbers, None))

        guarded, count = self.guarded(finished), self.guarded(self._count_bytes)

        class Numbers:
            def __init__(self) -> None:
                self._numbers: array[int] | array[float] = array("q")
                self._counted = 0

            def step(self, value: Stored) -> None:
                if not isinstance(value, int | float):
                    return
                if isinstance(value, float) and self._numbers.typecode == "q":
                    self._numbers = array("d", self._numbers)
                self._numbers.append(value)  # pyright: ignore[reportArgumentType] - an integer fits both
                if len(self._numbers) * _WORD - self._counted > _SMALL:
                    self._counted += _SMALL
                    count(_SMALL)

            def finalize(self) -> Stored:
                count(-self._counted)
                return guarded(self._numbers)

        return Numbers

    def _extreme(self, is_better: Callable[[bytes, bytes], bool]) -> type[Any]:
        """Returns the class for SQLite of an aggregate that keeps one value: the one with the best sort key."""
        key_of = self.guarded(_sort_key)

        class Extreme:
            def __init__(self) -> None:
                self._value: Stored = None
                self._key: bytes | None = None

            def step(self, value: Stored) -> None:
                if value is not None and (self._key is None or value != self._value):
                    key = key_of(value)
                    if self._key is None or is_better(key, self._key):
                        self._value, self._key = value, key

            def finalize(self) -> Stored:
                return self._value

        return Extreme

    def _percentile(self, function: AggregateFunction) -> type[Any]:
        """Returns the class for SQLite of an aggregate of pairs: a share, and a number."""

        def finished(pairs: list[tuple[float, Stored]]) -> Stored:
            numbers = _numbers([value for _, value in pairs])
            return encode(aggregate(function, numbers, pairs[0][0])) if pairs else None

        return self._aggregate(finished, is_list=True)

    def _labels(self, numbers: list[int]) -> Stored:
        """Returns the printed names of labels as a sorted list."""
        return encode(tuple(sorted(self.printed[number] for number in numbers)))

    def _definitions(self) -> dict[str, Any]:
        guarded, cached, lists = self.guarded, self._cached, partial(self._aggregate, is_list=True)
        member = self._sort_keys.member
        return {
            "functions": {
                "kg_refuse": (0, guarded(_refuse)),
                "kg_value": (2, cached(guarded(self._value))),
                "kg_dated": (2, cached(guarded(self._value_or_date))),
                "kg_compare": (3, cached(guarded(of_values.compare))),
                "kg_matches": (2, guarded(matches_whole)),
                "kg_among": (2, cached(guarded(of_values.among))),
                "kg_call": (-1, cached(guarded(self._called))),
                "kg_calculate": (3, cached(guarded(self._counted(of_values.calculate)))),
                "kg_list": (-1, guarded(self._counted(of_values.listed))),
                "kg_members": (1, cached(guarded(self._counted(of_values.members)))),
                "kg_member": (2, guarded(of_values.member)),
                "kg_during": (5, cached(guarded(self._during))),
                "kg_values": (1, guarded(self._values)),
                "kg_short": (1, guarded(self._prefixes.short)),
                "kg_relation": (1, self.relations.get),
                "kg_called": (2, guarded(self._name_from_id)),
                "kg_sortable": (1, guarded(_sort_key)),
                "kg_qualifiers": (1, guarded(self._sort_keys.qualifiers_place)),
                "kg_path": (-1, guarded(path_tables.path)),
                "kg_part": (2, guarded(path_tables.part)),
                "kg_place": (1, guarded(self._sort_keys.sort_key)),
            },
            "aggregates": {
                "kg_labels": (1, self._aggregate(self._labels)),
                "kg_sum": (1, self._of_numbers(AggregateFunction.SUM)),
                "kg_avg": (1, self._of_numbers(AggregateFunction.AVERAGE)),
                "kg_deviation": (1, self._of_numbers(AggregateFunction.DEVIATION)),
                "kg_deviation_of_all": (1, self._of_numbers(AggregateFunction.DEVIATION_OF_ALL)),
                "kg_percentile": (2, self._percentile(AggregateFunction.PERCENTILE)),
                "kg_percentile_of_values": (2, self._percentile(AggregateFunction.PERCENTILE_OF_VALUES)),
                "kg_min": (1, self._extreme(lt)),
                "kg_max": (1, self._extreme(gt)),
                "kg_collect": (1, lists(lambda values: _encode_list(sorted_in_runs(values, _sort_key)))),
                "kg_collect_in_order": (3, lists(lambda rows: _encode_list(_in_order(rows)))),
                "kg_things": (1, lists(lambda values: path_tables.dumped(sorted_in_runs(values, member)))),
                "kg_things_in_order": (3, lists(lambda rows: path_tables.dumped(_in_order(rows)))),
            },
        }

    def guarded(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps a function: if it raises an error, which SQLite hides, `failure` is set."""

        def called(*values: Any) -> Any:  # noqa: ANN401 - whatever SQLite gives
            try:
                return work(*values)
            except Exception as error:
                self.failure = error
                raise

        return called

    def _count_bytes(self, size: int) -> None:
        """Counts bytes of a text or list that the plan makes.

        Raises:
            NotEncodableError: it makes too many. It is then evaluated outside SQLite, where the expression is known.
        """
        if not self._growth.add(size):
            raise NotEncodableError

    def _counted(self, work: Callable[..., Stored]) -> Callable[..., Stored]:
        """Wraps a function that makes texts or lists of its arguments: their bytes are counted first."""

        def counted(*values: Stored) -> Stored:
            size = sum(map(_size, values))
            if size >= _SMALL:
                self._count_bytes(size)
            return work(*values)

        return counted

    def _called(self, name: str, *values: Stored) -> Stored:
        """Returns the result of a plan's function. Bytes that it makes are counted first."""
        size = max(sum(map(_size, values)), _COPIES * of_values.call_size(name, *values))
        if size >= _SMALL:
            self._count_bytes(size)
        return of_values.call(name, *values)

    def _cached(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps a function with a cache, because the same values of a graph occur again and again.

        It tells 2 from 2.0, which divide differently.
        """
        cached = lru_cache(_CACHE_SIZE, typed=True)(work)
        self._cache_clears.append(cached.cache_clear)
        return cached

    def _scalar(self, text: str, datatype: str | None) -> str | int | float | bool:
        return scalar(Literal(text, self._prefixes.short(datatype) if datatype else None))

    def _value(self, text: str, datatype: str | None) -> Stored:
        return encode(self._scalar(text, datatype))

    def _value_or_date(self, text: str, datatype: str | None) -> Stored:
        """Like `_value`, but encodes dates so that they differ from texts."""
        value = self._scalar(text, datatype)
        return DATE + value.encode("utf-8", "replace") if isinstance(value, Date) else encode(value)

    def _during(self, stored: str | None, since: str, until: str, begin: str | None, end: str | None) -> bool:
        qualifiers = cast("dict[str, list[Any]]", json.loads(stored or "{}"))

        def values_of(keys: str) -> Iterator[object]:
            texts = (
                value for key in json.loads(keys) for value in qualifiers.get(key, ()) if not isinstance(value, dict)
            )
            return (self._scalar(text, datatype) for text, datatype, *_ in texts)

        return overlaps_period(values_of(since), values_of(until), begin, end)

    def _values(self, stored: str) -> Stored:
        """Returns the distinct values of a property: one as it is, several as a list with numbers first.

        Items of an array are a list in its order, with duplicates.
        """
        rows = [(item, self._scalar(text, kind)) for text, kind, item in json.loads(stored)]
        items = sorted((row for row in rows if row[0] is not None), key=itemgetter(0))
        found = {sortable(value): value for item, value in rows if item is None}
        values = [found[key] for key in sorted(found)]
        values.sort(key=lambda value: isinstance(value, bool) or not isinstance(value, int | float))
        if items:
            return encode((*(value for _, value in items), *values))
        return encode(tuple(values) if len(values) > 1 else values[0])

    def _name_from_id(self, key: str, mediator: int) -> str | None:
        from kgnav_mcp.adapters.naming import entity_name  # noqa: PLC0415 - few graphs need it

        return None if mediator or not ("://" in key or key.startswith("urn:")) else entity_name(key)


def _size(value: object) -> int:
    """Returns the bytes that a text or an encoded list takes with its copies; 0 for other values."""
    if isinstance(value, str):
        return _COPIES * len(value)
    return _LIST_COPIES * len(value) if isinstance(value, bytes) else 0


def _encode_list(values: Iterable[Stored]) -> Stored:
    return encode(tuple(map(decode, values)))


def _in_order(rows: list[tuple[int, int, Stored]]) -> Iterable[Stored]:
    """Returns the values of rows (place, distinct or not, value) by place, without duplicates if distinct."""
    values = [value for _, _, value in sorted(rows, key=lambda row: row[0])]
    return dict.fromkeys(values) if rows and rows[0][1] else values


def _numbers(values: list[Stored]) -> list[int | float]:
    return [value for value in values if isinstance(value, int | float)]


def _sort_key(value: Stored) -> bytes:
    """Returns the sort key of a value."""
    return sortable(decode(value))


def _refuse() -> None:
    raise NotEncodableError
