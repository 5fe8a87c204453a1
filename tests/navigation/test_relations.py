"""GraphWalker's two tools, without the weaknesses of its public code."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import UnknownEntity, UnknownRelation
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Count, Direction, Entity, Link, Page, RelationFacts, Stop, Trail
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.navigation.reasoning_steps import Citation, StepLimits, SubmittedStep, add_step
from kgnav_mcp.navigation.relation_lists import likely_path
from kgnav_mcp.navigation.relations import get_relations, get_triples
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract import toy
from tests.contract.faults.people import ENDPOINT
from tests.navigation.walking import all_pages, entity, roles, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING
LIMITS = Limits()


async def test_each_relation_keeps_its_direction(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=LIMITS)).page
    directions = [(facts.relation.id, facts.direction) for facts in page.items]
    assert ("knows", OUTGOING) in directions
    assert ("knows", INCOMING) in directions
    assert ("dislikes", INCOMING) in directions
    assert ("dislikes", OUTGOING) not in directions


async def test_two_hop_relations_through_mediators_are_offered(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=LIMITS)).page
    counts = {facts.relation.id: facts.count for facts in page.items if facts.direction is OUTGOING}
    assert counts["marriage.spouse"] == Count(2)
    assert counts["marriage.from"] == Count(2)
    assert counts["marriage.rite"] == Count(1)


async def test_every_offered_relation_is_accepted_and_has_as_many_triples_as_it_said(graph: GraphAdapter) -> None:
    for name in ("ada", "ben", toy.HUB, toy.HOSTILE_HUNTER, "ouroboros"):
        start = await entity(graph, name)
        for facts in (await get_relations(graph, start, limits=LIMITS)).page.items:
            chosen = facts.relation.id
            page = (await get_triples(graph, start, [chosen], limits=LIMITS)).page
            same_way = [link for link in page.items if link.direction is facts.direction]
            if not facts.mediators:
                assert Count(len(same_way)) == facts.count, (name, chosen)
            assert same_way, (name, chosen)


async def test_a_question_ranks_and_cuts_and_the_rest_stays_reachable(graph: GraphAdapter) -> None:
    ada = await entity(graph, "ada")
    limits = Limits(top_k=3)
    first = (
        await get_relations(graph, ada, question="To whom is there a marriage, who is the spouse?", limits=limits)
    ).page
    assert first.items[0].relation.id == "marriage.spouse"
    assert (len(first.items), first.stop) == (3, Stop.LIMIT)

    async def page(after: str | None) -> Page[RelationFacts]:
        return (await get_relations(graph, ada, question="spouse", after=after, limits=limits)).page

    paged = await all_pages(page)
    whole = (await get_relations(graph, ada, limits=LIMITS)).page
    assert len(paged) == len(whole.items) == first.total.value
    assert {(facts.relation.id, facts.direction) for facts in paged} == {
        (facts.relation.id, facts.direction) for facts in whole.items
    }


async def test_a_flattened_relation_is_not_lost_to_the_white_list(graph: GraphAdapter) -> None:
    page = (await get_relations(graph, await entity(graph, "ada"), limits=Limits(white_list=("marriage.*",)))).page
    assert {facts.relation.id for facts in page.items} == {"marriage.spouse", "marriage.from", "marriage.rite"}


async def test_triples_of_both_directions_come_together(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=LIMITS)).page
    assert [short(link.triple) for link in page.items] == [
        ("ada", "knows", "ben"),
        ("ada", "knows", "ben"),
        ("ada", "knows", "cyd"),
        ("ben", "knows", "ada"),
    ]
    assert page.total == Count(4)


async def test_parallel_edges_keep_their_own_qualifiers(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=LIMITS)).page
    to_ben = [roles(link.triple) for link in page.items if short(link.triple)[2] == "ben"]
    assert to_ben == [{"since": "1830"}, {"how": "work", "since": "1841"}]


async def _triples(
    graph: GraphAdapter, anchor: Entity, chosen: list[str], after: str | None, limits: Limits
) -> Page[Link]:
    return (await get_triples(graph, anchor, chosen, after=after, limits=limits)).page


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100])
async def test_paging_crosses_from_outgoing_to_incoming_without_loss(graph: GraphAdapter, size: int) -> None:
    ada = await entity(graph, "ada")
    chosen = ["knows", "dislikes", "marriage.spouse"]
    whole = (await get_triples(graph, ada, chosen, limits=LIMITS)).page.items
    limits = Limits(row_limit=size)
    paged = await all_pages(lambda after: _triples(graph, ada, chosen, after, limits))
    assert paged == list(whole)
    first = (await get_triples(graph, ada, chosen, limits=limits)).page
    assert first.total == Count(len(whole)), "the total is of the whole list, whichever page"


@pytest.mark.parametrize("chosen", [["Knows"], ["knows", "DISLIKES"], ["Knows", "marriage.spouse"]])
async def test_labels_are_paged_through_as_ids_are(graph: GraphAdapter, chosen: list[str]) -> None:
    ada = await entity(graph, "ada")
    whole = (await get_triples(graph, ada, chosen, limits=LIMITS)).page.items
    assert whole
    limits = Limits(row_limit=2)
    assert await all_pages(lambda after: _triples(graph, ada, chosen, after, limits)) == list(whole)


async def test_a_relation_that_the_black_list_hides_has_no_triples_either(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation):
        await get_triples(graph, await entity(graph, "ada"), ["knows"], limits=Limits(black_list=("knows",)))


async def test_no_limit_is_silent(graph: GraphAdapter) -> None:
    page = (await get_triples(graph, await entity(graph, toy.HUB), ["visited"], limits=Limits(row_limit=40))).page
    assert (len(page.items), page.total, page.stop) == (40, Count(toy.VISITORS), Stop.LIMIT)


async def test_an_unknown_relation_names_the_nearest_valid_ones(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation) as caught:
        await get_triples(graph, await entity(graph, "ada"), ["know"], limits=LIMITS)
    assert "knows" in caught.value.nearest


async def test_a_hostile_relation_name_is_only_a_name(graph: GraphAdapter) -> None:
    page = (
        await get_triples(graph, await entity(graph, toy.HOSTILE_HUNTER), [toy.HOSTILE_RELATION], limits=LIMITS)
    ).page
    assert [link.triple.relation.id for link in page.items] == [toy.HOSTILE_RELATION]


@pytest.mark.parametrize("written", ["ada", "Ada Stone"])
async def test_the_entity_may_be_given_by_id_or_name(graph: GraphAdapter, written: str) -> None:
    ada = await entity(graph, "ada")
    for relations in (["knows"], ["Knows"]):
        found = await get_triples(graph, written, relations, limits=LIMITS)
        assert [(one.id, one.label) for one in found.entities] == [("ada", ada.label)]
        assert found.page.total == Count(4)
    offered = await get_relations(graph, written, limits=LIMITS)
    assert [(one.id, one.label) for one in offered.entities] == [("ada", ada.label)]
    assert offered.page == (await get_relations(graph, ada, limits=LIMITS)).page


async def test_an_unknown_entity_is_said_before_an_unknown_relation(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity):
        await get_triples(graph, "nobody at all", ["knows"], limits=LIMITS)
    with pytest.raises(UnknownEntity):
        await get_relations(graph, "nobody at all", limits=LIMITS)


MEDIATED = """
@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ann rdfs:label "Ann" . ex:boat rdfs:label "Boat" .
ex:cyd rdfs:label "Cyd" ; ex:wed [ ex:with ex:ann ; ex:at ex:boat ] ; ex:met [ ex:with ex:boat ] ;
  <http://odd.example/a/1,2> [ <http://odd.example/v1.2/with> ex:ann ; ex:at ex:boat ] .
"""
WED_WITH = "ex:wed.ex:with"
ODD = "http://odd.example/a/1,2.http://odd.example/v1.2/with"


@pytest.fixture(params=["graph file", "endpoint"])
async def mediated(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    if request.param == "endpoint":
        async with opened_over(InProcess(MEDIATED), ENDPOINT.location) as graph:
            yield graph
        return
    (tmp_path / "m.ttl").write_text(MEDIATED, encoding="utf-8")
    load([tmp_path / "m.ttl"], tmp_path / "m.kg", LoadOptions(mediators="unnamed"))
    async with open_adapter(str(tmp_path / "m.kg"), AdapterOptions()) as graph:
        yield graph


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (WED_WITH, WED_WITH),
        ("http://ex.example/wed.http://ex.example/with", WED_WITH),
        ("<http://ex.example/wed>.<http://ex.example/with>", WED_WITH),
        ("ex:wed.http://ex.example/with", WED_WITH),
        ("<http://ex.example/wed>.ex:with", WED_WITH),
        ("ex:wed.<http://ex.example/with>", WED_WITH),
        (ODD, ODD),
        ("<http://odd.example/a/1,2>.<http://odd.example/v1.2/with>", ODD),
    ],
)
async def test_a_relation_of_two_hops_is_accepted_with_short_ids_and_iris(
    mediated: GraphAdapter, written: str, printed: str
) -> None:
    found = await search(mediated, "ex:cyd", Direction.OUTGOING, only=[written], limits=Limits())
    assert found.rows is not None
    assert [(row.relation.id, row.tail) for row in found.rows.items] == [(printed, Entity("ex:ann", "Ann"))]
    triples = (await get_triples(mediated, "ex:cyd", [written], limits=Limits())).page.items
    assert [link.triple.relation.id for link in triples] == [printed]
    plans = PlanRunner(mediated)
    checked = await plans.check(parse_cypher(f"MATCH ({{name: 'Cyd'}})-[:`{written}`]->(a) RETURN a.name AS name"))
    assert [row.cells for row in (await plans.run(checked.plan, limit=9)).items] == [("Ann",)]
    first, second = likely_path(written)
    cited = Citation("ex:cyd", written, "ex:ann")
    given = SubmittedStep("ex:cyd", first, [cited], f"By {second}.")
    (step,) = await add_step(
        mediated, Trail("g", "?", (Entity("ex:cyd"),), 0.0), given, limits=Limits(), most=StepLimits()
    )
    assert [one.relation.id for one in step.triples] == [printed]


async def test_an_unknown_relation_of_two_hops_has_the_nearest_of_two_hops(mediated: GraphAdapter) -> None:
    wrong = "<http://ex.example/wed>.<http://ex.example/wth>"
    with pytest.raises(UnknownRelation) as caught:
        await search(mediated, "ex:cyd", Direction.OUTGOING, only=[wrong], limits=Limits())
    assert WED_WITH in caught.value.nearest
    checked = await PlanRunner(mediated).check(parse_cypher(f"MATCH (c)-[:`{wrong}`]->(a) RETURN a"))
    (problem,) = checked.problems
    assert all(name.startswith("ex:wed.") for name in problem.alternatives)


@pytest.mark.parametrize(
    "single",
    [
        "ex:wed",
        "http://x.org/prop/direct/P19",
        "<http://x.org/a.b>",
        "http://x.org:80/P19",
        "people.person.spouse",
        "a.b",
    ],
)
def test_an_id_of_one_relation_is_not_divided(single: str) -> None:
    assert likely_path(single) == (single,)
