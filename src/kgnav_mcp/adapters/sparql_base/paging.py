"""Pages of lists of nodes and values: positions, the marks of an incomplete list, and reading long lists by key.

A store whose rows come in another order at each request is read by key. A query sorts by the text of one variable, from
a text on: `FILTER(STR(?o) >= "...") ... ORDER BY STR(?o) LIMIT`. Rows with the same text (other languages or datatypes,
an IRI and a literal) are sorted here, since not every store can tell them apart: Blazegraph holds both "a" and
"a"^^xsd:string, with the same text, language and datatype. Texts are never compared here, so that the collation of the
store does not matter: code points, or UTF-16 as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeVar

from rdflib import Literal

from kgnav_mcp.adapters.paging.rows import Key
from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.queries import BEYOND, SORTED
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, Value
from kgnav_mcp.adapters.sparql_base.terms import Fragment, sendable
from kgnav_mcp.model import Certainty, Count, Page, Stop
from kgnav_mcp.port.lists import items_before

T = TypeVar("T")

_FIRST = Key()

_FORM = re.compile(r"(\d{1,13})(:\d{1,13}:.*)", re.ASCII | re.DOTALL)

MAX_SORTED = 5_000
"""A list of at most this many items is read in full and sorted."""

UNSORTED = f"These are more than {MAX_SORTED:,} values, in the store's own order: not sorted."
"""The note on a page of a longer list of values."""


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position in a list: the number of items before it and, in a list that is read by key, the key."""

    skip: int = 0
    key: Key = _FIRST

    def write(self) -> str:
        """The position as text, as pages give it out."""
        return f"{self.skip}{self.key.write()}"

    @classmethod
    def parse(cls, after: str | None) -> ListPosition:
        """The position that a page gave out as text; None is the start of the list.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        match = None if after is None else _FORM.fullmatch(after)
        return cls(items_before(after)) if match is None else cls(int(match[1]), Key.parse(match[2]))


def page_stop(total: Count, skip: int, read: int, limit: int) -> Stop:
    """Stop.LIMIT if more items follow the page, else Stop.COMPLETE.

    Without an exact total, a full page is assumed not to be the last.
    """
    more = skip + read < total.value if total.certainty is Certainty.EXACT else read >= limit
    return Stop.LIMIT if more else Stop.COMPLETE


def raised_total(total: Count, shown: int) -> Count:
    """The total of a list of which `shown` items have been shown: a lower bound is raised to at least that."""
    return total if total.certainty is Certainty.EXACT else Count.at_least(max(total.value, shown))


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the nodes of a list. It may be narrower than the user's; `note` then says how."""

    text: str | None
    """The SPARQL pattern; None: no node can meet the condition."""
    stop: Stop = Stop.COMPLETE
    """Why nodes may be missing from the list."""
    note: str = ""
    """What the condition excludes, shown to the user."""

    def of(self, page: Page[T]) -> Page[T]:
        """Mark a page of the nodes that meet the condition as incomplete, where the condition is narrower."""
        return truncated(page, self.stop, self.note)


def truncated(page: Page[T], stop: Stop = Stop.COMPLETE, note: str = "") -> Page[T]:
    """Mark a page of a list as one that may lack items, because of `stop` or as `note` says.

    Its total becomes a lower bound. With a `stop`, even the last page does not end the list.
    """
    if stop is Stop.COMPLETE and not note:
        return page
    total = page.total
    if total.certainty is Certainty.EXACT:
        total = Count.at_least(total.value)
    note = " ".join(filter(None, (page.note, note)))
    return replace(page, total=total, stop=stop if page.stop is Stop.COMPLETE else page.stop, note=note)


SHARE: Final = 0.5
"""The fraction of a call's time that sorting may take. The rest is for the first rows without an order."""
_EVERY_ROW: Final = 1_000_000_000
"""More rows than any list has."""
_KEY_CHARACTERS: Final = 60
"""Maximum length of the text in a key, which clients copy."""
_MARGIN: Final = 20
"""Rows that are read beyond a page: those with the last text are left out, since others with it may not be there."""
_UNSENDABLE: Final = re.compile(r"[\x00\ud800-\udfff]")

SortKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The next rows of a list, each with the key after it.

    `stop` is COMPLETE if nothing follows, LIMIT if more rows do.
    """

    rows: Sequence[tuple[Row, Key]]
    stop: Stop


async def read_by_key(
    reader: Reader,
    template: str,
    start: Key,
    limit: int,
    *,
    variable: str,
    order: Callable[[Row], SortKey],
    share: float = SHARE,
    **terms: Value,
) -> KeyedRows:
    """The next rows, at least `limit` if there are so many, sorted by the text of `?variable` and then by `order`.

    `template` sorts by that text, and has the placeholders $beyond and $most. Equal rows are returned once.

    Raises:
        StoreTimeout: the store did not sort them within `share` of the call's time.
        Unsupported: the store does not sort by text, or its row cap is below the number of rows with one text.
    """
    node = Fragment(f"?{variable}")
    beyond = reader.part(BEYOND, node=node, text=Literal(start.text)) if start.text else Fragment("")
    most = reader.dialect.max_sorted or _EVERY_ROW
    size = min(start.passed + limit + _MARGIN, most)
    while True:
        read = await reader.select(template, share=share, beyond=beyond, most=size, **terms)
        if read.stop is Stop.TIME_OUT:  # any of the rows may be missing
            raise errors.stopped_by_store()
        whole = read.stop is Stop.COMPLETE and len(read.rows) < size
        rows = _sorted(read.rows, variable, order, whole=whole)
        keyed = _after(rows, variable, start)
        if whole or keyed:
            return KeyedRows(keyed, Stop.COMPLETE if whole else Stop.LIMIT)
        if read.stop is Stop.ROW_CAP or size == most:
            raise errors.capped()
        size = min(2 * size, most)


async def read_list_by_key(
    reader: Reader, template: str, start: Key, limit: int, *, variable: str, share: float = 1.0, **terms: Value
) -> KeyedRows:
    """The next rows of a list, without those whose `?variable` is a blank node.

    `template` is the query for the list, with the placeholders $skip and $most. Raises as `read_by_key` does.
    """
    query = reader.part(template, skip=0, most=_EVERY_ROW, **terms)
    return await read_by_key(
        reader,
        SORTED,
        start,
        limit,
        variable=variable,
        order=lambda row: tuple((name, term.n3()) for name, term in sorted(row.items())),
        share=share,
        query=query,
        node=Fragment(f"?{variable}"),
    )


def _sorted(rows: Iterable[Row], variable: str, order: Callable[[Row], SortKey], *, whole: bool) -> list[Row]:
    """The rows of each text, sorted. Unless the answer is `whole`, the last text is left out: more rows may have it."""
    runs = [list(run) for _, run in groupby(rows, key=lambda row: str(row[variable]))]
    if len({str(run[0][variable]) for run in runs}) < len(runs):
        raise errors.not_sorted()
    if not whole and runs:
        runs.pop()
    distinct = ({frozenset(row.items()): row for row in run}.values() for run in runs)
    return [row for run in distinct for row in sorted(run, key=order)]


def _after(rows: Sequence[Row], variable: str, start: Key) -> list[tuple[Row, Key]]:
    """The rows after a key, each with the key behind it."""
    texts = [str(row[variable]) for row in rows]
    repeated = sum(1 for text in texts if text.startswith(start.text)) if start.text else len(texts)
    passed = min(start.passed, repeated)  # fewer have this beginning if some were removed meanwhile
    keyed: list[tuple[Row, Key]] = []
    beginning, first = "", 0
    for n, text in enumerate(texts):
        if (cut := _beginning(text)) != beginning or not n:
            beginning, first = cut, n
            while first and texts[first - 1].startswith(beginning):
                first -= 1
        if n >= passed:
            known = not start.text.startswith(beginning) or beginning == start.text
            # Of a beginning that comes before the key, the first rows were not read.
            keyed.append((rows[n], Key(n - first + 1, beginning) if known else Key(n + 1, start.text)))
    return keyed


def _beginning(text: str) -> str:
    """The beginning of a text that goes into a key: a query can carry it."""
    if not sendable(text):
        text = _UNSENDABLE.split(text)[0]
    return text[:_KEY_CHARACTERS]
