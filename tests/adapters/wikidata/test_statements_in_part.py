"""What the endpoint's time cut is never stated as all there is: no count, no list, and nothing for not being there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import AdapterOptions, GraphAdapter, TailKind, ValueOwner
from tests.adapters.sparql.stub import serving
from tests.adapters.wikidata.stubbed import BASE, Cells, Endpoint, iri, literal, number, opened, wikibase
from tests.rows import triples_at

Q5, ANN = iri(f"{BASE}/entity/Q5"), iri(f"{BASE}/entity/Q7")
P31, VIAF = iri(f"{BASE}/prop/P31"), iri(f"{BASE}/prop/P214")
STATEMENT = iri(f"{BASE}/entity/statement/Q7-1")
NAMED: tuple[str, Sequence[Cells]] = (r"rdfs:label \?o FILTER", [{"s": Q5, "o": literal("human", "en")}])


@asynccontextmanager
async def graph_of(
    *answers: tuple[str, Sequence[Cells]], cut: Sequence[str] = (), counted: int | None = None
) -> AsyncGenerator[GraphAdapter]:
    """A graph whose endpoint answers so; one with `counted` does not count what is larger."""
    extra: dict[str, object] = {} if counted is None else {"counted": counted}
    async with opened(wikibase(Endpoint(*answers, cut=cut)), seconds=5.0, languages=("en",), **extra) as (graph, _):
        yield graph


def counting(counted: int) -> list[Cells]:
    return [{"n": number(counted)}]


@pytest.mark.parametrize("counted", [0, 7])
async def test_the_size_of_a_graph_that_was_not_all_counted_is_a_lower_bound(counted: int):
    async with graph_of(("COUNT", counting(counted)), cut=["COUNT"]) as graph:
        health = await graph.health()
    assert health.triples == Count.at_least(counted)
    assert not any("No statements" in advice for advice in health.advice)


@pytest.mark.parametrize("cut", ["LIMIT 1$", "BestRank", "prop/direct/P31> "])
async def test_an_endpoint_that_found_nothing_in_time_is_not_said_to_have_no_wikibase(cut: str):
    claim = {"s": Q5, "direct": iri(f"{BASE}/prop/direct/P31")}
    endpoint = Endpoint(
        ("BestRank", []), ("prop/direct/P31> ", []), ("LIMIT 1$", [claim] if cut == "BestRank" else []), cut=[cut]
    )
    async with serving(endpoint) as stub:
        graph = open_adapter(f"wikidata+{stub.url}", AdapterOptions())
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await graph.open()
        await graph.close()


@pytest.mark.parametrize(
    ("cut", "fault"), [("propertyType", "its properties could not"), ("rdfs:label", "the labels of its properties")]
)
async def test_properties_that_were_not_all_listed_in_time_are_no_catalogue(cut: str, fault: str):
    listed = [
        {"s": Q5, "direct": iri(f"{BASE}/prop/direct/P31"), "type": iri("http://wikiba.se/ontology#WikibaseItem")}
    ]
    async with opened(Endpoint(("propertyType", listed), ("rdfs:label", []), cut=[cut])) as (graph, _):
        health = await graph.health()
        assert any(fault in advice for advice in health.advice)
        for ask in (graph.values("country", None, ValueOwner.NODE, limit=5), graph.schema("country", limit=5)):
            with pytest.raises(StoreTimeout, match=r"in time whether it has a .*'country'"):
                await ask


async def test_a_statement_whose_values_were_not_all_read_in_time_is_not_shown_without():
    value = iri(f"{BASE}/value/1")
    answers: list[tuple[str, Sequence[Cells]]] = [
        ("GROUP BY", [{"s": ANN, "p": P31, "n": number(1)}]),
        (r"VALUES \?st", [{"st": STATEMENT, "p": iri(f"{BASE}/prop/qualifier/value/P17"), "o": value}]),
        (r"VALUES \?v", []),
        ("AS .number", [{"s": ANN, "st": STATEMENT, "o": Q5, "number": number(0)}]),
        NAMED,
    ]
    async with graph_of(*answers) as graph:
        assert (await triples_at(graph, ["Q7"], Direction.OUTGOING, limit=5)).stop is Stop.COMPLETE
    async with graph_of(*answers, cut=[r"VALUES \?v"]) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await triples_at(graph, ["Q7"], Direction.OUTGOING, limit=5)


async def test_a_long_list_that_was_not_all_counted_has_a_lower_bound():
    nodes = [{"s": Q5}]
    answers = [("COUNT.*LIMIT", counting(5_001)), (r"COUNT.DISTINCT", counting(30)), (r"DISTINCT \?s", nodes)]
    async with graph_of(*answers, cut=["COUNT.DISTINCT"]) as graph:
        assert (await graph.nodes(None, "P31", None, limit=1)).total == Count.at_least(5_001)


BEARERS = r"VALUES \?p"
DENIED: dict[str, Callable[[GraphAdapter], Awaitable[object]]] = {
    "a class": lambda graph: graph.nodes("human", None, None, limit=5),
    "a qualifier": lambda graph: graph.values("P214", None, ValueOwner.RELATIONSHIP, limit=5),
}


@pytest.mark.parametrize("ask", DENIED.values(), ids=DENIED)
async def test_what_was_not_found_in_time_is_not_said_not_to_be_there(
    ask: Callable[[GraphAdapter], Awaitable[object]],
):
    async with graph_of((BEARERS, []), ("LIMIT 1$", []), cut=[BEARERS, "LIMIT 1$"], counted=100) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await ask(graph)


async def test_what_points_at_an_entity_and_was_not_all_counted_is_not_taken_for_few():
    answers = [
        (r"SELECT \?x", counting(3)),
        ("FILTER EXISTS", [{"direct": iri(f"{BASE}/prop/direct/P31")}]),
        ("AS .number", [{"n": number(900), "number": number(0)}]),
        ("GROUP BY", [{"s": Q5, "p": P31, "n": number(3)}]),
    ]
    async with graph_of(*answers, cut=[r"SELECT \?x"], counted=100) as graph:
        page = await graph.relations(["Q5"], Direction.INCOMING, limit=5)
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
    answers = [
        (r"SELECT \?x", counting(101)),
        ("FILTER EXISTS", [{"direct": iri(f"{BASE}/prop/direct/P31")}]),
        ("AS .number", [{"n": number(counted), "number": number(0)}]),
    ]
    async with graph_of(*answers, cut=[cut], counted=100) as graph:
        page = await graph.relations(["Q5"], Direction.INCOMING, limit=5)
    assert ([facts.count for facts in page.items], page.stop) == ([count], stop)


async def test_values_are_not_counted_by_entities_that_were_not_all_counted():
    every, entities = [{"s": ANN, "p": P31, "n": number(7)}], [{"s": ANN, "p": P31, "n": number(3)}]
    answers = [(r"\?st \?v \?o", entities), ("GROUP BY", every)]
    for cut, count in (((), Count(4)), (("GROUP BY",), Count.at_least(4))):
        async with graph_of(*answers, cut=cut) as graph:
            page = await graph.relations(["Q7"], Direction.OUTGOING, far_ends=TailKind.LITERAL, limit=5)
        assert [facts.count for facts in page.items] == [count]
    async with graph_of(*answers, cut=[r"\?st \?v \?o"]) as graph:
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await graph.relations(["Q7"], Direction.OUTGOING, far_ends=TailKind.LITERAL, limit=5)


@pytest.mark.parametrize(("cut", "words"), [((), "4 identifiers"), (("GROUP BY",), "At least 4 identifiers")])
async def test_identifiers_that_are_not_shown_are_counted_as_far_as_that_is_known(cut: Sequence[str], words: str):
    answers: list[tuple[str, Sequence[Cells]]] = [
        ("GROUP BY", [{"s": ANN, "p": VIAF, "n": number(4)}, {"s": ANN, "p": P31, "n": number(1)}]),
        ("AS .number", [{"s": ANN, "st": STATEMENT, "o": Q5, "number": number(0)}]),
    ]
    async with graph_of(*answers, cut=cut) as graph:
        page = await triples_at(graph, ["Q7"], Direction.OUTGOING, limit=5)
    assert page.note.startswith(words)


async def test_an_entity_whose_rows_were_not_all_read_in_time_is_not_taken_for_a_hub():
    answers: list[tuple[str, Sequence[Cells]]] = [
        ("GROUP BY", [{"s": ANN, "p": P31, "n": number(2)}]),
        ("AS .number", [{"s": ANN, "st": STATEMENT, "o": Q5, "number": number(0)}]),
        NAMED,
    ]
    async with graph_of(*answers, cut=["AS .number"]) as graph:
        page = await triples_at(graph, ["Q7"], Direction.OUTGOING, limit=50, all_or_none=True)
    assert (len(page.items), page.total, page.stop) == (1, Count(2), Stop.TIME_OUT)


USES = [{"p": P31, "n": number(7)}]


@pytest.mark.parametrize("cut", [False, True])
async def test_a_schema_says_what_of_it_was_counted(cut: bool):
    answers = [(r"WHERE { \?s \?p \?st", USES), NAMED]
    async with graph_of(*answers, cut=[answers[0][0]] if cut else []) as graph:
        schema = await graph.schema(limit=5)
    counts = {facts.relation.id: facts.count for facts in schema.relations}
    if cut:
        assert counts == {"wdt:P31": Count.at_least(7), "wdt:P17": Count.unknown()}
        assert schema.triples == Count.at_least(7)
    else:
        assert (counts, schema.triples) == ({"wdt:P31": Count(7)}, Count(7))
    assert ("time was over" in (schema.sampled or "")) is cut


@pytest.mark.parametrize(("cut", "counted"), [([], 9), (["SUM"], 7)])
async def test_statements_are_counted_without_a_look_at_each_rank_where_that_counts_all(cut: list[str], counted: int):
    answers = [("SUM", [{"p": P31, "n": number(9)}]), (r"WHERE { \?s \?p \?st", USES)]
    async with graph_of(*answers, cut=cut) as graph:
        (facts, *_) = (await graph.schema(limit=5)).relations
    assert facts.count == Count(counted)


USE = r"COUNT.*VALUES \?claim { <[^>]*/prop/P\d+> }"


@pytest.mark.parametrize("name", ["P31", "P999"])
@pytest.mark.parametrize("counted", [0, 7])
async def test_the_statements_of_a_property_that_were_not_all_counted_are_a_lower_bound(name: str, counted: int):
    async with graph_of((USE, counting(counted)), cut=[USE]) as graph:
        (facts,) = (await graph.schema(name, limit=5)).relations
    assert facts.count == Count.at_least(counted)


async def test_a_property_that_is_nowhere_is_unknown_where_all_was_counted():
    async with graph_of((USE, counting(0))) as graph:
        with pytest.raises(UnknownName):
            await graph.schema("P999", limit=5)
