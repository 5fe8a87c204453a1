"""What a value means, and what a property leads to, is not said to be all where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kgnav_mcp.model import Count, Direction, Stop
from tests.adapters.sparql.stub import Exchange, always
from tests.adapters.wikidata.stubbed import (
    BASE,
    PARTIAL,
    Cells,
    Endpoint,
    iri,
    literal,
    number,
    opened,
    query_of,
    wikibase,
)

LABEL = iri("http://www.w3.org/2000/01/rdf-schema#label")
BEARERS = r"VALUES \?p"
FOLLOWED = 500
ROW_CAP = "X-SPARQL-MaxRows: {rows}"


def _graph(namesakes: int, *, capped: bool = False) -> Endpoint:
    """A graph with so many items that are called human, and two that are instances of some of them."""
    humans = [iri(f"{BASE}/entity/Q{n}") for n in range(1, namesakes + 1)]
    called: list[Cells] = [{"s": human, "p": LABEL, "o": literal("human", "en")} for human in humans]
    instances = [{"s": iri(f"{BASE}/entity/Q{n}")} for n in (9_001, 9_002)]
    answers: list[tuple[str, Sequence[Cells]]] = [
        (r"SELECT DISTINCT \?s WHERE .*OFFSET", instances),
        (BEARERS, called),
        (r"VALUES \?any", [{"n": number(2)}]),
        (r"rdfs:label \?o FILTER", [{"s": cells["s"], "o": literal("human", "en")} for cells in (*called, *instances)]),
    ]
    return Endpoint(*answers, cut=[BEARERS] if capped else [], said=ROW_CAP.format(rows=namesakes))


@pytest.mark.parametrize(
    ("namesakes", "total", "stop"),
    [(FOLLOWED, Count(2), Stop.COMPLETE), (FOLLOWED + 1, Count.at_least(2), Stop.LIMIT)],
)
async def test_a_list_for_more_namesakes_than_are_followed_is_not_said_to_be_all(
    namesakes: int, total: Count, stop: Stop
):
    async with opened(wikibase(_graph(namesakes))) as (graph, _):
        page = await graph.nodes(None, "P31", "human", limit=5)
        assert ([entity.id for entity in page.items], page.total, page.stop) == (["wd:Q9001", "wd:Q9002"], total, stop)
        page = await graph.nodes(None, "P31", "Q5", limit=5)
        assert (page.total, page.stop) == (Count(2), Stop.COMPLETE)


async def test_namesakes_that_the_row_cap_left_out_make_the_end_of_a_list_no_end():
    async with opened(wikibase(_graph(3, capped=True))) as (graph, _):
        for name, least in (("P31", 2), ("label", 3)):
            first = await graph.nodes(None, name, "human", limit=1)
            assert (len(first.items), first.total, first.stop) == (1, Count.at_least(least), Stop.LIMIT)
            last = await graph.nodes(None, name, "human", limit=1, after=str(least - 1))
            assert (len(last.items), last.total, last.stop) == (1, Count.at_least(least), Stop.ROW_CAP)


CLASSES = r"WHERE \{ \?s \S+ \?o \} GROUP BY \?o"


def _classes(*, whole: bool, number_of: int = 3) -> Endpoint:
    """A graph with so many classes, of which the first two are called city, or of which only some are known."""
    classes = [{"o": iri(f"{BASE}/entity/Q{n}"), "n": number(9_000 - n)} for n in range(1, number_of + 1)]
    labels = [{"s": cells["o"], "o": literal("city" if n < 2 else "x", "en")} for n, cells in enumerate(classes)]
    return Endpoint(
        (CLASSES, classes),
        (r"SELECT DISTINCT \?s WHERE .*OFFSET", [{"s": iri(f"{BASE}/entity/Q9001")}]),
        (r"AS \?n\) WHERE \{ SELECT DISTINCT", [{"n": number(1)}]),
        (r"rdfs:label \?o FILTER", labels),
        cut=[] if whole else [CLASSES],
        said=PARTIAL,
    )


@pytest.mark.parametrize(
    ("whole", "number_of", "all_named"), [(True, 3, True), (False, 3, False), (True, 2_001, False)]
)
async def test_a_list_over_a_name_that_other_classes_may_have_is_not_said_to_be_all(
    whole: bool, number_of: int, all_named: bool
):
    async with opened(wikibase(_classes(whole=whole, number_of=number_of))) as (graph, _):
        page = await graph.nodes("city", None, None, limit=5)
        assert page.total == (Count(1) if all_named else Count.at_least(1))
        assert page.note == (
            "" if all_named else "Other classes may be called 'city', too: followed were wd:Q1, wd:Q2."
        )
        assert page.stop is Stop.COMPLETE
        page = await graph.nodes("Q1", None, None, limit=5)
        assert (page.total, page.note) == (Count(1), "")


RELATIONS: list[tuple[str, Sequence[Cells]]] = [
    ("AS .number", []),
    (
        "GROUP BY",
        [{"s": iri(f"{BASE}/entity/Q7"), "p": iri(f"{BASE}/prop/{name}"), "n": number(3)} for name in ("P17", "P31")],
    ),
]


@pytest.mark.parametrize("limit", [1, 9])
@pytest.mark.parametrize("slow", [False, True])
async def test_examples_that_were_not_read_in_time_are_said_to_be_missing(slow: bool, limit: int):
    endpoint = Endpoint(*RELATIONS, cut=["AS .number"], said=PARTIAL)

    async def answer(exchange: Exchange) -> None:
        if slow and "AS ?number" in query_of(exchange):
            await always("java.util.concurrent.TimeoutException", status="500 X")(exchange)
        else:
            await endpoint(exchange)

    async with opened(wikibase(answer)) as (graph, _):
        page = await graph.relations(["Q7"], Direction.OUTGOING, examples=2, limit=limit)
        assert ([facts.count for facts in page.items], page.stop) == ([Count(3)] * min(limit, 2), Stop.TIME_OUT)
        page = await graph.relations(["Q7"], Direction.OUTGOING, limit=limit)
        assert page.stop is (Stop.LIMIT if limit == 1 else Stop.COMPLETE)
