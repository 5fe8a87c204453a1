"""All problems of a plan are reported at once before it runs, in the terms of the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pytest

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.languages.cypher import parse_cypher, quoted
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Aggregate, AggregateFunction, Column, Pipeline, Plan, Project
from kgnav_mcp.port import Capability, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import AdapterContract, has
from tests.contract.toy_views import View

RIGHT = (
    "MATCH (p:{Person})-[:{knows}]->(q:{Person}) WHERE p.{age} >= 36 RETURN q.name",
    "MATCH (b:{Boat})-[:{moored_at}]->(h:{Place}) WHERE b.{flag} = 'red' RETURN count(b)",
    "MATCH (p:Person) WHERE p.height > 1.5 RETURN p",
    "MATCH (:{Visitor})-[:{rented}]->(:{Berth})-[:{used_by}]->(b) RETURN b LIMIT 3",
    "MATCH (a)-[:{marriage}|{spouse}*1..2]->(b:{Person}) RETURN a, b",
)
MISTAKES = {
    "a misspelt label": ("MATCH (p:Persson)-[:{knows}]->(q) RETURN q", ("Persson",), True),
    "a misspelt property": ("MATCH (p:{Person}) WHERE p.hieght > 1 RETURN p", ("hieght",), True),
    "a misspelt relation": ("MATCH (b:{Boat})-[:moored_att]->(h) RETURN h", ("moored_att",), True),
    "the wrong direction": ("MATCH (h:{Place})-[:{moored_at}]->(b:{Boat}) RETURN b", ("{moored_at}",), True),
    "a relation that does not leave that label": ("MATCH (:{Planet})-[:{hunts}]->(h) RETURN h", ("{hunts}",), False),
    "a relation that does not lead to that label": (
        "MATCH (:{Boat})-[:{moored_at}]->(h:{Creature}) RETURN h",
        ("{moored_at}",),
        False,
    ),
    "a relation for a property": ("MATCH (p:{Person}) WHERE p.{knows} = 'Ada Stone' RETURN p", ("{knows}",), False),
    "an id with another number": ("MATCH (p:{Person})-[:knows7]->(q) RETURN q", ("knows7",), False),
    "a number in quotes": ("MATCH (p:{Person}) WHERE p.{age} = '36' RETURN p", ("{age}",), True),
    "a text for a number": ("MATCH (p:{Person}) WHERE p.{age} = 'old' RETURN p", ("{age}",), False),
    "a text that is no number": ("MATCH (p:{Person}) WHERE p.{age} STARTS WITH '3' RETURN p", ("{age}",), True),
    "a property that the label never has": ("MATCH (b:{Boat}) WHERE b.{age} > 3 RETURN b", ("{age}",), False),
    "a property of other nodes, misspelt": (
        "MATCH (b:{Boat}) WHERE b.{alive} RETURN b.{height}",
        ("{alive}", "{height}"),
        False,
    ),
    "several of them": (
        "MATCH (p:Persson)-[:{knows}]->(q) MATCH (h:{Place})-[:{moored_at}]->(b:{Boat}) WHERE b.lenght > 5 "
        "RETURN p, q, b",
        ("Persson", "{moored_at}", "lenght"),
        True,
    ),
}
"""Plans with the alternatives named for each problem, and whether there is a unique correction."""


NOTHING_FITS = {
    "(b)-[s:{hunts}]->(x)": ("MATCH (h:{Place})<-[:{moored_at}]-(b), (b)-[s:{hunts}]->(x) RETURN b", False),
    "the condition b.{length} > 900": ("MATCH (b:{Boat})-[:{moored_at}]->(h) WHERE b.{length} > 900 RETURN h", True),
    "the condition p.{age} = q.{height}": (
        "MATCH (p:{Person})-[:{knows}]->(q:{Person}) WHERE p.{age} = q.{height} RETURN p",
        True,
    ),
    "the condition f = 'purple'": (
        "MATCH (b:{Boat})-[:{moored_at}]->(h) WITH h, b.{flag} AS f WHERE f = 'purple' RETURN h",
        True,
    ),
    "the condition NOT EXISTS { (b)-[:{moored_at}]->() }": (
        "MATCH (b:{Boat}) WHERE b.{length} > 5 AND NOT EXISTS { (b)-[:{moored_at}]->() } RETURN b",
        False,
    ),
    "the condition n > 1": ("MATCH (b:{Boat})-[:{moored_at}]->(h) WITH b, count(h) AS n WHERE n > 1 RETURN b", False),
}
"""The part without a match, the plan, and whether the part compares with a constant that matches nothing at all."""


class CheckContract(AdapterContract):
    """Plans are checked by the store's schema and, where that is not enough, by the graph."""

    @pytest.mark.parametrize("written", RIGHT)
    async def test_a_right_plan_has_no_problems(self, adapter: GraphAdapter, view: View, written: str):
        assert (await checked(adapter, view, written)).problems == ()

    @pytest.mark.parametrize("mistake", MISTAKES)
    async def test_each_mistake_is_told_and_the_mended_plan_is_right(
        self, adapter: GraphAdapter, view: View, mistake: str
    ):
        written, places, mends = MISTAKES[mistake]
        found = await checked(adapter, view, written)
        told = [problem.place for problem in found.problems]
        wanted = [named(view, place).strip("`") for place in places]
        assert len(told) == len(wanted)
        assert all(any(each in place for place in told) for each in wanted), told
        assert (found.corrected is not None) is mends, found.problems
        if found.corrected is not None:
            again = await PlanRunner(adapter).check(found.corrected)
            assert again.problems == ()
            assert again.plan.pipelines[0].clauses != found.plan.pipelines[0].clauses

    @pytest.mark.parametrize("part", NOTHING_FITS)
    async def test_what_left_nothing_of_an_answer_is_named(self, adapter: GraphAdapter, view: View, part: str):
        written, of_plan = NOTHING_FITS[part]
        found = await checked(adapter, view, written)
        assert found.problems == ()
        sentence = f"Nothing matches {named(view, part)}."
        empty = await PlanRunner(adapter).run(found.plan, limit=9)
        assert (empty.items, empty.note) == ((), sentence)
        for by_store in (True, False):
            zero = await PlanRunner(adapter, by_store=by_store).run(counting(found.plan), limit=9)
            assert [row.cells for row in zero.items] == [(0,)]
            assert zero.note == (sentence if of_plan else "")

    async def test_a_zero_says_nothing_of_constants_that_match_something_elsewhere(
        self, adapter: GraphAdapter, view: View
    ):
        written = "MATCH (p:{Person})-[:{knows}]->(q:{Person}) WHERE p.{age} = 41 AND q.{age} = 41"
        for returned, expected in (("count(q)", (0,)), ("count(q), count(p)", (0, 0)), ("sum(q.{age})", (0,))):
            found = await checked(adapter, view, f"{written} RETURN {returned}")
            page = await PlanRunner(adapter).run(found.plan, limit=9)
            assert ([row.cells for row in page.items], page.note) == ([expected], "")

    @pytest.mark.parametrize(
        ("step", "nodes"),
        [
            ({"hint": "Ben Waters"}, ["ben"]),
            ({"hint": "Mercury"}, []),
            ({"hint": "Mercury", "node_type": "Planet"}, ["mercury_planet"]),
            ({"hint": "Ben Watters", "node_type": "Person"}, ["ben"]),
            ({"hint": "Qqqq Zzzz"}, []),
        ],
    )
    async def test_a_hint_of_a_step_means_what_find_node_puts_first(
        self, adapter: GraphAdapter, view: View, step: dict[str, str], nodes: list[str]
    ):
        exact = step["hint"] in {"Ben Waters", "Mercury"}
        if not exact and not has(adapter, Capability.FUZZY_NAMES):
            return
        written = parse_plan([{"as": "n", "find_node": step}, {"return": ["n"]}])
        plans = PlanRunner(adapter)
        found = await plans.check(written.plan, written.single_node_variables)
        candidates = await adapter.find(step["hint"], label=step.get("node_type"), limit=5)
        if nodes:
            assert found.problems == ()
            page = await plans.run(found.plan, limit=9)
            assert [cell.id for row in page.items for cell in row.cells if isinstance(cell, Entity)] == [
                view.node(node) for node in nodes
            ]
            assert candidates.items[0].entity.id == view.node(nodes[0])
            assert any("was interpreted as" in note for note in found.notes) is not exact
        else:
            (problem,) = found.problems
            ids = [each.partition(" (")[0] for each in problem.alternatives]
            assert ids == [each.entity.id for each in candidates.items]

    @pytest.mark.parametrize(("stated", "meant"), [("'1950'", 1950), ("'long ago'", None)])
    async def test_a_text_for_a_number_that_edges_have_is_told(
        self, adapter: GraphAdapter, view: View, stated: str, meant: int | None
    ):
        if not has(adapter, Capability.QUALIFIERS):
            return
        found = await checked(adapter, view, f"MATCH (v)-[r:{{visited}}]->() WHERE r.{{year}} = {stated} RETURN v")
        (problem,) = found.problems
        assert "its values are numbers" in problem.reason
        assert problem.alternatives == (() if meant is None else (str(meant),))
        assert (found.corrected is None) is (meant is None)
        right = f"MATCH (v)-[r:{{visited}}]->() WHERE r.{{year}} = {meant or 1950} RETURN v"
        assert (await checked(adapter, view, right)).problems == ()

    @pytest.mark.parametrize("written", ["MATCH (p:{}) RETURN p", "MATCH (p) WHERE p:{} RETURN p"])
    async def test_an_id_with_a_prefix_is_known_where_its_backticks_are_forgotten(
        self, adapter: GraphAdapter, view: View, written: str
    ):
        label = view.style.label_id("Person")
        found = await PlanRunner(adapter).check(parse_cypher(written.format(label)))
        assert [label in problem.place for problem in found.problems] == [True] * label.count(":")
        if found.corrected is not None:
            assert (await PlanRunner(adapter).check(found.corrected)).problems == ()
        assert (found.corrected is None) is (":" not in label)

    @pytest.mark.parametrize("ages", ["UNWIND $ages AS x", "WITH $ages AS all UNWIND all AS y WITH DISTINCT y AS x"])
    async def test_values_of_a_property_are_looked_up_by_the_members_of_a_list(
        self, adapter: GraphAdapter, view: View, ages: str
    ):
        text = f"{ages.replace('$ages', '[41, 977, 978]')} MATCH (n) WHERE n.`{view.relation('age')}` = x RETURN x, n"
        checked = await PlanRunner(adapter).check(parse_plan(text).plan)
        assert not checked.problems
        assert "Comparison.IN:" in repr(checked.plan)
        page = await PlanRunner(adapter).run(checked.plan, limit=9)
        assert [(row.cells[0], getattr(row.cells[1], "id", None)) for row in page.items] == [(41, view.node("ben"))]

    async def test_members_of_a_list_are_looked_up_by_their_names(self, adapter: GraphAdapter, view: View):
        text = "UNWIND ['Cyd Marsh', 'Mercury', 'Zedzz'] AS x MATCH (n {name: x}) RETURN x, n"
        plans = PlanRunner(adapter, 4)  # fewer rows than the graph has nodes, or than all names with all nodes
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        assert any("Zedzz" in note for note in checked.notes)
        page = await plans.run(checked.plan, limit=9)
        found = Counter((row.cells[0], getattr(row.cells[1], "id", None)) for row in page.items)
        expected = [("Cyd Marsh", "cyd"), ("Mercury", "mercury_planet"), ("Mercury", "mercury_metal")]
        assert found == Counter((name, view.node(node)) for name, node in expected)

    @pytest.mark.parametrize(
        ("labels", "names", "expected"),
        [
            (("Person", "Person"), ("age", "age"), ["ada ada", "ada cyd", "ben ben", "cyd ada", "cyd cyd"]),
            (("Person", "Person"), ("alive", "alive"), ["ada ada", "ben ben"]),
            (("Boat", "Office"), ("length", "code"), [f"boat{n:02} {toy.REGISTRY}" for n in range(toy.BOATS)]),
            (("Boat", "Person"), ("length", "age"), []),
        ],
    )
    async def test_sets_are_joined_by_equal_values_even_if_their_product_is_more_than_may_be_held(
        self,
        adapter: GraphAdapter,
        view: View,
        labels: tuple[str, str],
        names: tuple[str, str],
        expected: Sequence[str],
    ):
        """The registry has codes for the lengths of all boats."""
        if not has(adapter, Capability.LABELS):
            return
        one, two = (quoted(view.style.label_id(label)) for label in labels)
        left, right = (f"{owner}.{quoted(view.relation(name))}" for owner, name in zip("ab", names, strict=True))
        text = f"MATCH (a:{one}), (b:{two}) WHERE {left} = {right} RETURN a, b"
        plans = PlanRunner(adapter, 100)
        found = await plans.check(parse_plan(text).plan)
        assert not found.problems
        page = await plans.run(found.plan, limit=1_000)
        pairs = [tuple(view.node(node) for node in pair.split()) for pair in expected]
        assert Counter(tuple(getattr(cell, "id", None) for cell in row.cells) for row in page.items) == Counter(pairs)


def counting(plan: Plan) -> Plan:
    """A plan that counts the rows of another plan."""
    (pipeline,) = plan.pipelines
    count = Project((Column("n", Aggregate(AggregateFunction.COUNT, None)),))
    return Plan((Pipeline((*pipeline.clauses[:-1], count)),))


async def checked(adapter: GraphAdapter, view: View, written: str) -> CheckedPlan:
    """The result of a plan's check. Words in braces are replaced by the store's ids."""
    return await PlanRunner(adapter).check(parse_cypher(named(view, written)))


def named(view: View, written: str) -> str:
    """A text with the words in braces replaced by the store's ids of labels (with a capital) and relations."""

    def word(name: re.Match[str]) -> str:
        return quoted(view.style.label_id(name[1]) if name[1][0].isupper() else view.relation(name[1]))

    return re.sub(r"\{(\w+)\}", word, written)
