"""ARK-V1's steps: what the graph has is taken, anything else is refused with what the anchor has instead."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import (
    InvalidArgument,
    InvalidRequest,
    InvalidStep,
    KgnavError,
    StoreTimeout,
    UnknownEntity,
    UnknownRelation,
    Unsupported,
)
from kgnav_mcp.model import (
    Count,
    Entity,
    Page,
    ReasoningStep,
    Relation,
    Stop,
    Trail,
    TrailStep,
    Triple,
)
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.reasoning_steps import TOOL, Citation, StepLimits, SubmittedStep, add_step, reasoning
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.port.far_end_filters import node_text
from tests.contract import toy


@pytest.fixture
async def only_tails(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    """A graph in which an entity is the head of nothing, not even of its name."""
    (tmp_path / "two.tsv").write_text("first\tleads_to\tlast\n", encoding="utf-8")
    load([tmp_path / "two.tsv"], tmp_path / "two.kg")
    async with open_adapter(str(tmp_path / "two.kg"), AdapterOptions()) as graph:
        yield graph


BEGUN = Trail("toy", "Who?", (Entity("ada"),), 0.0)


def citing(
    anchor: str,
    relation: str,
    *tails: str,
    head: str = "",
    cited_relation: str = "",
    qualifiers: Mapping[str, str] | None = None,
) -> SubmittedStep:
    """A step that cites a triple to each of some tails."""
    cited = [Citation(head or anchor, cited_relation or relation, tail, qualifiers) for tail in tails]
    return SubmittedStep(anchor, relation, cited, "So.")


async def step(
    graph: GraphAdapter, given: SubmittedStep, *, trail: Trail = BEGUN, limits: Limits | None = None
) -> ReasoningStep:
    return (await add_step(graph, trail, given, limits=limits or Limits(), most=StepLimits(3, 2)))[-1]


async def refused(graph: GraphAdapter, given: SubmittedStep, trail: Trail = BEGUN) -> InvalidStep:
    with pytest.raises(InvalidStep) as caught:
        await step(graph, given, trail=trail)
    return caught.value


def ends(triples: tuple[Triple, ...]) -> set[tuple[str, str]]:
    return {(one.head.id, one.tail.id if isinstance(one.tail, Entity) else one.tail.text) for one in triples}


@pytest.mark.parametrize(
    ("given", "tail"),
    [
        (citing("ada", "lives_at", toy.HUB), toy.HUB),
        (citing("Ada Stone", "LIVES_AT", "Old Harbour"), toy.HUB),
        (citing("ada", "lives_at", "Alter Hafen", head="Ada Stein"), toy.HUB),
        (citing("ada", "lives_at", f"Old Harbour ({toy.HUB})", head="Ada Stone (ada)"), toy.HUB),
        (citing("ada", "born", "1815-12-10"), "1815-12-10"),
        (citing("ada", "motto", "Time heals @en"), "Time heals"),
        (citing("archive", "text", f"{toy.LONG_TEXT[:300]}... ({len(toy.LONG_TEXT):,} characters)"), toy.LONG_TEXT),
        (citing("ada", "marriage.spouse", "Ben Waters"), "ben"),
        (citing("ada", "marriage", "ben", cited_relation="marriage.spouse"), "ben"),
        (citing(toy.HOSTILE_ID, "note", "line one line two tab"), toy.HOSTILE_TEXTS[1]),
    ],
)
async def test_triples_are_cited_as_answers_show_them(graph: GraphAdapter, given: SubmittedStep, tail: str) -> None:
    taken = await step(graph, given)
    assert ends(taken.triples) == {(taken.anchor.id, tail)}
    assert taken.inference == "So."


async def test_an_unknown_anchor_has_five_nearest(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity) as caught:
        await step(graph, citing("Boat 1x", "moored_at", toy.HUB))
    assert len(caught.value.nearest) == 5


async def test_a_relation_of_another_entity_has_the_nearest_two_of_this_anchor(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownRelation) as caught:
        await step(graph, citing("ada", "knowz", "ben"))
    assert caught.value.nearest[0] == "knows"
    assert len(caught.value.nearest) == 2


async def test_a_relation_that_leads_here_is_shown_with_its_heads(graph: GraphAdapter) -> None:
    error = await refused(graph, citing("ada", "dislikes", "cyd"))
    assert "but leads to it" in error.message
    assert ends(error.instead) == {("cyd", "ada")}


async def test_an_anchor_that_is_only_a_tail_is_told_with_heads_that_lead_to_it(only_tails: GraphAdapter) -> None:
    error = await refused(only_tails, citing("last", "knows", "first"))
    assert "not the head of any triple" in error.message
    assert ends(error.instead) == {("first", "last")}


async def test_a_triple_that_is_not_there_has_the_nearest_of_this_anchor_and_relation(graph: GraphAdapter) -> None:
    error = await refused(graph, citing("hunter", "hunts", "boat03"))
    assert "does not exist" in error.message
    assert len(error.instead) == 5
    assert {(one.head.id, one.relation.id) for one in error.instead} == {("hunter", "hunts")}


@pytest.mark.parametrize(
    "given", [citing("ada", "knows", "ben", head="cyd"), citing("ada", "knows", "ben", cited_relation="dislikes")]
)
async def test_a_triple_of_another_head_or_relation_belongs_to_another_step(
    graph: GraphAdapter, given: SubmittedStep
) -> None:
    error = await refused(graph, given)
    assert {(one.head.id, one.relation.id) for one in error.instead} == {("ada", "knows")}


async def test_parallel_edges_are_told_apart_by_their_qualifiers(graph: GraphAdapter) -> None:
    error = await refused(graph, citing("ada", "knows", "ben"))
    assert "2 fit it" in error.message
    assert len({one.qualifiers for one in error.instead}) == 2
    assert "'since': '1830'" in error.next_step
    (first,) = (await step(graph, citing("ada", "knows", "ben", qualifiers={"since": "1830"}))).triples
    assert [one.value for one in first.qualifiers] != []
    (second,) = (await step(graph, citing("ada", "knows", "ben", qualifiers={"how": "Work"}))).triples
    assert len(second.qualifiers) == 2


@pytest.mark.parametrize("qualifiers", [{"since": "1999"}, {"until": "1830"}, {}])
async def test_qualifiers_that_no_edge_has_are_refused_with_those_there_are(
    graph: GraphAdapter, qualifiers: Mapping[str, str]
) -> None:
    error = await refused(graph, citing("ada", "knows", "ben", qualifiers=qualifiers))
    assert "not with the cited qualifiers" in error.message
    assert ends(error.instead) == {("ada", "ben")}


async def test_roles_of_a_mediator_are_qualifiers(graph: GraphAdapter) -> None:
    given = citing("ada", "marriage.spouse", "ben", qualifiers={"rite": "civil"})
    assert ends((await step(graph, given)).triples) == {("ada", "ben")}
    await refused(graph, replace(given, cited=[replace(given.cited[0], qualifiers={"rite": "sea"})]))


@pytest.mark.parametrize("tail", ["visitor149", "Visitor Number 149", "Boat 79"])
async def test_what_a_hub_has_behind_the_rows_that_were_read_is_found(graph: GraphAdapter, tail: str) -> None:
    given = citing(toy.REGISTRY, "lists", tail)
    few = Limits(row_limit=20)
    assert len((await step(graph, given, limits=few)).triples) == 1
    with pytest.raises(InvalidStep, match="does not exist"):
        await step(graph, citing(toy.REGISTRY, "lists", "ada"), limits=few)


async def test_an_edge_that_differs_by_qualifiers_from_the_rows_that_were_read_is_found(graph: GraphAdapter) -> None:
    edges = (await graph.edges(["ada"], ["ben"], relations=["knows"], limit=10)).items
    assert len(edges) == 2
    for edge in edges:
        qualifiers = {one.relation.id: node_text(one.value) for one in edge.qualifiers}
        given = citing("ada", "knows", "ben", qualifiers=qualifiers)
        assert (await step(graph, given, limits=Limits(row_limit=1))).triples == (edge,)


def cut(read: Callable[..., Awaitable[Page[Any]]], stop: Stop) -> Callable[..., Awaitable[Page[Any]]]:
    """A verb whose lists have one item, and end for this reason."""

    async def part(*given: Any, **named: Any) -> Page[Any]:
        page = await read(*given, **named)
        return replace(page, items=page.items[:1], positions=page.positions[:1], stop=stop)

    return part


@pytest.mark.parametrize(("stop", "error"), [(Stop.TIME_OUT, StoreTimeout), (Stop.ROW_CAP, Unsupported)])
@pytest.mark.parametrize("tail", ["visitor149", "Nobody At All"])
async def test_a_triple_that_a_partial_list_of_the_store_lacks_is_not_refused_as_absent(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, tail: str, stop: Stop, error: type[KgnavError]
) -> None:
    monkeypatch.setattr(graph, "neighbours", cut(graph.neighbours, stop))
    monkeypatch.setattr(graph, "matching", cut(graph.matching, stop))
    nothing: Page[Triple] = Page((), (), Count.at_least(0), stop)
    monkeypatch.setattr(graph, "edges", AsyncMock(return_value=nothing))
    with pytest.raises(error):
        await step(graph, citing(toy.REGISTRY, "lists", tail))


def walked(*taken: bool) -> Trail:
    """A trail with steps that were taken, or refused."""
    triple = Triple(Entity("a"), Relation("to", "to"), Entity("b"))
    done = TrailStep(TOOL, {"inference": "So."}, 0.0, visited=("a",), entities=(Entity("a"),), triples=(triple,))
    looked = TrailStep("search", {"entity": "a"}, 0.0)
    failed = replace(done, failed=True, entities=(), triples=())
    return replace(BEGUN, steps=tuple(one for each in taken for one in (done if each else failed, looked)))


async def test_a_step_comes_behind_those_that_were_taken_before(graph: GraphAdapter) -> None:
    before = walked(True, False, True)
    found = await add_step(graph, before, citing("ada", "born", "1815-12-10"), limits=Limits(), most=StepLimits(3, 2))
    assert [one.anchor.id for one in found] == ["a", "a", "ada"]
    assert tuple(found[:2]) == reasoning(before)


async def test_a_trail_takes_so_many_steps_and_no_more(graph: GraphAdapter) -> None:
    with pytest.raises(InvalidArgument, match="has ended: it has 3 steps"):
        await step(graph, citing("ada", "born", "1815-12-10"), trail=walked(True, True, True))


async def test_a_trail_takes_no_step_after_one_that_said_done(graph: GraphAdapter) -> None:
    trail = walked(True)
    done = replace(trail.steps[0], arguments={"inference": "So.", "done": True})
    with pytest.raises(InvalidArgument, match="has ended: a step had done=true"):
        await step(graph, citing("ada", "born", "1815-12-10"), trail=replace(trail, steps=(done,)))


async def test_a_trail_takes_no_step_after_so_many_refusals_in_a_row(graph: GraphAdapter) -> None:
    with pytest.raises(InvalidArgument, match="has ended: 2 steps in a row were refused"):
        await step(graph, citing("ada", "born", "1815-12-10"), trail=walked(True, False, False))


@pytest.mark.parametrize(
    ("taken", "given_up"),
    [((), False), ((True,), False), ((False,), True), ((False, True), False), ((True, False), True)],
)
async def test_the_last_refusal_says_that_it_ends_the_reasoning(
    graph: GraphAdapter, taken: tuple[bool, ...], given_up: bool
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await step(graph, citing("ada", "knowz", "ben"), trail=walked(*taken))
    assert ("2 steps in a row were refused, which ends the reasoning" in caught.value.next_step) is given_up
