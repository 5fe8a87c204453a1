"""The proof of an answer: what a trail showed, and what of it the store still has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from kgnav_mcp.errors import KgnavError, StoreTimeout, Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Evidence,
    Literal,
    Page,
    Relation,
    RelationFacts,
    Stop,
    Trail,
    TrailStep,
    Triple,
    Verdict,
)
from kgnav_mcp.navigation.evidence import check_answers
from kgnav_mcp.port import GraphAdapter

HUB_ROWS = 40


async def seen(graph: GraphAdapter, *ids: str, relation: str | None = None) -> TrailStep:
    """A step that showed the rows at some entities: all, or those of one relation."""
    paths = None if relation is None else [(relation,)]
    page = await graph.neighbours(list(ids), None, relation_paths=paths, limit=1_000)
    triples = tuple(link.triple for link in page.items)
    return TrailStep("search", {"entity": list(ids)}, 1.0, "rows", visited=ids, triples=triples)


async def walk(graph: GraphAdapter, topic: str, *steps: TrailStep) -> Trail:
    return Trail("toy", "Who?", ((await graph.describe([topic]))[topic],), 0.0, steps)


async def evidence(graph: GraphAdapter, trail: Trail, answer: str) -> Evidence:
    (found,) = await check_answers(graph, trail, [answer], hub_rows=HUB_ROWS)
    return found


async def test_an_answer_is_proved_by_the_triples_that_lead_to_it(graph: GraphAdapter) -> None:
    trail = await walk(graph, "jose", await seen(graph, "jose"))
    found = await evidence(graph, trail, "yolka")
    assert (found.verdict, [one.relation.id for one in found.triples]) == (Verdict.CONNECTED, ["knows"])
    assert (found.triples[0].head.label, found.triples[0].tail) == ("José Ñandú", found.nodes[0])


@pytest.mark.parametrize("answer", ["Ёлка Зимняя", "ёлка зимняя ", "yolka"])
async def test_an_answer_may_be_a_name_in_any_letter_case(graph: GraphAdapter, answer: str) -> None:
    trail = await walk(graph, "jose", await seen(graph, "jose"))
    assert (await evidence(graph, trail, answer)).verdict is Verdict.CONNECTED


async def test_a_value_is_proved_by_the_triple_that_has_it(graph: GraphAdapter) -> None:
    trail = await walk(graph, "ada", await seen(graph, "ada"))
    found = await evidence(graph, trail, "1815-12-10")
    assert (found.verdict, found.triples[-1].relation.id) == (Verdict.CONNECTED, "born")


async def test_a_way_over_two_steps_is_joined(graph: GraphAdapter) -> None:
    trail = await walk(graph, "cyd", await seen(graph, "cyd"), await seen(graph, "ada"))
    found = await evidence(graph, trail, "marriage1")
    assert (found.verdict, len(found.triples)) == (Verdict.CONNECTED, 2)


@pytest.mark.parametrize("answer", ["visitor007", "Nobody At All", "", "  "])
async def test_what_no_step_showed_is_ungrounded(graph: GraphAdapter, answer: str) -> None:
    trail = await walk(graph, "jose", await seen(graph, "jose"))
    assert (await evidence(graph, trail, answer)).verdict is Verdict.UNGROUNDED


async def test_what_was_shown_without_a_way_from_the_topic_is_not_connected(graph: GraphAdapter) -> None:
    trail = await walk(graph, "jose", await seen(graph, "jose"), await seen(graph, "ouroboros"))
    assert (await evidence(graph, trail, "mercury_metal")).verdict is Verdict.UNCONNECTED


async def test_a_name_alone_proves_nothing(graph: GraphAdapter) -> None:
    listed = TrailStep("find_node", {"hint": "Ben"}, 1.0, entities=(Entity("ben", "Ben Waters"),))
    trail = await walk(graph, "ada", listed)
    assert (await evidence(graph, trail, "ben")).verdict is Verdict.UNCONNECTED


async def test_the_topic_itself_is_no_answer_that_anything_leads_to(graph: GraphAdapter) -> None:
    trail = await walk(graph, "ada", await seen(graph, "ada"))
    assert (await evidence(graph, trail, "ada")).verdict is Verdict.UNCONNECTED


async def test_a_triple_that_the_store_has_no_more_is_named(graph: GraphAdapter) -> None:
    gone = Triple(Entity("jose"), Relation("married", "married"), Entity("ben", "Ben Waters"))
    step = TrailStep("search", {"entity": "jose"}, 1.0, triples=(gone,))
    found = await evidence(graph, await walk(graph, "jose", step), "ben")
    assert (found.verdict, [one.relation.id for one in found.missing]) == (Verdict.CHANGED, ["married"])


async def test_a_changed_qualifier_is_a_changed_triple(graph: GraphAdapter) -> None:
    step = await seen(graph, "ada", relation="lives_at")
    (lives,) = step.triples
    (until,) = lives.qualifiers
    later = replace(lives, qualifiers=(replace(until, value=Literal("1999-01-01", "xsd:date")),))
    trail = await walk(graph, "ada", replace(step, triples=(later,)))
    assert (await evidence(graph, trail, "harbour")).verdict is Verdict.CHANGED


async def test_another_way_holds_where_the_shortest_is_gone(graph: GraphAdapter) -> None:
    gone = Triple(Entity("cyd"), Relation("married", "married"), Entity("ben"))
    step = TrailStep("search", {"entity": "cyd"}, 1.0, triples=(gone,))
    trail = await walk(graph, "cyd", step, await seen(graph, "cyd"), await seen(graph, "ada"))
    found = await evidence(graph, trail, "ben")
    assert (found.verdict, len(found.triples)) == (Verdict.CONNECTED, 2)


async def test_a_way_through_a_hub_alone_is_told_with_the_hub(graph: GraphAdapter) -> None:
    steps = await seen(graph, "visitor007", relation="visited"), await seen(graph, "boat03", relation="moored_at")
    found = await evidence(graph, await walk(graph, "visitor007", *steps), "boat03")
    assert (found.verdict, [hub.id for hub in found.hubs]) == (Verdict.HUB_ONLY, ["harbour"])
    at_its_end = await evidence(graph, await walk(graph, "visitor007", *steps), "harbour")
    assert at_its_end.verdict is Verdict.CONNECTED


async def test_a_value_that_two_entities_share_ties_nothing(graph: GraphAdapter) -> None:
    trail = await walk(graph, "ada", await seen(graph, "ada"), await seen(graph, "cyd", relation="age"))
    without_edges = [one for step in trail.steps for one in step.triples if not isinstance(one.tail, Entity)]
    alone = replace(trail, steps=(replace(trail.steps[0], triples=tuple(without_edges)),))
    assert (await evidence(graph, alone, "36")).verdict is Verdict.CONNECTED
    assert (await evidence(graph, alone, "cyd")).verdict is Verdict.UNCONNECTED


async def test_a_longer_way_around_a_hub_proves_more_than_the_short_one_through_it(graph: GraphAdapter) -> None:
    around = [await seen(graph, one) for one in ("boat03", "berth03", "registry")]
    trail = await walk(graph, "registry", await seen(graph, "harbour", relation="moored_at"), *around)
    found = await evidence(graph, trail, "boat03")
    assert "harbour" not in {one.tail.id for one in found.triples if isinstance(one.tail, Entity)}


async def test_triples_through_a_mediator_are_looked_up_hop_by_hop(graph: GraphAdapter) -> None:
    page = await graph.neighbours(["ada"], Direction.OUTGOING, relation_paths=[("marriage", "spouse")], limit=10)
    step = TrailStep("get_triples", {"entity": "ada"}, 1.0, triples=tuple(link.triple for link in page.items))
    trail = await walk(graph, "ada", step)
    assert (await evidence(graph, trail, "ben")).verdict is Verdict.CONNECTED
    elsewhere = replace(step, triples=tuple(replace(one, via=Entity("berth01")) for one in step.triples))
    assert (await evidence(graph, await walk(graph, "ada", elsewhere), "ben")).verdict is Verdict.CHANGED


async def test_each_answer_has_its_verdict_in_the_order_of_the_call(graph: GraphAdapter) -> None:
    trail = await walk(graph, "ada", await seen(graph, "ada"))
    found = await check_answers(graph, trail, ["ben", "nobody", "cyd", "ben"], hub_rows=HUB_ROWS)
    assert [one.verdict.value for one in found] == ["connected", "never seen", "connected", "connected"]


@pytest.mark.parametrize("verb", ["edges", "neighbours"])
@pytest.mark.parametrize(
    ("stop", "error"),
    [(Stop.TIME_OUT, StoreTimeout), (Stop.ROW_CAP, Unsupported), (Stop.UNORDERED, Unsupported)],
)
async def test_a_triple_that_a_partial_list_of_the_store_lacks_is_not_called_changed(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, verb: str, stop: Stop, error: type[KgnavError]
) -> None:
    trail = await walk(graph, "ada", await seen(graph, "ada"))
    read = getattr(type(graph), verb)

    async def cut(self: GraphAdapter, *given: Any, **named: Any) -> Page[Any]:
        page: Page[Any] = await read(self, *given, **named)
        return replace(page, items=page.items[:1], positions=page.positions[:1], stop=stop)

    monkeypatch.setattr(type(graph), verb, cut)
    with pytest.raises(error):
        await evidence(graph, trail, "ben" if verb == "edges" else "1815-12-10")


async def through_the_harbour(graph: GraphAdapter) -> Trail:
    """A trail whose only path leads through a hub."""
    steps = await seen(graph, "visitor007", relation="visited"), await seen(graph, "boat03", relation="moored_at")
    return await walk(graph, "visitor007", *steps)


@pytest.mark.parametrize("exact", [True, False])
async def test_a_hub_is_found_where_the_store_did_not_count_all_its_relations(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    trail, read = await through_the_harbour(graph), graph.relations

    async def cut(*given: Any, **named: Any) -> Page[RelationFacts]:
        page = await read(*given, **named)
        if exact:
            return replace(page, items=page.items[:1], stop=Stop.TIME_OUT)
        low = [replace(one, count=Count.at_least(1), per_entity=dict.fromkeys(one.per_entity, 1)) for one in page.items]
        return replace(page, items=tuple(low))

    monkeypatch.setattr(graph, "relations", cut)
    assert (await evidence(graph, trail, "boat03")).verdict is Verdict.HUB_ONLY
    trail = await walk(graph, "cyd", await seen(graph, "cyd"), await seen(graph, "ada"))
    assert (await evidence(graph, trail, "marriage1")).verdict is Verdict.CONNECTED


@pytest.mark.parametrize(("stop", "error"), [(Stop.TIME_OUT, StoreTimeout), (Stop.ROW_CAP, Unsupported)])
async def test_a_node_whose_rows_the_store_did_not_all_return_is_not_taken_for_no_hub(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch, stop: Stop, error: type[KgnavError]
) -> None:
    trail = await through_the_harbour(graph)
    nothing: AnchoredPage[Any] = AnchoredPage((), (), Count.at_least(0), stop)
    monkeypatch.setattr(graph, "relations", AsyncMock(return_value=nothing))
    monkeypatch.setattr(graph, "neighbours", AsyncMock(return_value=nothing))
    with pytest.raises(error):
        await evidence(graph, trail, "boat03")
