"""A list read by key is complete, and shows no row twice, in whatever order its store compares texts."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from rdflib import XSD, Literal, URIRef

from kgnav_mcp.adapters.paging.rows import Key, Place, Position
from kgnav_mcp.adapters.sparql_base.around.blocks import term_order
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.dialects import DIALECTS
from kgnav_mcp.adapters.sparql_base.paging import read_by_key
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row
from kgnav_mcp.adapters.sparql_base.results import Answer, Term
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Stop

Collation = Callable[[str], bytes]

QUERY = "$beyond $most"
LONG = "a common beginning that is longer than the part of a text that a key has, " * 2


def code_points(text: str) -> bytes:
    return text.encode("utf-32-be", "surrogatepass")


def utf_16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


class Shuffled:
    """A store that sorts by text alone: rows with the same text come in another order in each answer."""

    dialect: Dialect = PLAIN

    def __init__(self, terms: list[Term], collation: Collation) -> None:
        self.terms = terms
        self.collation = collation
        self.random = random.Random(3)  # noqa: S311 - no secret
        self.row_cap: int | None = None
        self.sorted: list[int] = []

    async def select(self, query: str, **_: object) -> Answer:
        beyond = re.match(r'FILTER\(STR\(\?o\) >= (".*")\)', query, re.DOTALL)
        start = "" if beyond is None else str(Literal(re.sub(r"\\(.)", _unescaped, beyond[1][1:-1])))
        most = int(query.rpartition(" ")[2])
        self.sorted.append(most)
        found = [term for term in self.terms if self.collation(str(term)) >= self.collation(start)]
        self.random.shuffle(found)
        found.sort(key=lambda term: self.collation(str(term)))
        cap = min(most, self.row_cap or most)
        rows = tuple({"o": term} for term in found[:cap])
        return Answer(rows, self.row_cap if self.row_cap is not None and len(rows) == self.row_cap < most else None)


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1])


def terms() -> list[Term]:
    """Texts with the same beginning, the same text in several languages and datatypes, any characters, and IRIs."""
    numbers = random.Random(1)  # noqa: S311 - no secret
    letters = 'ab \u00e9\u00df\u4e2d\U0001d11e\ue000\uffee\\"\n\r\t%|:'
    texts = {"".join(numbers.choices(letters, k=numbers.randint(0, 5))) for _ in range(300)}
    texts |= {LONG + str(number) for number in range(40)}
    found: list[Term] = [Literal(text) for text in texts]
    for text in sorted(texts)[:50]:
        found += [Literal(text, lang=language) for language in ("en", "de", "fr")]
        found += [Literal(text, datatype=XSD.string), Literal(text, datatype=URIRef("http://e.example/type"))]
    return [*found, *(URIRef(f"http://e.example/{number}") for number in range(60)), Literal("http://e.example/7")]


def order(row: Row) -> tuple[object, ...]:
    return term_order(row["o"])


async def followed(store: Shuffled, limit: int) -> list[Term]:
    """All rows, read page by page with positions that went through a text."""
    reader, key, found = Reader(store, {}, 60), Key(), list[Term]()
    while True:
        read = await read_by_key(reader, QUERY, key, limit, variable="o", order=order)
        page = read.rows[:limit]
        found += [row["o"] for row, _ in page]
        if read.stop is Stop.COMPLETE and len(read.rows) <= limit:
            return found
        position = Position(0, ("p",), Place(len(found), 0, page[-1][1])).write()
        key = Position.parse(position).place.key
        assert len(position) < 250


@pytest.mark.parametrize("collation", [code_points, utf_16])
@pytest.mark.parametrize("limit", [1, 7, 100, 10_000])
async def test_pages_of_any_size_have_every_row_once(limit: int, collation: Collation):
    expected = terms()
    found = await followed(Shuffled(expected, collation), limit)
    assert len(found) == len(expected)
    assert set(found) == set(expected)


async def test_the_order_is_the_same_for_pages_of_any_size():
    assert await followed(Shuffled(terms(), utf_16), 9) == await followed(Shuffled(terms(), utf_16), 64)


async def test_a_row_that_the_store_returns_twice_is_shown_once():
    expected = terms()
    assert len(await followed(Shuffled([*expected, *expected], code_points), 20)) == len(expected)


async def test_rows_that_were_removed_meanwhile_hide_no_others():
    expected = sorted(terms(), key=lambda term: (str(term), term_order(term)))
    store = Shuffled(expected, code_points)
    read = await read_by_key(Reader(store, {}, 60), QUERY, Key(), 200, variable="o", order=order)
    page, key = [row["o"] for row, _ in read.rows[:200]], read.rows[199][1]
    store.terms = [term for term in expected if term not in page]
    rest = await read_by_key(Reader(store, {}, 60), QUERY, key, 10_000, variable="o", order=order)
    assert {row["o"] for row, _ in rest.rows} >= {term for term in store.terms if str(term) > str(page[-1])}


async def test_an_answer_that_the_row_cap_cut_is_continued():
    expected = terms()
    store = Shuffled(expected, code_points)
    store.row_cap = 50
    found = await followed(store, 100)
    assert len(found) == len(set(found)) == len(expected)


async def test_a_store_that_does_not_sort_is_not_believed():
    store = Shuffled(terms(), lambda _: b"")
    with pytest.raises(Unsupported, match="cannot sort by text"):
        await read_by_key(Reader(store, {}, 60), QUERY, Key(), 500, variable="o", order=order)


def test_only_dialects_whose_order_was_tested_are_paged_by_number():
    assert {dialect.name for dialect in DIALECTS if dialect.stable_order} == {
        "virtuoso",
        "oxigraph",
        "qlever",
        "fuseki",
        "rdf4j",
    }
    assert {dialect.name for dialect in DIALECTS if not dialect.stable_distinct} == {"virtuoso"}


async def test_no_more_rows_are_sorted_than_the_store_allows():
    store = Shuffled(terms(), code_points)
    store.dialect = replace(PLAIN, max_sorted=70)
    found = await followed(store, 100)
    assert len(found) == len(set(found)) == len(terms())
    assert max(store.sorted) == 70
