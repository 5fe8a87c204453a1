"""Properties that nodes of a label never have, where the schema says it, and where it is only a sample."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Count, Entity, Page, Schema
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import rows

GRAPH = {
    "nodes": {"up": ("Film",), "heat": ("Film",), "ann": ("Person",)},
    "rows": [
        ("up", "title", ("Up", None, None), ()),
        ("up", "year", ("2009", "integer", None), ()),
        ("heat", "title", ("Heat", None, None), ()),
        ("ann", "name", ("Ann", None, None), ()),
        ("ann", "born", ("1970", "integer", None), ()),
        ("ann", "saw", "up", (("on", ("2010", "integer", None)), ("with", "heat"))),
        ("ann", "saw", "heat", (("on", ("2011-05-01", "date", None)), ("loud", ("true", "boolean", None)))),
    ],
}


class SampledAdapter(DictAdapter):
    """Its schema knows the properties of a few nodes only, and of `films` films."""

    films = 2

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        whole = await super().schema(name, limit=limit)
        known = tuple(facts for facts in whole.properties if name is None or facts.relation.id != "year")
        labels = tuple(replace(facts, count=Count(self.films)) for facts in whole.labels)
        return replace(whole, properties=known, labels=labels, sampled="the first nodes of each label")


class LargeAdapter(SampledAdapter):
    films = 1_000_000


class HugeAdapter(SampledAdapter):
    films = 100_000_000


async def checked(text: str, kind: type[DictAdapter] = DictAdapter) -> CheckedPlan:
    async with kind(__name__, AdapterOptions()) as graph:
        return await PlanRunner(graph).check(parse_cypher(text))


async def names(graph: GraphAdapter, text: str) -> list[tuple[object, ...]]:
    runner = PlanRunner(graph)
    found = await runner.check(parse_cypher(text))
    assert not found.problems
    return rows(await runner.run(found.plan, limit=9))


@pytest.mark.parametrize("kind", [DictAdapter, SampledAdapter])
async def test_a_property_of_other_nodes_is_told_with_those_of_the_label(kind: type[DictAdapter]):
    found = await checked("MATCH (f:Film) WHERE f.born > 1900 RETURN f", kind)
    (problem,) = found.problems
    assert (problem.place, problem.reason) == ("f.born", "no node (:Film) has this property")
    assert problem.alternatives[0].startswith("f.")
    assert "f.born" not in problem.alternatives


@pytest.mark.parametrize("kind", [DictAdapter, SampledAdapter, LargeAdapter, HugeAdapter])
async def test_a_property_that_a_sample_left_out_is_no_mistake(kind: type[DictAdapter]):
    found = await checked("MATCH (f:Film) WHERE f.year > 1900 RETURN f", kind)
    assert found.problems == ()
    sampled = "None of the nodes (:Film) in the schema's sample has year; others may have it."
    assert found.notes == ((sampled,) if kind is HugeAdapter else ())


async def test_what_nodes_of_a_label_are_called_is_their_name_though_others_have_a_property_called_so():
    async with DictAdapter(__name__, AdapterOptions()) as graph:
        assert await names(graph, "MATCH (f:Film) RETURN f.name") == [(None,), (None,)]
        assert await names(graph, "MATCH (p:Person) RETURN p.name") == [("Ann",)]


class WatchedAdapter(DictAdapter):
    """Keeps the labels among whose nodes a value is looked for."""

    def __init__(self, location: str, options: AdapterOptions) -> None:
        super().__init__(location, options)
        self.looked_among: list[str | None] = []

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        if value is not None:
            self.looked_among.append(label)
        return await super().nodes(label, property_name, value, limit=limit, after=after)


async def test_a_name_is_looked_for_among_the_nodes_with_the_labels_of_its_pattern():
    async with WatchedAdapter(__name__, AdapterOptions()) as graph:
        found = await PlanRunner(graph).check(parse_cypher("MATCH (p:Person {name: 'Ann'}) RETURN p"))
        assert found.problems == ()
        assert graph.looked_among == ["Person"]


@pytest.mark.parametrize(
    ("condition", "reason", "alternatives"),
    [
        ("r.on = 'x'", None, ()),
        ("r.on = true", "its values are dates and numbers, true is true or false", ("'true'",)),
        ("r.loud = 'TRUE'", "its values are true or false, 'TRUE' is a text", ("true",)),
        ("r.loud = 1", "its values are true or false, 1 is a number", ()),
        ("r.with = 'heat'", None, ()),
        ("r.with = 5", "its values are nodes, 5 is a number", ()),
        (
            "r.loud CONTAINS 'r'",
            "its values are true or false, CONTAINS compares texts",
            ("toString(r.loud) CONTAINS 'r'",),
        ),
    ],
)
async def test_what_a_property_of_an_edge_can_never_be_is_told(
    condition: str, reason: str | None, alternatives: tuple[str, ...]
):
    found = await checked(f"MATCH (p)-[r:saw]->(f) WHERE {condition} RETURN f")
    assert [problem.reason for problem in found.problems] == ([] if reason is None else [reason])
    assert [problem.alternatives for problem in found.problems] == ([] if reason is None else [alternatives])
