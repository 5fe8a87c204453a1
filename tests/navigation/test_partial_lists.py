"""From a list that the store cut, nothing is concluded: no relation is absent, and no entity is without rows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from kgnav_mcp.errors import InvalidStep, KgnavError, StoreTimeout, UnknownRelation, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import (
    AbsentRelation,
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Link,
    Page,
    RelationFacts,
    Stop,
    Trail,
)
from kgnav_mcp.navigation.degrees import get_degrees
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.explain.empty_answers import named_nodes_note
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.navigation.reasoning_steps import Citation, StepLimits, SubmittedStep, add_step
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.navigation.relations import get_triples
from kgnav_mcp.navigation.subclasses import subclasses_note
from kgnav_mcp.plan import EdgePattern
from kgnav_mcp.port import FarEndFilter, GraphAdapter
from kgnav_mcp.port.far_end_filters import MISSPELT, MISSPELT_IN_PART
from kgnav_mcp.render.triples import neighbourhood_table
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract.faults.people import ENDPOINT
from tests.contract.faults.relations import COUNTS

OUT, IN = Direction.OUTGOING, Direction.INCOMING
LIMITS = Limits()
TURTLE = """
@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ann rdfs:label "Ann" ; ex:born 1900 ; ex:zeal 7 ; ex:owns ex:boat ; ex:sails ex:boat .
ex:bob rdfs:label "Bob" ; ex:admires ex:ann ; ex:zeal 9 .
ex:boat rdfs:label "Boat" ; ex:id "b1" .
ex:dan ex:wed [ ex:with ex:ann ] , [ ex:at ex:boat ] ; ex:met [ ex:with ex:ann ] .
ex:cyd rdfs:label "Cyd" ; ex:wed [ ex:with ex:ann ; ex:at ex:boat ] .
"""


CLASSES = """
@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Boat rdfs:subClassOf ex:Vessel . ex:Raft rdfs:subClassOf ex:Boat .
ex:a a ex:Vessel . ex:b a ex:Boat . ex:c a ex:Raft .
"""


@pytest.fixture
async def capped() -> AsyncGenerator[GraphAdapter]:
    """An endpoint that returns none of the relations of an entity, because of its row cap."""
    async with opened_over(InProcess(TURTLE, capped={COUNTS: 0}), ENDPOINT.location) as graph:
        yield graph


async def test_a_relation_that_the_list_lacks_is_looked_up_by_its_id(capped: GraphAdapter) -> None:
    found = await search(capped, "ex:ann", OUT, only=["ex:born", "ex:nothing"], limits=LIMITS)
    assert found.rows is not None
    assert [row.relation.id for row in found.rows.items] == ["ex:born"]
    assert found.absent == (AbsentRelation("ex:nothing", ("ex:born",), is_partial=True),)
    (note,) = neighbourhood_table(found, 0).intro
    assert note == "No outgoing relation 'ex:nothing' among those that the store could list; nearest: ex:born."
    triples = await get_triples(capped, "ex:ann", ["ex:admires", "ex:nothing"], limits=LIMITS)
    assert [(link.direction, link.triple.head.id) for link in triples.page.items] == [(IN, "ex:bob")]
    (degree,) = (await get_degrees(capped, "ex:ann", "ex:born", OUT, limits=LIMITS)).page.items
    assert degree.count == Count.at_least(1)


async def test_a_relation_that_leads_to_an_entity_is_not_said_to_be_missing_in_the_other_direction(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = graph.relations

    async def none_outgoing(ids: Any, direction: Direction | None, **named: Any) -> AnchoredPage[RelationFacts]:
        page = await read(ids, direction, **named)
        return page if direction is IN else replace(page, items=(), positions=(), stop=Stop.ROW_CAP)

    monkeypatch.setattr(graph, "relations", none_outgoing)
    with pytest.raises(UnknownRelation, match="among those that the store could list") as caught:
        await search(graph, "ada", OUT, only=["dislikes"], limits=LIMITS)
    assert caught.value.opposite
    with pytest.raises(InvalidStep, match="leads to 'ada'; the store did not list all relations that leave it"):
        await step(graph, "ada", "dislikes", "cyd")


async def test_no_entity_is_without_rows_that_the_store_left_out(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "rows_or_relations", partial(GraphAdapter.rows_or_relations, graph))
    monkeypatch.setattr(graph, "neighbours", cut(graph.neighbours, Stop.ROW_CAP, 1))
    found = await search(graph, ["ada", "ben"], OUT, limits=LIMITS)
    assert found.rows is not None
    assert {row.head.id for row in found.rows.items} == {"ada"}
    assert (found.rows.stop, found.entities_without) == (Stop.ROW_CAP, ())


async def test_a_plan_follows_a_relation_of_two_hops_that_the_list_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    part = EdgePattern("r", "a", "b", ("ex:wed.ex:with",))
    async with opened_over(InProcess(TURTLE), ENDPOINT.location) as graph:
        monkeypatch.setattr(graph, "relations", cut(graph.relations, Stop.ROW_CAP))
        reader = Reader(graph, Budget(100))
        steps = await reader.read_edges([reader.node("ex:cyd")], OUT, part.relations, part)
    assert [far.id for _, _, far in steps] == ["ex:ann"]


async def step(
    graph: GraphAdapter, anchor: str, relation: str, tail: str, cited: str = "", *, rows: int = 1_000
) -> Any:
    """The last step of a trail that cites a triple, where so many rows are read."""
    given = SubmittedStep(anchor, relation, [Citation(anchor, cited or relation, tail)], "So.")
    trail = Trail("toy", "Who?", (Entity(anchor),), 0.0)
    return (await add_step(graph, trail, given, limits=Limits(row_limit=rows), most=StepLimits()))[-1]


async def test_an_edge_beside_those_that_were_read_makes_a_citation_ambiguous(graph: GraphAdapter) -> None:
    for rows in (1, 1_000):
        with pytest.raises(InvalidStep, match="is not one triple: 2 fit it"):
            await step(graph, "ada", "knows", "ben", rows=rows)


async def test_a_relation_of_two_hops_whose_rows_were_not_read_is_still_one_of_the_step() -> None:
    async with opened_over(InProcess(TURTLE), ENDPOINT.location) as graph:
        for relation, tail in (("ex:wed.ex:with", "ex:ann"), ("ex:wed.ex:at", "ex:boat")):
            taken = await step(graph, "ex:dan", "ex:wed", tail, relation, rows=1)
            assert [one.tail.id for one in taken.triples] == [tail]
        with pytest.raises(InvalidStep, match="is not of the step's relation"):
            await step(graph, "ex:dan", "ex:wed", "ex:ann", "ex:met.ex:with", rows=1)


async def test_rows_of_relations_that_were_not_all_listed_are_a_lower_bound(graph: GraphAdapter) -> None:
    found = await search(graph, "registry", OUT, limits=Limits(relation_limit=1))
    assert found.relations is not None
    assert found.relations.stop is Stop.LIMIT
    (about, *_) = neighbourhood_table(found, 0).intro
    assert "+ outgoing rows)" in about


def cut(read: Callable[..., Awaitable[Page[Any]]], stop: Stop, items: int = 0) -> Callable[..., Awaitable[Page[Any]]]:
    """A verb whose lists have so many items, and end for this reason."""

    async def part(*given: Any, **named: Any) -> Page[Any]:
        page = await read(*given, **named)
        total = Count.at_least(min(items, page.total.value))
        return replace(page, items=page.items[:items], positions=page.positions[:items], total=total, stop=stop)

    return part


async def test_a_step_finds_the_roles_of_mediators_that_the_store_did_not_return(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = graph.neighbours

    async def without_roles(ids: Any, *given: Any, **named: Any) -> AnchoredPage[Link]:
        page = await read(ids, *given, **named)
        return page if "ada" in ids else replace(page, items=(), positions=(), stop=Stop.TIME_OUT)

    monkeypatch.setattr(graph, "neighbours", without_roles)
    taken = await step(graph, "ada", "marriage", "ben")
    assert [one.tail.id for one in taken.triples] == ["ben"]


async def test_a_printed_id_is_not_said_to_be_no_property_if_the_store_did_not_return_all_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened_over(InProcess(TURTLE), ENDPOINT.location) as graph:
        whole = await nodes_by_value(graph, None, "id", "ex:ann", limit=5)
        for verb in ("nodes", "node_ids"):
            monkeypatch.setattr(graph, verb, cut(getattr(graph, verb), Stop.TIME_OUT))
        part = await nodes_by_value(graph, None, "id", "ex:ann", limit=5)
    assert [entity.id for entity in whole.items] == [entity.id for entity in part.items] == ["ex:ann"]
    assert whole.note.startswith("No node has the property id = 'ex:ann'")
    assert part.note.startswith("The store did not return all nodes with the property id = 'ex:ann'")


async def test_words_that_resemble_those_of_a_part_of_the_rows_are_said_to_be_of_a_part(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = FarEndFilter(words="Habour")
    whole = await GraphAdapter.matching(graph, ["ada"], OUT, far=far, limit=5)
    monkeypatch.setattr(graph, "neighbours", cut(graph.neighbours, Stop.ROW_CAP, 1_000))
    part = await GraphAdapter.matching(graph, ["ada"], OUT, far=far, limit=5)
    assert (part.items, whole.note) == (whole.items, MISSPELT)
    assert part.note == MISSPELT_IN_PART


async def test_labels_with_subclasses_are_a_lower_bound_if_the_store_did_not_return_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened_over(InProcess(CLASSES), ENDPOINT.location) as classes:
        schema = await classes.schema(limit=9)
        assert (await subclasses_note(classes, schema)).startswith("2 labels have subclasses")
        monkeypatch.setattr(classes, "neighbour_ids", cut(classes.neighbour_ids, Stop.ROW_CAP, 1))
        assert (await subclasses_note(classes, schema)).startswith("At least 1 label has subclasses")


async def test_an_empty_answer_does_not_name_edges_as_missing_that_the_store_may_not_have_listed(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = (await PlanRunner(graph).check(parse_cypher("MATCH ({name: 'Ada Stone'})-[:lists]->(x) RETURN x"))).plan
    assert await named_nodes_note(graph, Lookups(graph), plan)
    monkeypatch.setattr(graph, "relations", cut(graph.relations, Stop.ROW_CAP, 3))
    assert not await named_nodes_note(graph, Lookups(graph), plan)


async def test_a_value_of_a_plan_is_not_taken_for_a_printed_id_if_the_store_returned_no_nodes_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened_over(InProcess(TURTLE), ENDPOINT.location) as graph:
        monkeypatch.setattr(graph, "node_ids", cut(graph.node_ids, Stop.TIME_OUT))
        with pytest.raises(StoreTimeout):
            await PlanRunner(graph).check(parse_cypher("MATCH (n {id: 'ex:ann'}) RETURN n"))


async def test_a_hint_of_a_plan_is_not_resolved_from_a_part_of_the_candidates(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [{"as": "a", "find_node": {"hint": "Ada Stne"}}, {"return": ["a"]}]
    exact = [{"as": "a", "find_node": {"hint": "Ada Stone"}}, {"return": ["a"]}]
    assert not (await PlanRunner(graph).check(parse_plan(steps).plan)).problems
    monkeypatch.setattr(graph, "find", cut(graph.find, Stop.TIME_OUT, 1))
    assert not (await PlanRunner(graph).check(parse_plan(exact).plan)).problems
    with pytest.raises(StoreTimeout):
        await PlanRunner(graph).check(parse_plan(steps).plan)


@pytest.mark.parametrize(("stop", "error"), [(Stop.TIME_OUT, StoreTimeout), (Stop.ROW_CAP, Unsupported)])
async def test_a_name_is_not_resolved_from_a_part_of_the_candidates(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, stop: Stop, error: type[KgnavError]
) -> None:
    monkeypatch.setattr(graph, "find_by_names", partial(GraphAdapter.find_by_names, graph))
    monkeypatch.setattr(graph, "find_by_name", partial(GraphAdapter.find_by_name, graph))
    assert (await resolve_entity(graph, "Ada Stone")).id == "ada"
    monkeypatch.setattr(graph, "find", cut(graph.find, stop, 1))
    with pytest.raises(error):
        await resolve_entity(graph, "Ada Stone")
