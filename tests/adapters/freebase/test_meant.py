"""What a value means is followed, and where that is more than is followed, the list is not said to be all."""

from __future__ import annotations

import pytest
from rdflib import Literal

from kgnav_mcp.model import Count, Stop
from tests.adapters.freebase.stubbed import ANN, NAME, Endpoint, Row, lists_of, ns, store_of

KNOWS = "people.person.knows"
BEARERS = "LIMIT 1000$"
FOLLOWED = 500


def _endpoint(namesakes: int) -> Endpoint:
    """A graph with so many entities that are called Ann, and two that know some of them."""
    called: list[Row] = [{"s": ns(f"m.ann{n:03}"), "p": NAME, "o": Literal("Ann", lang="en")} for n in range(namesakes)]
    fans = [{"s": ns("m.fan1")}, {"s": ns("m.fan2")}]
    return Endpoint(
        (r"\?l \(COUNT", [{"p": ns(KNOWS), "l": Literal(0), "n": Literal(9)}]),
        (r"SELECT DISTINCT \?s", fans),
        (BEARERS, called),
        ("EXISTS", [{"s": ANN}, *fans, *called]),
    )


@pytest.mark.parametrize(
    ("namesakes", "total", "stop"),
    [(FOLLOWED, Count(2), Stop.COMPLETE), (FOLLOWED + 1, Count.at_least(2), Stop.LIMIT)],
)
async def test_a_list_for_more_namesakes_than_are_followed_is_not_said_to_be_all(
    namesakes: int, total: Count, stop: Stop
):
    lists = lists_of(store_of(endpoint := _endpoint(namesakes)))
    page = await lists.nodes(None, KNOWS, "Ann", 5, None)
    assert ([entity.id for entity in page.items], page.total, page.stop) == (["m.fan1", "m.fan2"], total, stop)
    (reading,) = (query for query in endpoint.queries if "SELECT DISTINCT ?s" in query)
    assert reading.count("m.ann") == FOLLOWED


async def test_namesakes_that_the_row_cap_left_out_make_the_end_of_a_list_no_end():
    endpoint = _endpoint(3)
    endpoint.capped = {BEARERS}
    lists = lists_of(store_of(endpoint))
    first = await lists.nodes(None, KNOWS, "Ann", 1, None)
    assert (len(first.items), first.total, first.stop) == (1, Count.at_least(2), Stop.LIMIT)
    last = await lists.nodes(None, KNOWS, "Ann", 1, first.positions[-1])
    assert (len(last.items), last.total, last.stop) == (1, Count.at_least(2), Stop.ROW_CAP)


async def test_a_value_by_whose_name_the_row_cap_left_nothing_may_have_nodes():
    endpoint = _endpoint(0)
    endpoint.capped = {BEARERS}
    page = await lists_of(store_of(endpoint)).nodes(None, KNOWS, "Ann", 5, None)
    assert (page.items, page.total, page.stop) == ((), Count.at_least(0), Stop.ROW_CAP)
    endpoint.capped = set()
    page = await lists_of(store_of(endpoint)).nodes(None, KNOWS, "Ann", 5, None)
    assert (page.items, page.total, page.stop) == ((), Count(0), Stop.COMPLETE)


async def test_the_id_of_an_entity_is_no_name_of_others():
    endpoint = _endpoint(3)
    endpoint.capped = {BEARERS}
    page = await lists_of(store_of(endpoint)).nodes(None, KNOWS, "m.ann", 5, None)
    assert (len(page.items), page.total, page.stop) == (2, Count(2), Stop.COMPLETE)
    assert not any(query.endswith("LIMIT 1000") for query in endpoint.queries)
    (reading,) = (query for query in endpoint.queries if "SELECT DISTINCT ?s" in query)
    assert reading.count("m.ann") == 1


async def test_what_has_the_form_of_an_id_but_is_none_may_be_a_name():
    endpoint = _endpoint(3)
    await lists_of(store_of(endpoint)).nodes(None, KNOWS, "dr.dre", 5, None)
    assert any(query.endswith("LIMIT 1000") for query in endpoint.queries)


@pytest.mark.parametrize("found", [2, 0])
@pytest.mark.parametrize(("values", "all_of_them"), [(1_000_000, True), (1_000_001, False)])
async def test_where_a_value_is_looked_up_in_usual_forms_only_the_list_says_so(
    found: int, values: int, all_of_them: bool
):
    endpoint = Endpoint(
        (r"\?l \(COUNT", [{"p": ns("film.film.year"), "l": Literal(1), "n": Literal(values)}]),
        (r"SELECT DISTINCT \?s", [{"s": ns(f"m.film{n}")} for n in range(found)]),
        ("EXISTS", [{"s": ns(f"m.film{n}")} for n in range(found)]),
    )
    page = await lists_of(store_of(endpoint)).nodes(None, "film.film.year", "1994", 5, None)
    (reading,) = (query for query in endpoint.queries if "SELECT DISTINCT ?s" in query)
    assert (len(page.items), page.stop) == (found, Stop.COMPLETE)
    assert page.total == (Count(found) if all_of_them else Count.at_least(found))
    assert ("were not looked for" in page.note) is not all_of_them
    assert ('STR(?o) = "1994"' in reading) is all_of_them
    assert ('"1994"@en' in reading and "XMLSchema#gYear>" in reading) is not all_of_them
