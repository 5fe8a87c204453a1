"""Plans checked against the demo graph, whose words a reader knows."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.languages.cypher import write_cypher
from kgnav_mcp.model import Schema
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.check.plan_problems import closest_alternative
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Call, Compare, Constant, During, EdgePattern, Function, ListOf, NodePattern, Property
from kgnav_mcp.plan.walking import parts
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.example import DictAdapter

Mistake = tuple[str, str, tuple[str, ...]]


@pytest.fixture
async def demo() -> AsyncGenerator[PlanRunner]:
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        yield PlanRunner(graph)


async def checked(demo: PlanRunner, plan: object) -> CheckedPlan:
    written = parse_plan(plan)
    return await demo.check(written.plan, written.single_node_variables)


def mistakes(found: CheckedPlan) -> list[Mistake]:
    return [(problem.place, problem.reason, problem.alternatives) for problem in found.problems]


def ids_in(found: CheckedPlan) -> list[object]:
    """The ids that nodes are compared with."""
    compared = (part for part in parts(found.plan) if isinstance(part, Compare) and isinstance(part.left, Call))
    lists = (each.right for each in compared if isinstance(each.right, ListOf))
    return [item.value for each in lists for item in each.items if isinstance(item, Constant)]


def edge(source: str, relation: str, target: str, **more: Any) -> dict[str, Any]:
    return {"from": source, "edge": relation, "to": target, **more}


async def test_names_of_entities_become_their_ids_and_letter_case_is_told(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"a": {"name": "vincent VAN gogh"}}})

    assert ids_in(found) == ["vincent_van_gogh"]
    assert found.notes == ("No entity has the name 'vincent VAN gogh' in this letter case: vincent_van_gogh is used.",)


async def test_another_name_than_one_in_another_letter_case_excludes_the_node_that_it_means(demo: PlanRunner):
    asked = "MATCH (a:Painter) WHERE a.name <> '{}' RETURN count(*)"
    exact, other_case, nobody = [await checked(demo, asked.format(n)) for n in ("Edvard Munch", "edvard munch", "Xy")]
    counts = [(await demo.run(each.plan, limit=1)).items[0].cells[0] for each in (exact, other_case, nobody)]
    assert counts == [80, 80, 81]
    assert other_case.notes == ("No entity has the name 'edvard munch' in this letter case: edvard_munch is used.",)
    assert not exact.notes


async def test_the_names_of_a_list_are_looked_up_together():
    plan = "MATCH (a) WHERE a.name IN ['vincent VAN gogh', 'edvard munch'] RETURN a"
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        with patch.object(graph, "find_by_names", side_effect=graph.find_by_names) as asked:
            found = await checked(PlanRunner(graph), plan)
    assert ids_in(found) == ["vincent_van_gogh", "edvard_munch"]
    assert asked.call_count == 1


@pytest.mark.parametrize("known", [[], ["Zundert"]], ids=["all unknown", "one known"])
async def test_of_a_long_list_of_unknown_names_the_nearest_are_searched_for_few(known: list[str]):
    names = [*known, *(f"zz{number}" for number in range(100))]
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        with patch.object(graph, "find", side_effect=graph.find) as searched:
            found = await checked(PlanRunner(graph), {"nodes": {"a": {"where": {"name": names}}}})
    assert len(found.problems) == (0 if known else 100)
    assert searched.call_count == 20


async def test_notes_on_the_names_of_a_long_list_are_few(demo: PlanRunner):
    unknown = await checked(demo, {"nodes": {"a": {"where": {"name": ["Zundert", *(f"zz{n}" for n in range(9))]}}}})
    assert len(unknown.notes) == 6
    assert unknown.notes[-1] == "4 more names of the list are unknown."

    names = ["Self-Portrait", "William I", "Sunflowers", "William II", "Limburg", "The Scream", "Utrecht", "Zundert"]
    several = await checked(demo, {"nodes": {"a": {"where": {"name": names}}}})
    assert [note.partition(":")[0] for note in several.notes] == [
        "The name 'Self-Portrait' matches 6 nodes",
        "The name 'William I' matches 3 nodes",
        "The name 'Sunflowers' matches 3 nodes",
        "The name 'William II' matches 4 nodes",
        "The name 'Limburg' matches 2 nodes",
        "2 more names of the list match several nodes or in another letter case.",
    ]
    assert several.notes[0].count(",") == 4
    assert several.notes[0].endswith(" and 1 more.")


async def test_labels_relations_and_properties_become_ids_whatever_their_letter_case(demo: PlanRunner):
    found = await checked(
        demo,
        {
            "nodes": {"p": {"label": "painter"}, "w": {"where": {"Population": {"exists": True}}}},
            "edges": [edge("p", "Born_In", "w")],
        },
    )

    assert not found.problems
    tree = list(parts(found.plan))
    assert [part.labels for part in tree if isinstance(part, NodePattern) and part.labels] == [(("Painter",),)]
    assert [part.relations for part in tree if isinstance(part, EdgePattern)] == [("born_in",)]
    assert [part.ids for part in tree if isinstance(part, Property)] == [("population",)]


async def test_a_misspelt_label_is_told_with_the_nearest_and_mended(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"m": {"label": "Musem"}}})

    ((place, reason, nearest),) = mistakes(found)
    assert (place, reason, nearest[0]) == ("(m:Musem)", "unknown label", "Museum")
    assert found.corrected is not None
    assert [part.labels for part in parts(found.corrected) if isinstance(part, NodePattern)] == [(("Museum",),)]


async def test_a_column_is_called_by_the_corrected_property_unless_it_has_a_name_of_its_own(demo: PlanRunner):
    found = await checked(demo, "MATCH (m:Museum) RETURN m.descriptio, m.descriptio AS d ORDER BY m.descriptio")
    assert found.corrected is not None
    assert write_cypher(found.corrected) == (
        "MATCH (m:Museum)\nRETURN m.description, m.description AS d ORDER BY m.description"
    )


async def test_an_id_with_a_prefix_that_reads_as_two_labels_is_put_in_backticks():
    async with DictAdapter("tests.navigation.plans.test_checker", AdapterOptions()) as graph:
        found = await checked(PlanRunner(graph), "MATCH (x:wd:Q5)-[:knows]->(y:wd:Q6:Poet) RETURN y")
        two = await checked(PlanRunner(graph), "MATCH (x:Poet:wd) RETURN x")

    assert mistakes(found) == [
        ("(x:wd:Q5)", "wd:Q5 is one id, so it needs backticks", ("`wd:Q5`",)),
        ("(y:wd:Q6)", "wd:Q6 is one id, so it needs backticks", ("`wd:Q6`",)),
    ]
    assert found.corrected is not None
    assert write_cypher(found.corrected) == "MATCH (x:`wd:Q5`)-[:knows]->(y:`wd:Q6`&Poet)\nRETURN y"
    assert [place for place, *_ in mistakes(two)] == ["(x:wd)"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("know", "ex:knows"), ("ex:know", "ex:knows"), ("ex:knos", "ex:knows"), ("visits", None), ("P18", None)],
)
def test_a_misspelt_name_means_an_id_with_a_prefix_that_it_lacks(name: str, meant: str | None):
    assert closest_alternative(name, ["ex:knows", "rdf:type", "wdt:P19"]) == meant


async def test_a_schema_is_read_once_for_plans_that_fit_it_and_again_for_one_that_does_not(
    monkeypatch: pytest.MonkeyPatch,
):
    read: list[str | None] = []
    schema = DictAdapter.schema

    async def spied(self: DictAdapter, name: str | None = None, *, limit: int) -> Schema:
        read.append(name)
        return await schema(self, name, limit=limit)

    monkeypatch.setattr(DictAdapter, "schema", spied)
    async with DictAdapter("tests.navigation.plans.test_checker", AdapterOptions()) as graph:
        for name in ("x", "y"):
            assert not mistakes(await checked(PlanRunner(graph), f"MATCH ({name}:Poet) RETURN {name}"))
        once = read.copy()
        monkeypatch.setitem(GRAPH, "nodes", {**GRAPH["nodes"], "cat": ["Robot"]})
        monkeypatch.setitem(GRAPH, "rows", [])
        await graph.open()
        grown = await checked(PlanRunner(graph), "MATCH (x:Robot) RETURN x")

    assert once == [None]
    assert not mistakes(grown)
    assert read.count(None) == 2


async def test_an_edge_the_wrong_way_round_is_turned(demo: PlanRunner):
    found = await checked(
        demo, {"nodes": {"m": {"label": "Museum"}, "p": {"label": "Painting"}}, "edges": [edge("m", "held_by", "p")]}
    )

    assert mistakes(found) == [
        (
            "(m:Museum)-[:held_by]->(p:Painting)",
            "leads from :Painting to :Museum, not from :Museum to :Painting",
            ("(p:Painting)-[:held_by]->(m:Museum)",),
        )
    ]
    assert found.corrected is not None
    assert [(part.source, part.target) for part in parts(found.corrected) if isinstance(part, EdgePattern)] == [
        ("p", "m")
    ]


async def test_an_edge_that_does_not_join_these_labels_is_told_with_those_that_do(demo: PlanRunner):
    found = await checked(
        demo, {"nodes": {"m": {"label": "Museum"}, "c": {"label": "City"}}, "edges": [edge("m", "born_in", "c")]}
    )

    ((place, reason, possible),) = mistakes(found)
    assert (place, reason) == ("(m:Museum)-[:born_in]->(c:City)", "no such edge leads from :Museum to :City")
    assert possible == ("located_in",)
    assert found.corrected is not None


async def test_either_direction_is_as_good_as_one(demo: PlanRunner):
    found = await checked(
        demo,
        {
            "nodes": {"m": {"label": "Museum"}, "p": {"label": "Painting"}},
            "edges": [edge("m", "held_by", "p", either=True)],
        },
    )

    assert not found.problems


async def test_an_edge_of_rare_labels_that_no_summary_lists_is_no_mistake(demo: PlanRunner):
    found = await checked(
        demo, {"nodes": {"c": {"label": "Church"}}, "edges": [edge("p", "held_by", "c")], "return": ["p"]}
    )

    assert not found.problems


async def test_every_mistake_is_told_at_once_and_all_are_mended(demo: PlanRunner):
    found = await checked(
        demo,
        {
            "nodes": {"z": {"name": "Zundrt"}, "p": {"label": "Paintr"}},
            "edges": [edge("z", "born_inn", "p", where={"dat": "1853"})],
        },
    )

    assert [problem.place for problem in found.problems][:3] == [
        "(p:Paintr)",
        "(z)-[:born_inn]->(p:Paintr)",
        "z.name = 'Zundrt'",
    ]
    assert found.corrected is not None
    again = await demo.check(found.corrected)
    assert not again.problems


async def test_a_property_that_leads_to_nodes_and_an_edge_that_leads_to_values_are_told_apart(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"a": {"where": {"born_in": "x"}}}, "edges": [edge("a", "population", "b")]})

    assert mistakes(found) == [
        ("(a)-[:population]->(b)", "population leads to values, not to nodes: it is a property", ("a.population",)),
        ("a.born_in", "leads to nodes: write it as an edge of the pattern", ("(a)-[:born_in]->(x)",)),
    ]


async def test_numbers_are_not_compared_with_texts(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"a": {"where": {"population": {">": "1000"}}}}})

    ((place, reason, possible),) = mistakes(found)
    assert (place, reason, possible) == ("a.population", "its values are numbers, '1000' is a text", ("1000",))
    assert found.corrected is not None
    assert [part.value for part in parts(found.corrected) if isinstance(part, Constant)] == [1000]


async def test_a_qualifier_of_other_edges_is_told_with_those_of_this_one(demo: PlanRunner):
    found = await checked(demo, {"edges": [edge("p", "born_in", "c", where={"to": "1853"})]})

    ((place, _, possible),) = mistakes(found)
    assert place.endswith(".to")
    assert [each.rpartition(".")[2] for each in possible] == ["date"]


async def test_times_of_edges_are_read_from_their_from_and_to(demo: PlanRunner):
    found = await checked(demo, {"edges": [edge("p", "lived_in", "c", as_of="1886")]})
    assert found.notes == (
        "An edge without a start date is valid from the beginning, one without an end date until now.",
    )
    without = await checked(demo, {"edges": [edge("p", "painted_by", "c", as_of="1886")]})

    assert [(part.from_ids, part.to_ids) for part in parts(found.plan) if isinstance(part, During)] == [
        (("from",), ("to",))
    ]
    assert [problem.reason for problem in without.problems] == ["its edges have no start or end date"]


async def test_an_id_that_no_entity_has_is_told(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"a": {"id": "vincent_van_gog"}}})

    ((_, reason, possible),) = mistakes(found)
    assert reason == "no entity has the id 'vincent_van_gog'"
    assert possible[0] == "vincent_van_gogh (Vincent van Gogh)"


async def test_a_step_wants_one_node_where_several_share_a_name(graph: GraphAdapter):
    several = await checked(PlanRunner(graph), {"nodes": {"a": {"name": "Mercury"}}})
    one = await checked(PlanRunner(graph), [{"as": "a", "find_node": {"name": "Mercury"}}])

    assert not several.problems
    ((_, reason, possible),) = mistakes(one)
    assert reason.endswith("use the id of one")
    assert len(possible) > 1


async def test_an_equality_with_an_id_is_one_with_the_id_as_the_graph_writes_it(demo: PlanRunner):
    found = await checked(demo, {"nodes": {"a": {"id": " vincent_van_gogh "}}})

    assert ids_in(found) == ["vincent_van_gogh"]
    assert all(part.function is Function.ID for part in parts(found.plan) if isinstance(part, Call))


GRAPH: dict[str, Any] = {
    "nodes": {"ann": ["wd:Q5"], "bob": ["wd:Q6", "Poet"]},
    "rows": [("ann", "knows", "bob", ())],
}
