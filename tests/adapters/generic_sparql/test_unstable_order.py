"""Long lists of stores without a stable order of rows, and what is said of those that the store cannot sort."""

from __future__ import annotations

import re

import pytest

from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import InvalidCursor, Unsupported
from kgnav_mcp.model import Completeness, Count, Direction, Stop
from kgnav_mcp.render.table import completeness_line
from tests.adapters.generic_sparql.inprocess import lists_of, rows_of
from tests.adapters.sparql_base.inprocess import InProcess

ENTITIES, BLANKS = 1_500, 40
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
PREFIX = "PREFIX ex: <http://ex.example/>\n"


def hub(entities: int, blanks: int) -> str:
    lines = [f'ex:star ex:likes ex:fan{n} . ex:fan{n} {LABEL} "Fan {n}" .' for n in range(entities)]
    lines += [f"ex:star ex:likes [ ex:day {n} ] ." for n in range(blanks)]
    return PREFIX + "\n".join(lines)


async def pages(client: InProcess, limit: int) -> list[str]:
    """All rows of the hub, page by page."""
    found: list[str] = []
    after = None
    while True:
        page = await rows_of(client, "ex:star", Direction.OUTGOING, limit, after=after)
        found += map(str, page.items)
        assert page.total == Count(ENTITIES + BLANKS)
        if page.stop is Stop.COMPLETE:
            return found
        after = page.positions[-1]


@pytest.mark.parametrize("limit", [60, 750, 1_500, 1_520])
async def test_the_pages_of_a_hub_have_every_row_once_blank_nodes_last(limit: int):
    client = InProcess(hub(ENTITIES, BLANKS), dialect=PLAIN)
    found = await pages(client, limit)
    assert len(found) == len(set(found)) == ENTITIES + BLANKS
    assert not any(skips_rows(query) for query in client.queries)


def skips_rows(query: str) -> bool:
    return "OFFSET" in query and "OFFSET 0 " not in query


async def test_a_list_that_the_store_cannot_sort_gives_its_first_rows_and_its_total_but_no_more():
    client = InProcess(hub(ENTITIES, BLANKS), dialect=PLAIN, slow=["ORDER BY"])
    page = await rows_of(client, "ex:star", Direction.OUTGOING, 100)
    assert (len(page.items), page.total, page.stop) == (100, Count(ENTITIES + BLANKS), Stop.UNORDERED)
    with pytest.raises(InvalidCursor):
        await rows_of(client, "ex:star", Direction.OUTGOING, 100, after=page.positions[-1])


async def test_of_more_blank_nodes_than_can_be_sorted_the_total_is_given():
    client = InProcess(hub(10, 5_100), dialect=PLAIN)
    page = await rows_of(client, "ex:star", Direction.OUTGOING, 100)
    assert (len(page.items), page.total, page.stop) == (10, Count(5_110), Stop.UNORDERED)


async def test_a_cursor_of_a_store_that_pages_by_number_is_refused():
    stable = InProcess(hub(ENTITIES, BLANKS))
    page = await rows_of(stable, "ex:star", Direction.OUTGOING, 100)
    with pytest.raises(InvalidCursor):
        await rows_of(
            InProcess(hub(ENTITIES, BLANKS), dialect=PLAIN),
            "ex:star",
            Direction.OUTGOING,
            100,
            after=page.positions[-1],
        )


class Reordering(InProcess):
    """Returns rows without duplicates in another order each time, unless they are sorted."""

    cap: int | None = None

    async def select(self, query: str, **options: object) -> Answer:
        part = re.search(r"OFFSET (\d+) LIMIT (\d+)\s*$", query)
        if part is None or "DISTINCT" not in query:
            return await super().select(query, **options)
        every = (await super().select(query[: part.start()], **options)).rows
        turned = 1_000 * len(self.queries) % max(len(every), 1)
        skip, most = map(int, part.groups())
        cap = most if self.cap is None else min(most, self.cap)
        rows = (*every[turned:], *every[:turned])[skip : skip + cap]
        return Answer(rows, self.cap if len(rows) == cap < most else None)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [PLAIN, VIRTUOSO], ids=lambda dialect: dialect.name)
async def test_long_lists_of_nodes_and_of_values_have_every_item_once(dialect: Dialect):
    texts = "\n".join(f'ex:fan{n} a ex:Fan ; ex:nick "{n}", "{n}"@en .' for n in range(5_100))
    client = Reordering(PREFIX + texts, dialect=dialect)
    lists = await lists_of(client)
    nodes, values = list[str](), list[str]()
    after = None
    while True:
        page = await lists.nodes("ex:Fan", None, None, 1_800, after)
        nodes += [entity.id for entity in page.items]
        assert page.total == Count(5_100)
        if page.stop is Stop.COMPLETE:
            break
        after = page.positions[-1]
    assert len(nodes) == len(set(nodes)) == 5_100
    after = None
    while True:
        listed = await lists.values("ex:nick", None, 3_300, after)
        values += [f"{fact.value.text}@{fact.value.language}" for fact in listed.items]
        if listed.stop is Stop.COMPLETE:
            break
        after = listed.positions[-1]
    assert len(values) == len(set(values)) == 10_200


async def test_a_short_list_in_parts_of_another_order_is_refused():
    fans = "\n".join(f"ex:fan{n} a ex:Fan ." for n in range(2_500))
    client = Reordering(PREFIX + fans, dialect=VIRTUOSO)
    reader = (await lists_of(client)).nodes
    assert len((await reader("ex:Fan", None, None, 5_000, None)).items) == 2_500
    client.cap = 1_000
    with pytest.raises(Unsupported, match="a list that has no stable order"):
        await reader("ex:Fan", None, None, 5_000, None)


def test_the_first_line_says_that_a_list_cannot_be_continued():
    line = completeness_line(Completeness(1_000, Count(8_642), Stop.UNORDERED), "rows")
    assert line.startswith("showing 1,000 of 8,642 rows; no further pages, because the store could not sort the list.")
