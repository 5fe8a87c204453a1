"""What the endpoint's time cut is never stated as all there is: no count, no list, and nothing for not being there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import pytest
from rdflib import Literal, URIRef

from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import FarEndKind, GraphAdapter, ValueOwner
from tests.adapters.sparql_base.inprocess import ALL_ROWS, InProcess, Row, Told, opened_over
from tests.contract.faults.people import ANN, BOB, CYD, PEOPLE, WIKIDATA
from tests.rows import triples_at

IN, OUT = Direction.INCOMING, Direction.OUTGOING
_WRITER = Wikibase()
TURTLE = "".join(
    [
        WIKIDATA.written(PEOPLE),
        *_WRITER.property("P17", "item", [("country", "en")]),
        *_WRITER.property("P214", "external-id", [("VIAF", "en")]),
        *(line for n in range(91, 95) for line in _WRITER.statement("Q13", "P214", Value("string", "1"), number=n)),
    ]
)
"""People, of whom Cyd has four identifiers, and a property that is never used."""
USES = r"WHERE \{ \?s \?p \?st"


def graph_of(
    *answers: Told, cut: Mapping[str, int] | None = None, **extra: object
) -> AbstractAsyncContextManager[GraphAdapter]:
    """The people, of whom the endpoint says some of this."""
    return opened_over(InProcess(TURTLE, answers=answers, cut=cut or {}), WIKIDATA.location, **extra)


def counting(counted: int) -> Sequence[Row]:
    return [{"n": Literal(counted), "number": Literal(0)}]


@pytest.mark.parametrize("counted", [0, 7])
async def test_the_size_of_a_graph_that_was_not_all_counted_is_a_lower_bound(counted: int):
    async with graph_of(("COUNT", counting(counted)), cut={"COUNT": ALL_ROWS}) as graph:
        health = await graph.health()
    assert health.triples == Count.at_least(counted)
    assert not any("No statements" in advice for advice in health.advice)


@pytest.mark.parametrize("cut", ["LIMIT 1$", "BestRank", "prop/direct/P31> "])
async def test_an_endpoint_that_found_nothing_in_time_is_not_said_to_have_no_wikibase(cut: str):
    turtle = "".join(_WRITER.property("P31", "item")) if cut == "BestRank" else ""
    with pytest.raises(StoreTimeout, match="stopped the query"):
        async with opened_over(InProcess(turtle, cut={cut: 0}), WIKIDATA.location):
            pass


@pytest.mark.parametrize(
    ("cut", "fault"),
    [("propertyType", "its properties could not"), ("Claim.* rdfs:label", "the labels of its properties")],
)
async def test_properties_that_were_not_all_listed_in_time_are_no_catalogue(cut: str, fault: str):
    async with graph_of(cut={cut: 1}) as graph:
        health = await graph.health()
        assert any(fault in advice for advice in health.advice)
        for ask in (graph.values("country", None, ValueOwner.NODE, limit=5), graph.schema("country", limit=5)):
            with pytest.raises(StoreTimeout, match=r"whether the store has a .*'country'"):
                await ask


async def test_a_statement_whose_values_were_not_all_read_in_time_is_not_shown_without():
    ann = WIKIDATA.node(ANN)
    async with graph_of() as graph:
        assert (await triples_at(graph, [ann], OUT, limit=5)).stop is Stop.COMPLETE
    async with graph_of(cut={r"VALUES \?v": 0}) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await triples_at(graph, [ann], OUT, limit=5)


async def test_a_long_list_that_was_not_all_counted_has_a_lower_bound():
    answers = [("COUNT.*LIMIT", counting(5_001)), (r"COUNT.DISTINCT", counting(30))]
    async with graph_of(*answers, cut={"COUNT.DISTINCT": ALL_ROWS}) as graph:
        assert (await graph.nodes(None, "P31", None, limit=1)).total == Count.at_least(5_001)


DENIED: dict[str, Callable[[GraphAdapter], Awaitable[object]]] = {
    "a class": lambda graph: graph.nodes("human", None, None, limit=5),
    "a qualifier": lambda graph: graph.values("P214", None, ValueOwner.RELATIONSHIP, limit=5),
}


@pytest.mark.parametrize("ask", DENIED.values(), ids=DENIED)
async def test_what_was_not_found_in_time_is_not_said_not_to_be_there(
    ask: Callable[[GraphAdapter], Awaitable[object]],
):
    async with graph_of(cut={r"VALUES \?p": 0, "prop/qualifier/P214> .*LIMIT 1$": 0}, counted=100) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await ask(graph)


async def test_what_points_at_an_entity_and_was_not_all_counted_is_not_taken_for_few():
    answers = [(r"SELECT \?x", counting(3)), ("AS .number", counting(900))]
    async with graph_of(*answers, cut={r"SELECT \?x": ALL_ROWS}, counted=100) as graph:
        page = await graph.relations([WIKIDATA.node(CYD)], IN, limit=5)
    assert [facts.count for facts in page.items] == [Count(900)]


@pytest.mark.parametrize(
    ("cut", "counted", "count", "stop"),
    [
        ("FILTER EXISTS", 7, Count.at_least(7), Stop.TIME_OUT),
        ("AS .number", 7, Count.at_least(7), Stop.COMPLETE),
        ("AS .number", 0, Count.at_least(1), Stop.COMPLETE),
    ],
)
async def test_the_relations_of_a_hub_say_what_of_them_was_counted(cut: str, counted: int, count: Count, stop: Stop):
    answers = [(r"SELECT \?x", counting(101)), ("AS .number", counting(counted))]
    async with graph_of(*answers, cut={cut: ALL_ROWS}, counted=100) as graph:
        page = await graph.relations([WIKIDATA.node(CYD)], IN, limit=5)
    assert ([facts.count for facts in page.items], page.stop) == ([count], stop)


async def test_values_are_not_counted_by_entities_that_were_not_all_counted():
    of_entities, of_all = r"\?st \?v \?o", r"WHERE (?!.*\?v \?o).*GROUP BY"
    for cut, count in (({}, Count(4)), ({of_all: ALL_ROWS}, Count.at_least(4))):
        async with graph_of(cut=cut) as graph:
            page = await graph.relations([WIKIDATA.node(CYD)], OUT, far_end_kind=FarEndKind.LITERAL, limit=5)
        counts = {facts.relation.id: facts.count for facts in page.items}
        assert (len(counts), counts["wdt:P214"]) == (2, count)
    async with graph_of(cut={of_entities: ALL_ROWS}) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await graph.relations([WIKIDATA.node(CYD)], OUT, far_end_kind=FarEndKind.LITERAL, limit=5)


@pytest.mark.parametrize(("cut", "words"), [({}, "4 identifiers"), ({"GROUP BY": ALL_ROWS}, "At least 4 identifiers")])
async def test_identifiers_that_are_not_shown_are_counted_as_far_as_that_is_known(cut: Mapping[str, int], words: str):
    async with graph_of(cut=cut) as graph:
        page = await triples_at(graph, [WIKIDATA.node(CYD)], OUT, limit=5)
    assert page.note.startswith(words)


async def test_an_entity_whose_rows_were_not_all_read_in_time_is_not_taken_for_a_hub():
    async with graph_of(cut={"AS .number": 1}) as graph:
        page = await triples_at(graph, [WIKIDATA.node(BOB)], OUT, limit=50, all_or_none=True)
    assert (len(page.items), page.total, page.stop) == (1, Count(3), Stop.TIME_OUT)


@pytest.mark.parametrize("cut", [False, True])
async def test_a_schema_says_what_of_it_was_counted(cut: bool):
    async with graph_of(cut={"SUM": 0, USES: ALL_ROWS} if cut else {}) as graph:
        schema = await graph.schema(limit=5)
    counts = {facts.relation.id: facts.count for facts in schema.relations}
    if cut:
        three = Count.at_least(3)
        assert counts == {"wdt:P31": three, WIKIDATA.knows: three, "wdt:P17": Count.unknown()}
        assert schema.triples == Count.at_least(13)
    else:
        assert (counts, schema.triples) == ({"wdt:P31": Count(3), WIKIDATA.knows: Count(3)}, Count(13))
    assert ("timed out before everything was read" in (schema.sampled or "")) is cut


@pytest.mark.parametrize(("cut", "counted"), [({}, 9), ({"SUM": ALL_ROWS}, 3)])
async def test_statements_are_counted_without_a_look_at_each_rank_where_that_counts_all(
    cut: Mapping[str, int], counted: int
):
    by_rank = [{"p": URIRef(f"{_WRITER.base}/prop/P31"), "n": Literal(9)}]
    async with graph_of(("SUM", by_rank), cut=cut) as graph:
        (facts, *_) = (await graph.schema(limit=5)).relations
    assert facts.count == Count(counted)


USE = r"COUNT.*VALUES \?claim { <[^>]*/prop/P\d+> }"


@pytest.mark.parametrize("name", ["P31", "P999"])
@pytest.mark.parametrize("counted", [0, 7])
async def test_the_statements_of_a_property_that_were_not_all_counted_are_a_lower_bound(name: str, counted: int):
    async with graph_of((USE, counting(counted)), cut={USE: ALL_ROWS}) as graph:
        (facts,) = (await graph.schema(name, limit=5)).relations
    assert facts.count == Count.at_least(counted)


async def test_a_property_that_is_nowhere_is_unknown_where_all_was_counted():
    async with graph_of() as graph:
        with pytest.raises(UnknownName):
            await graph.schema("P999", limit=5)
