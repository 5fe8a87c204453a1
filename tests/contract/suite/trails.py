"""Proofs of answers by what a walk showed, reasoning steps and mazes, on any store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.errors import InvalidStep, UnknownRelation
from kgnav_mcp.model import Entity, Literal, Relation, Trail, TrailStep, Triple, Verdict
from kgnav_mcp.navigation import maze
from kgnav_mcp.navigation.evidence import check_answers
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.reasoning_steps import Citation, StepLimits, SubmittedStep, add_step
from kgnav_mcp.navigation.relations import get_triples
from kgnav_mcp.navigation.shown_graph import entities_and_triples
from kgnav_mcp.port import Capability, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import AdapterContract, has
from tests.contract.toy_views import View, as_row, as_tail

HUB_ROWS = 60
FEW = Limits(row_limit=20)
"""Limits small enough that no hub of the toy graph is read whole."""


class TrailContract(AdapterContract):
    async def test_each_answer_has_the_verdict_that_the_walk_and_the_store_give(
        self, adapter: GraphAdapter, view: View
    ):
        read_flattened = f"{view.relation('marriage')}.{view.relation('spouse')}"
        mediated = [read_flattened] if has(adapter, Capability.MEDIATORS) else [view.relation("marriage")]
        ada, harbour, hermit = (Entity(view.node(one)) for one in ("ada", toy.HUB, "hermit"))
        gone = Triple(ada, Relation(view.relation("knows"), "knows"), hermit)
        trail = Trail(
            "toy",
            "Who?",
            (ada,),
            0.0,
            (
                await shown(adapter, "ada", *map(view.relation, ("lives_at", "born")), view=view),
                await shown(adapter, "ada", *mediated, view=view),
                await shown(adapter, toy.HUB, view.relation("moored_at"), view=view),
                await shown(adapter, "ouroboros", view.relation("eats"), view=view),
                TrailStep("search", {}, 0.0, triples=(gone,)),
            ),
        )
        expected = {
            view.node(toy.HUB): Verdict.CONNECTED,
            "Old Harbour": Verdict.CONNECTED,
            "1815-12-10": Verdict.CONNECTED,
            view.node("ben" if len(mediated[0]) == len(read_flattened) else "marriage1"): Verdict.CONNECTED,
            view.node("boat03"): Verdict.HUB_ONLY,
            hermit.id: Verdict.CHANGED,
            view.node("mercury_metal"): Verdict.UNCONNECTED,
            view.node("visitor007"): Verdict.UNGROUNDED,
        }
        found = await check_answers(adapter, trail, list(expected), hub_rows=HUB_ROWS)
        assert {one.answer: one.verdict for one in found} == expected
        assert [hub.id for one in found for hub in one.hubs] == [harbour.id]
        assert [one.missing[0].relation for one in found if one.missing] == [gone.relation]

    async def test_an_edge_is_another_one_where_its_qualifiers_are(self, adapter: GraphAdapter, view: View):
        step = await shown(adapter, "ada", view.relation("lives_at"), view=view)
        (lives,) = step.triples
        (until,) = lives.qualifiers or (None,)
        assert (until is not None) is has(adapter, Capability.QUALIFIERS)
        if until is None:
            return
        assert isinstance(until.value, Literal)
        later = replace(until, value=replace(until.value, text="1999-01-01"))
        trail = Trail("toy", "", (lives.head,), 0.0, (replace(step, triples=(replace(lives, qualifiers=(later,)),)),))
        (found,) = await check_answers(adapter, trail, [view.node(toy.HUB)], hub_rows=HUB_ROWS)
        assert found.verdict is Verdict.CHANGED

    @pytest.mark.parametrize(
        ("anchor", "relation", "tail"),
        [
            ("ada", "lives_at", "Old Harbour"),
            ("ada", "born", "1815-12-10"),
            (toy.REGISTRY, "lists", "Visitor Number 149"),
            (toy.REGISTRY, "lists", "boat79"),
        ],
    )
    async def test_a_cited_triple_that_is_there_is_taken(
        self, adapter: GraphAdapter, view: View, anchor: str, relation: str, tail: str
    ):
        named = view.node(tail) if view.node(tail) in view.types else tail
        citation = Citation(view.node(anchor), relation.replace("_", " "), named)
        (triple,) = await taken(adapter, view, anchor, relation, citation)
        head, name, end, _ = as_row(triple)
        assert (head, name) == (view.node(anchor), view.relation(relation))
        assert named in (end, end[0], triple.tail.label if isinstance(triple.tail, Entity) else None)

    async def test_parallel_edges_are_cited_by_their_qualifiers(self, adapter: GraphAdapter, view: View):
        citation = Citation(view.node("ada"), view.relation("knows"), view.node("ben"))
        if has(adapter, Capability.QUALIFIERS):
            with pytest.raises(InvalidStep) as caught:
                await taken(adapter, view, "ada", "knows", citation)
            assert len({as_row(one) for one in caught.value.instead}) == 2
            citation = replace(citation, qualifiers={"since": "1841"})
        (triple,) = await taken(adapter, view, "ada", "knows", citation)
        assert as_tail(triple.tail) == view.node("ben")
        with pytest.raises(InvalidStep, match="not with the cited qualifiers"):
            await taken(adapter, view, "ada", "knows", replace(citation, qualifiers={"since": "1999"}))

    async def test_a_mediator_is_cited_as_one_triple_with_its_roles(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.MEDIATORS):
            return
        relation = f"{view.relation('marriage')}.{view.relation('spouse')}"
        citation = Citation(view.node("ada"), relation, "Ben Waters", {"rite": "civil"})
        given = SubmittedStep(view.node("ada"), relation, [citation], "")
        (step,) = await add_step(adapter, Trail("toy", "", (), 0.0), given, limits=FEW, most=StepLimits())
        assert [as_tail(one.tail) for one in step.triples] == [view.node("ben")]

    async def test_a_wrong_step_is_told_with_what_the_anchor_has(self, adapter: GraphAdapter, view: View):
        citation = Citation(view.node("ada"), view.relation("knows"), "Nobody Known")
        with pytest.raises(InvalidStep, match="does not exist") as missed:
            await taken(adapter, view, "ada", "knows", citation)
        assert {as_tail(one.tail) for one in missed.value.instead} == {view.node("ben"), view.node("cyd")}
        with pytest.raises(InvalidStep, match="but leads to it") as turned:
            await taken(adapter, view, "ada", "dislikes", citation)
        assert [one.head.id for one in turned.value.instead] == [view.node("cyd")]
        with pytest.raises(UnknownRelation) as unknown:
            await taken(adapter, view, "ada", "eats", citation)
        assert len(unknown.value.nearest) == 2

    async def test_a_cell_lists_those_beside_it_by_their_distance(
        self, adapter: GraphAdapter, view: View, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(maze, "DISTANCE", "age")
        trail = Trail("toy", "", (), 0.0, (TrailStep(maze.TOOL, {}, 0.0, visited=(view.node("cyd"),)),))
        found = await maze.possible_next_cells(adapter, trail, view.node("ada"))
        assert (found.cell.distance, found.cell.mark) == (36, 2)
        people = [(cell.entity.id, cell.distance, cell.mark) for cell in found.neighbours if cell.distance]
        assert people == [(view.node("cyd"), 36, 1), (view.node("ben"), 41, None)]


async def shown(adapter: GraphAdapter, node: str, *relations: str, view: View) -> TrailStep:
    """A trail step that followed these relations of a node."""
    found = await get_triples(adapter, view.node(node), relations, limits=Limits())
    entities, triples = entities_and_triples(found.page.items, found.entities)
    return TrailStep("get_triples", {}, 0.0, visited=(view.node(node),), entities=entities, triples=triples)


async def taken(
    adapter: GraphAdapter, view: View, anchor: str, relation: str, citation: Citation
) -> tuple[Triple, ...]:
    """The triples of a reasoning step with one citation."""
    given = SubmittedStep(view.node(anchor), view.relation(relation), [citation], "")
    (step,) = await add_step(adapter, Trail("toy", "", (), 0.0), given, limits=FEW, most=StepLimits())
    return step.triples
