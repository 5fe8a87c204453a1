"""Random plans over the toy graph have the same answers as the test oracle, whoever runs them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from math import inf
from typing import ClassVar

import pytest

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count
from kgnav_mcp.navigation.plans import runner
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    GivenNodes,
    Match,
    NodePattern,
    Order,
    Variable,
)
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.server import plan_runner
from tests.contract import toy
from tests.contract.suite.base import AdapterContract, has
from tests.contract.toy_views import View
from tests.navigation.plans.writing import matches_of, rows, with_result
from tests.plans.comparing import ALL, SIZES, hold
from tests.plans.graph import Graph
from tests.plans.short import cmp, edge, give, matching, plan
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import plain
from tests.server.processes import PATIENCE_S

SMALL = ("knows", "dislikes", "marriage", "spouse", "eats", "lives_at", "hunts")
"""Relations without hubs."""


class PlanContract(AdapterContract):
    """Plans run in the store as far as it supports them, else by the evaluator, with the same answers."""

    bound: ClassVar[int] = 20_000
    """Maximum rows that the evaluator may hold. A random plan that needs more is skipped."""

    plans: ClassVar[int] = 2
    """Number of random plans. Each takes seconds on a server; `make fuzz` tries more."""

    groups_by_values: ClassVar[bool] = True
    """Whether the store groups by values of properties. Else there may be no more matches than the evaluator holds."""

    pages: ClassVar[int] = 3
    """Maximum pages of one answer that are read, for the same reason."""

    @pytest.fixture(scope="class")
    @classmethod
    def plain_graph(cls, view: View) -> Graph:
        """The toy graph as the oracle reads it."""
        return plain(view)

    async def test_a_plan_by_chance_answers_the_same_to_the_oracle_in_pages_of_any_size(
        self, adapter: GraphAdapter, view: View, plain_graph: Graph
    ):
        words = words_of(plain_graph, [view.relation(name) for name in SMALL])
        for asked, size in zip(plans_by_chance(words, self.plans), cycle(SIZES), strict=False):
            await hold(PlanRunner(adapter, self.bound), plain_graph, asked, size, self.pages)

    async def test_a_plan_of_nodes_by_chance_answers_the_same_to_the_oracle(
        self, adapter: GraphAdapter, view: View, plain_graph: Graph
    ):
        words = words_of(plain_graph, [view.relation(name) for name in SMALL])
        for asked in plans_by_chance(words, 2 * self.plans, of_nodes=True):
            await hold(PlanRunner(adapter, self.bound), plain_graph, asked, ALL, 1)

    @pytest.mark.parametrize(
        "condition",
        [
            "NOT EXISTS { (b)-[:$knows]->() }",
            "NOT EXISTS { (b)-[:$knows]->(c) WHERE EXISTS { (c)-[:$eats]->() } }",
            "a = b OR EXISTS { (b)-[:$knows]->() }",
            "NOT (a = b OR EXISTS { (b)-[:$knows]->(c) WHERE NOT EXISTS { (c)-[:$eats]->() } })",
        ],
    )
    async def test_a_condition_on_a_pattern_means_the_same_wherever_it_stands(
        self, adapter: GraphAdapter, view: View, plain_graph: Graph, condition: str
    ):
        text = f"MATCH (a)-[:$knows]->(b) WHERE {condition} RETURN a, b"
        for name in ("knows", "eats"):
            text = text.replace(f"${name}", f"`{view.relation(name)}`")
        checked = await PlanRunner(adapter, self.bound).check(parse_plan(text).plan)
        assert not checked.problems
        await hold(PlanRunner(adapter, self.bound), plain_graph, checked.plan, ALL, 1)

    @pytest.mark.parametrize(
        "value", ["lpad(b.name, 5, '*-')", "rpad(elementId(b), 3)", "lpad(toString(b.age), 4, '0')"]
    )
    async def test_a_function_that_the_store_may_lack_means_the_same(
        self, adapter: GraphAdapter, view: View, plain_graph: Graph, value: str
    ):
        for clause in (f"WHERE {value} > 'a' RETURN a, b", f"RETURN a, {value} AS x"):
            text = f"MATCH (a)-[:`{view.relation('knows')}`]->(b) {clause}"
            checked = await PlanRunner(adapter, self.bound).check(parse_plan(text).plan)
            assert not checked.problems
            await hold(PlanRunner(adapter, self.bound), plain_graph, checked.plan, ALL, 1)

    @pytest.mark.parametrize(
        ("nodes", "relation"), [(("ada", "ben", "cyd"), "knows"), ((toy.HUB,), "visited"), (("ada",), "eats")]
    )
    async def test_a_step_without_a_direction_is_outgoing_and_counts_the_incoming_matches_left_out(
        self, adapter: GraphAdapter, view: View, nodes: tuple[str, ...], relation: str
    ):
        edges = {(edge.head, edge.tail) for edge in toy.EDGES if edge.relation == relation}
        outgoing = {(head, tail) for head, tail in edges if head in nodes}
        omitted = {(tail, head) for head, tail in edges if tail in nodes} - outgoing
        steps = [
            {"as": "n", "find_node": {"element_id": [view.node(one) for one in nodes]}},
            {"as": "m", "fetch_neighbors": {"from": "n", "edge_type": view.relation(relation)}},
            {"return": ["n", "m"]},
        ]
        rows, notes = await self._rows_and_omitted(adapter, steps)
        assert rows == {(view.node(head), view.node(tail)) for head, tail in outgoing}
        expected = f"Only outgoing edges of step m; incoming matches left out: {len(omitted)}."
        assert [note.partition(" With ")[0] for note in notes] == ([expected] if omitted else [])

    async def test_common_nodes_are_outgoing_and_count_those_of_either_direction_left_out(
        self, adapter: GraphAdapter, view: View
    ):
        edges = {(edge.head, edge.tail) for edge in toy.EDGES if edge.relation == "knows"}
        either = edges | {(tail, head) for head, tail in edges}
        both = {far for near, far in either if near == "ben"} & {far for near, far in either if near == "cyd"}
        assert both == {"ada"}
        assert not {far for near, far in edges if near == "cyd"}
        steps: list[object] = [
            {"as": "b", "find_node": {"element_id": view.node("ben")}},
            {"as": "c", "find_node": {"element_id": view.node("cyd")}},
            {"as": "m", "find_common_nodes": [[one, view.relation("knows")] for one in ("b", "c")]},
        ]
        rows, notes = await self._rows_and_omitted(adapter, steps)
        assert rows == set()
        assert [note.partition(" With ")[0] for note in notes] == [
            "Only outgoing edges of step m; common nodes by incoming edges left out: 1."
        ]

    async def test_a_last_step_restricts_others_and_sets_are_left_out_within_each_other(
        self, adapter: GraphAdapter, view: View
    ):
        edges = {(edge.head, edge.tail) for edge in toy.EDGES if edge.relation == "knows"}
        first = {tail for head, tail in edges if head in {"ada", "ben", "jose"}}
        second = {tail for head, tail in edges if head in first}
        restricted = {tail for tail in first if any(head == tail for head, _ in edges)}
        assert (len(restricted), len(first - second)) == (2, 1)
        knows = {"edge_type": view.relation("knows"), "direction": "outgoing"}
        steps: list[object] = [
            {"as": "a", "find_node": {"element_id": [view.node(one) for one in ("ada", "ben", "jose")]}},
            {"as": "b", "fetch_neighbors": {"from": "a", **knows}},
            {"as": "c", "fetch_neighbors": {"from": "b", **knows}},
        ]
        left_out = [
            {"as": "d", "fetch_neighbors": {"from": "a", **knows, "except": "c"}},
            {"as": "e", "fetch_neighbors": {"from": "a", **knows, "except": "d"}},
        ]
        for asked, expected in (
            ([*steps, {"return": ["b"]}], restricted),
            ([*steps, left_out[0]], first - second),
            ([*steps, *left_out], first - (first - second)),
        ):
            rows, _ = await self._rows_and_omitted(adapter, asked)
            assert rows == {(view.node(one),) for one in expected}

    async def _rows_and_omitted(
        self, adapter: GraphAdapter, steps: Sequence[object]
    ) -> tuple[set[tuple[object, ...]], list[str]]:
        """The ids in the rows of steps, and the sentences on what they leave out."""
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan([*steps]).plan)
        assert not checked.problems
        page = await plans.run(checked.plan, limit=1_000)
        rows: set[tuple[object, ...]] = {tuple(getattr(cell, "id", None) for cell in row.cells) for row in page.items}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(plan_runner, "OMITTED_S", PATIENCE_S)  # a store that has just started is slow
            return rows, await plan_runner.omitted_notes(plans, steps)

    @pytest.mark.parametrize("condition", ["n.id = ", "elementId(n) = ", "n.id IN ["])
    async def test_a_plan_finds_a_node_by_its_printed_id(self, adapter: GraphAdapter, view: View, condition: str):
        text = f"MATCH (n) WHERE {condition}'{view.node('ben')}'{']' if '[' in condition else ''} RETURN n"
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        page = await plans.run(checked.plan, limit=9)
        assert [[getattr(cell, "id", None) for cell in row.cells] for row in page.items] == [[view.node("ben")]]

    @pytest.mark.parametrize(
        ("condition", "matched"),
        [
            ("n.name = 'Cyd Marsh' AND (n.name = 'Zedzz' OR n.$age > 1)", {"cyd"}),
            ("n.name = 'Cyd Marsh' OR (n.name = 'Zedzz' AND n.$age > 1)", {"cyd"}),
            ("n.name = 'Cyd Marsh' OR (n.name = 'Zedzz' OR n.name = 'Qqqx')", {"cyd"}),
            ("n.$age = 41 XOR n.name = 'Zedzz'", {"ben"}),
            ("n.$age = 41 OR NOT (NOT n.name = 'Zedzz' OR n.$age > 1)", {"ben"}),
            ("n.$age = 41 OR EXISTS { (n)-[:$knows]->({name: 'Zedzz'}) }", {"ben"}),
            ("n.$age = 41 OR n.name IN ['Zedzz', 'Qqqx']", {"ben"}),
            ("n.name IN ['Zedzz', 'Cyd Marsh', 'The Clockmaker']", {"cyd", "ada"}),
            ("n.name = 'Zedzz' AND (n.name = 'Zedzz' OR n.$age > 1)", None),
            ("n.name = 'Cyd Marsh' AND (n.name = 'Zedzz' OR n.name = 'Qqqx')", None),
            ("n.name IN ['Zedzz', 'Qqqx']", None),
            ("NOT EXISTS { (n)-[:$knows]->({name: 'Zedzz'}) }", None),
        ],
    )
    async def test_an_unknown_name_is_refused_unless_it_is_an_alternative_which_matches_nothing(
        self, adapter: GraphAdapter, view: View, condition: str, matched: set[str] | None
    ):
        for name in ("age", "knows"):
            condition = condition.replace(f"${name}", f"`{view.relation(name)}`")
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(f"MATCH (n) WHERE {condition} RETURN n").plan)
        reasons = [problem.reason for problem in checked.problems]
        if matched is None:
            assert "no entity has the name 'Zedzz'" in reasons
            return
        assert not reasons
        assert any("no entity has the name 'Zedzz'" in note for note in checked.notes)
        page = await plans.run(checked.plan, limit=9)
        assert {getattr(row.cells[0], "id", None) for row in page.items} == {view.node(one) for one in matched}

    @pytest.mark.parametrize(
        "asked",
        [
            "MATCH (n {name: 'Mercury'}) RETURN n",
            "MATCH (n) WHERE n.name = 'Mercury' RETURN n",
            "MATCH (n) WHERE 'Mercury' = n.name RETURN n",
            "MATCH (n) WHERE n.name IN ['Mercury', 'Cyd Marsh'] RETURN n",
            "MATCH (n) WHERE n.name IN ['Cyd Marsh', 'The Clockmaker', 'Mercury'] RETURN n",
            "MATCH (n) WHERE n.name <> 'Mercury' RETURN count(n)",
            {"nodes": {"n": {"name": "Mercury"}}, "return": ["n"]},
            {"nodes": {"n": {"where": {"name": ["Mercury", "Cyd Marsh"]}}}, "return": ["n"]},
            [{"as": "n", "find_node": {"where": {"name": "Mercury"}}}, {"return": ["n"]}],
        ],
    )
    async def test_a_name_that_matches_several_nodes_is_noted_with_their_ids_however_it_is_written(
        self, adapter: GraphAdapter, view: View, asked: object
    ):
        written = parse_plan(asked)
        checked = await PlanRunner(adapter, self.bound).check(written.plan, written.single_node_variables)
        assert not checked.problems
        (note,) = (one for one in checked.notes if "matches" in one)
        sentence, _, ids = note.removesuffix(".").partition(": ")
        assert sentence == "The name 'Mercury' matches 2 nodes"
        assert sorted(ids.split(", ")) == sorted(map(view.node, ("mercury_planet", "mercury_metal")))

    @pytest.mark.parametrize(
        ("condition", "matched"),
        [
            ("NOT m.name = 'The Clockmaker'", set[str]()),
            ("NOT m.name IN ['The Clockmaker', 'Cyd Marsh']", set[str]()),
            ("NOT (m.name = 'The Clockmaker' AND b.name = 'Cyd Marsh')", {"marriage1", "marriage2"}),
            ("NOT (m.name = 'The Clockmaker' OR m.name = 'Zedzz')", set[str]()),
            ("(m.name = 'The Clockmaker') IS NULL", {"marriage1", "marriage2"}),
            ("m.name = 'The Clockmaker' XOR b.name = 'Cyd Marsh'", set[str]()),
            ("m.name = 'The Clockmaker' OR b.name = 'Cyd Marsh'", {"marriage2"}),
            ("NOT b.name = 'The Clockmaker'", {"marriage1", "marriage2"}),
            ("NOT b.name IN ['The Clockmaker', 'Cyd Marsh']", {"marriage1"}),
        ],
    )
    async def test_a_comparison_with_an_alias_is_null_for_a_node_without_a_name(
        self, adapter: GraphAdapter, view: View, condition: str, matched: set[str]
    ):
        text = f"MATCH (m)-[:`{view.relation('spouse')}`]->(b) WHERE {condition} RETURN DISTINCT m"
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        page = await plans.run(checked.plan, limit=9)
        assert {getattr(row.cells[0], "id", None) for row in page.items} == {view.node(one) for one in matched}

    @pytest.mark.parametrize(
        "condition",
        [
            "n.$age IN [41, 7] AND n.$age IN [8, 41]",
            "n.$age IN [41, n.$age - n.$age] AND n.$age IN [n.$age - n.$age, 41]",
            "(n.$age IN [41, 7] XOR n.$age IN [41]) OR (n.$age IN [41, 8] AND n.$age IN [9, 41])",
        ],
    )
    async def test_a_value_that_is_in_two_lists_meets_both(self, adapter: GraphAdapter, view: View, condition: str):
        age = f"`{view.relation('age')}`"
        text = f"MATCH (n) WHERE {condition.replace('$age', age)} RETURN n"
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        page = await plans.run(checked.plan, limit=9)
        assert [getattr(row.cells[0], "id", None) for row in page.items] == [view.node("ben")]

    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("[10, 20, 30, 40][2..2]", ()),
            ("[x IN [1, 2] | CASE WHEN x > 1 THEN 'many' ELSE 'one' END]", ("one", "many")),
            ("reduce(t = 0, x IN [1, 2, 3] | CASE x WHEN 2 THEN t ELSE t + x END)", 4),
            ("[x IN [1, 2]]", (1, 2)),
            ("reduce(t = [], x IN [1, 2] | t + [y IN t + x | size(toString(y))])", (1, 1, 1)),
            ("[0 ^ -1, (-0.0) ^ -1, 2 ^ 1024, (-2) ^ 1025]", (inf, -inf, inf, -inf)),
            ("toString([(-8) ^ 0.5, (1 / 0.0) % 2, sqrt(-1 / 0.0)][0])", "NaN"),
            ("coalesce([1][0], 8 * 9223372036854775807)", 1),
            ("size([x IN [(-8) ^ 0.5, (1 / 0.0) % 2, sqrt(-1 / 0.0)] WHERE x <> x])", 3),
        ],
    )
    async def test_an_expression_of_constants_has_the_value_that_it_has_in_cypher(
        self, adapter: GraphAdapter, expression: str, value: object
    ):
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(f"RETURN {expression} AS v").plan)
        assert [row.cells for row in (await plans.run(checked.plan, limit=2)).items] == [(value,)]

    @pytest.mark.parametrize(
        ("returned", "columns"),
        [
            ("count(*)", ["count(*)"]),
            ("n.name, toLower( n.name )", ["n.name", "toLower( n.name )"]),
            ("DISTINCT n", ["n"]),
            ("DISTINCT `n`, (n.name || '|')", ["n", "(n.name || '|')"]),
            ("n.name AS `a name`, COUNT(DISTINCT n) ORDER BY count(*)", ["a name", "COUNT(DISTINCT n)"]),
        ],
    )
    async def test_columns_are_called_as_they_are_written(
        self, adapter: GraphAdapter, returned: str, columns: Sequence[str]
    ):
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(parse_plan(f"MATCH (n) WHERE n.name = 'Cyd Marsh' RETURN {returned}").plan)
        page = await plans.run(checked.plan, limit=9)
        assert [*page.columns] == columns
        assert [len(row.cells) for row in page.items] == [len(columns)]

    @pytest.mark.parametrize(
        ("returned", "number"),
        [
            ("a LIMIT 2", 150),
            ("a ORDER BY elementId(a) LIMIT 2", 150),
            ("DISTINCT a LIMIT 2", 150),
            ("a, count(b) AS n ORDER BY n LIMIT 2", 150),
            ("b, count(a) LIMIT 9", None),
        ],
    )
    async def test_a_store_that_runs_plans_tells_the_number_of_rows_without_limit(
        self, adapter: GraphAdapter, view: View, returned: str, number: int | None
    ):
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(
            parse_plan(f"MATCH (a)-[:`{view.relation('visited')}`]->(b) RETURN {returned}").plan
        )
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(runner, "TOTAL_SECONDS", PATIENCE_S)
            note = (await plans.run(checked.plan, limit=999)).note
        expected = number is not None and has(adapter, Capability.PLANS)
        assert ("Without LIMIT" in note) is expected
        assert not expected or f"Without LIMIT there are {number} rows." in note

    @pytest.mark.parametrize("returned", ["a, b", "DISTINCT a"])
    async def test_the_first_page_of_a_plan_that_the_store_runs_tells_the_number_of_all_rows(
        self, adapter: GraphAdapter, view: View, returned: str
    ):
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(
            parse_plan(f"MATCH (a)-[:`{view.relation('visited')}`]->(b) RETURN {returned}").plan
        )
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(runner, "TOTAL_SECONDS", PATIENCE_S)
            page = await plans.run(checked.plan, limit=2)
        if has(adapter, Capability.PLANS):
            assert (len(page.items), page.total) == (2, Count(150))

    @pytest.mark.parametrize("date", ["1850", "1850-05", "1850-05-01", "1850-05-02", "1849"])
    async def test_an_edge_is_found_by_its_date_in_any_precision(
        self, adapter: GraphAdapter, view: View, plain_graph: Graph, date: str
    ):
        if not has(adapter, Capability.QUALIFIERS):
            return
        until = cmp(f".r.{view.relation('until')}", "=", date)
        asked = plan(matching(edge("a-r->b", view.relation("lives_at")), where=until), give({"a": ".a"}))
        await hold(PlanRunner(adapter, self.bound), plain_graph, asked, ALL, 1)

    async def test_a_pattern_that_the_store_matches_is_told_as_nodes_with_the_times_that_it_matches(
        self, adapter: GraphAdapter, view: View
    ):
        edges = tuple(EdgePattern(f"r{one}", one, "b", (view.relation("visited"),)) for one in ("a", "c"))
        visitor = NodePattern("a", ((view.style.label_id("Visitor"),),))
        match = Match((visitor, NodePattern("b"), NodePattern("c")), edges)
        if not has(adapter, Capability.PLANS):
            with pytest.raises(Unsupported):
                await adapter.run(matches_of(match, ["b"]), limit=9)
            return
        others = toy.VISITORS * (toy.VISITORS - 1)
        assert rows(await adapter.run(matches_of(match, ["b"]), limit=9)) == [(view.node(toy.HUB), others)]
        around = GivenNodes(("a",), ((view.node("visitor001"),), (view.node("ada"),)))
        assert rows(await adapter.run(matches_of(match, [], around), limit=9)) == [
            (view.node("visitor001"), toy.VISITORS - 1)
        ]
        different = matches_of(match, ["b"], counted="a")
        assert rows(await adapter.run(different, limit=9)) == [(view.node(toy.HUB), toy.VISITORS)]
        assert not await adapter.has_more_rows(different, 1), "there is one hub"

    async def test_different_nodes_near_several_rows_are_counted_once(self, adapter: GraphAdapter, view: View):
        """The last column is one that graph files and Neo4j refuse, so that only the first clauses run there."""
        visited = f"[:`{view.relation('visited')}`]"
        returned = "count(DISTINCT c) AS n, reduce(t = 0, x IN [1, 2] | t + x) AS k"
        plans = PlanRunner(adapter, self.bound)
        checked = await plans.check(
            parse_plan(f"MATCH (a)-{visited}->() WITH a LIMIT 20 MATCH (a)-{visited}->(c) RETURN {returned}").plan
        )
        assert rows(await plans.run(checked.plan, limit=9)) == [(1, 3)]

    async def test_the_most_frequent_matches_come_first_and_others_can_be_left_out(
        self, adapter: GraphAdapter, view: View
    ):
        """A store may refuse either; what it answers has to be right."""
        if not has(adapter, Capability.PLANS):
            return
        relations = tuple(map(view.relation, ("visited", "hunts", "dislikes")))
        edges = (EdgePattern("r", "a", "b", relations),)
        counted = matches_of(Match((NodePattern("a"), NodePattern("b")), edges), ["b"])
        every = rows(await adapter.run(counted, limit=ALL))
        most = max(number for _, number in every)
        assert len(every) > 2
        order = (Order(Variable("number"), descending=True),)
        least = Compare(Variable("number"), Comparison.AT_LEAST, Constant(2))
        with suppress(Unsupported):
            first = rows(await adapter.run(with_result(counted, order=order), limit=2))
            assert [number for _, number in first] == sorted((number for _, number in every), reverse=True)[:2]
            assert first[0][-1] == most
        with suppress(Unsupported):
            found = rows(await adapter.run(with_result(counted, where=least), limit=ALL))
            assert sorted(found) == sorted(row for row in every if row[-1] >= 2)

    @pytest.mark.parametrize(
        ("returned", "expected"),
        [
            ("b.`$flag` AS key, count(*) AS n", [("blue", 40), ("red", 40), (None, toy.VISITORS)]),
            (
                "b.`$flag` AS key, sum(b.`$length`) AS s, min(b.`$length`) AS low, max(b.`$length`) AS high",
                [("blue", 318, 5, 11), ("red", 316, 5, 11), (None, 0, None, None)],
            ),
            ("b.`$flag` AS key, avg(b.`$length`) AS mean", [("blue", 7.95), ("red", 7.9), (None, None)]),
            (
                "b.`$flag` AS key, count(DISTINCT h) AS n, count(b.`$length`) AS m",
                [("blue", 1, 40), ("red", 1, 40), (None, 1, 0)],
            ),
            ("h.`$flag` AS key, count(DISTINCT b) AS n", [(None, toy.BOATS + toy.VISITORS)]),
        ],
    )
    @pytest.mark.parametrize("bound", [None, 100])
    async def test_groups_by_a_property_are_right_even_if_there_are_more_matches_than_may_be_held(
        self, adapter: GraphAdapter, view: View, returned: str, expected: list[tuple[object, ...]], bound: int | None
    ):
        """Boats have a flag and a length, visitors have neither."""
        if bound is not None and not (self.groups_by_values and has(adapter, Capability.PLANS)):
            return
        moored, visited = (f"`{view.relation(name)}`" for name in ("moored_at", "visited"))
        for name in ("flag", "length"):
            returned = returned.replace(f"${name}", view.relation(name))
        text = f"MATCH (b)-[:{moored}|{visited}]->(h) RETURN {returned}"
        plans = PlanRunner(adapter, bound or self.bound)
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        found = rows(await plans.run(checked.plan, limit=9))
        assert sorted(found, key=repr) == sorted(expected, key=repr)

    @pytest.mark.parametrize("bound", [None, 100])
    async def test_groups_by_lists_are_right_even_if_there_are_more_matches_than_may_be_held(
        self, adapter: GraphAdapter, view: View, bound: int | None
    ):
        """The registry has seventy codes, and lists boats with a flag and visitors without one."""
        if bound is not None and not (self.groups_by_values and has(adapter, Capability.PLANS)):
            return
        keys = ", ".join(f"{owner}.`{view.relation(name)}` AS {name}" for owner, name in (("r", "code"), ("b", "flag")))
        text = f"MATCH (r)-[:`{view.relation('lists')}`]->(b) RETURN {keys}, labels(b) AS kind, count(*) AS n"
        plans = PlanRunner(adapter, bound or self.bound)
        checked = await plans.check(parse_plan(text).plan)
        assert not checked.problems
        found = sorted(rows(await plans.run(checked.plan, limit=9)), key=repr)
        codes, half = [*range(1, toy.BERTHS + 1)], toy.BOATS // 2
        boats, visitors = (sorted(view.types[view.node(name)]) for name in ("boat00", "visitor000"))
        expected = [(codes, "blue", boats, half), (codes, "red", boats, half), (codes, None, visitors, toy.VISITORS)]
        assert found == sorted(expected, key=repr)

    async def test_a_count_of_nothing_is_zero(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.PLANS):
            return
        loop = Match((NodePattern("a"),), (EdgePattern("r", "a", "a", (view.relation("visited"),)),))
        assert rows(await adapter.run(matches_of(loop, []), limit=9)) == [(0,)]
        assert rows(await adapter.run(matches_of(loop, ["a"]), limit=9)) == []
