from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.languages.json_patterns import EdgeSpec, NodeSpec, PatternSpec, parse_pattern
from kgnav_mcp.languages.json_steps import FetchNeighbors, FindNode
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Connective,
    Constant,
    CountOf,
    During,
    EdgePattern,
    Exists,
    IsNull,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Not,
    Order,
    PathKind,
    PathLength,
    Plan,
    Project,
    Property,
    Variable,
)


def clauses(pattern: dict[str, Any]) -> tuple[object, ...]:
    return parse_pattern(pattern).pipelines[0].clauses


def match(pattern: dict[str, Any]) -> Match:
    (first, *_) = clauses(pattern)
    assert isinstance(first, Match)
    return first


def where_of(conditions: dict[str, Any]) -> object:
    return match({"nodes": {"a": {"where": conditions}}}).where


def test_nodes_edges_and_what_is_returned_become_a_match_and_distinct_rows():
    plan = parse_pattern(
        {
            "nodes": {"film": {"name": "Up", "label": "Film"}, "other": {"id": "ex:1", "is_not": "film"}},
            "edges": [{"from": "film", "edge": "starred", "to": "who"}, {"from": "other", "to": "who", "either": True}],
            "return": ["other", "who"],
            "limit": 5,
        }
    )

    assert plan.pipelines[0].clauses == (
        Match(
            (NodePattern("film", (("Film",),)), NodePattern("other"), NodePattern("who")),
            (
                EdgePattern("@edges[0]", "film", "who", ("starred",)),
                EdgePattern("@edges[1]", "other", "who", either=True),
            ),
            where=Joined(
                Connective.AND,
                (
                    Compare(Property("film", "name"), Comparison.EQUAL, Constant("Up")),
                    Compare(Property("other", "id"), Comparison.EQUAL, Constant("ex:1")),
                    Compare(Variable("other"), Comparison.UNEQUAL, Variable("film")),
                ),
            ),
            edges_differ=False,
        ),
        Project((Column("other", Variable("other")), Column("who", Variable("who"))), distinct=True, limit=5),
    )


def test_counts_are_over_distinct_rows_and_may_be_sorted_by_without_being_shown():
    *_, rows, values, shown = clauses(
        {"edges": [{"from": "a", "edge": "r", "to": "b", "as": "e"}], "return": ["a"], "order": "-count(e)"}
    )

    assert rows == Project((Column("a", Variable("a")), Column("e", Variable("e"))), distinct=True)
    assert values == Project(
        (Column("a", Variable("a")), Column("@0", Aggregate(AggregateFunction.COUNT, Variable("e"), distinct=True)))
    )
    assert shown == Project((Column("a", Variable("a")),), order=(Order(Variable("@0"), descending=True),))


def test_a_sum_is_over_distinct_rows_and_not_over_distinct_values():
    *_, values = clauses({"edges": [{"from": "a", "to": "b"}], "return": ["sum(b.age)"]})

    assert values == Project((Column("sum(b.age)", Aggregate(AggregateFunction.SUM, Property("b", "age"))),))


def test_without_a_return_all_described_nodes_are_returned():
    *_, project = clauses({"nodes": {"a": {}, "b": {}}, "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]})

    assert isinstance(project, Project)
    assert [column.name for column in project.columns] == ["a", "b"]


def test_whether_a_pattern_matches_is_a_question_of_its_own():
    assert parse_pattern({"edges": [{"from": "a", "to": "b"}], "return": "exists"}).only_exists


AGE = Property("a", "age")


@pytest.mark.parametrize(
    ("conditions", "condition"),
    [
        ({"age": 3}, Compare(AGE, Comparison.EQUAL, Constant(3))),
        ({"age": {"!=": 3}}, Compare(AGE, Comparison.UNEQUAL, Constant(3))),
        ({"age": {"contains": "x"}}, Compare(AGE, Comparison.CONTAINS, Constant("x"))),
        ({"age": [1, 2]}, Compare(AGE, Comparison.IN, ListOf((Constant(1), Constant(2))))),
        ({"age": {"exists": True}}, Not(IsNull(AGE))),
        ({"age": {"exists": False}}, IsNull(AGE)),
        (
            {"age": {">=": 1, "<": 5}},
            ComparisonChain((Constant(1), AGE, Constant(5)), (Comparison.AT_MOST, Comparison.LESS)),
        ),
        (
            {"age": {">=": 1, ">": 5}},
            Joined(
                Connective.AND,
                (Compare(AGE, Comparison.AT_LEAST, Constant(1)), Compare(AGE, Comparison.GREATER, Constant(5))),
            ),
        ),
    ],
)
def test_conditions_are_values_or_operators_with_values(conditions: dict[str, Any], condition: object):
    assert where_of(conditions) == condition


@pytest.mark.parametrize(
    ("path", "length"),
    [
        ({"hops": 2}, PathLength(PathKind.TRAILS, 2, 2)),
        ({"hops": [1, 3]}, PathLength(PathKind.TRAILS, 1, 3)),
        ({"hops": [1, None]}, PathLength(PathKind.REACHABLE, 1, None)),
        ({"distance": [2, 4]}, PathLength(PathKind.DISTANCE, 2, 4)),
    ],
)
def test_paths_are_hops_or_distances(path: dict[str, Any], length: PathLength):
    assert match({"edges": [{"from": "a", "to": "b", **path}]}).edges[0].path == length


def test_an_optional_edge_is_a_match_of_its_own_with_the_conditions_of_its_far_end():
    first, second, *_ = clauses(
        {
            "nodes": {"who": {"label": "Person"}, "pet": {"label": "Dog", "where": {"age": 3}}},
            "edges": [{"from": "who", "edge": "owns", "to": "pet", "optional": True}],
            "return": ["who", "count(pet)"],
        }
    )

    assert first == Match((NodePattern("who", (("Person",),)),), edges_differ=False)
    assert second == Match(
        (NodePattern("who"), NodePattern("pet", (("Dog",),))),
        (EdgePattern("@edges[0]", "who", "pet", ("owns",)),),
        where=Compare(Property("pet", "age"), Comparison.EQUAL, Constant(3)),
        optional=True,
        edges_differ=False,
    )


def test_edges_that_must_be_so_many_are_counted_and_not_joined():
    found = match(
        {"nodes": {"f": {"label": "Film"}}, "edges": [{"from": "f", "edge": "starred", "to": "a", "at_least": 3}]}
    )

    assert found.nodes == (NodePattern("f", (("Film",),)),)
    inner = Match(
        (NodePattern("f"), NodePattern("a")), (EdgePattern("@edges[0]", "f", "a", ("starred",)),), edges_differ=False
    )
    assert found.where == Compare(CountOf(inner), Comparison.AT_LEAST, Constant(3))


def test_what_must_not_be_there_is_a_pattern_of_one_edge_or_of_several():
    found = match(
        {
            "nodes": {"a": {}},
            "not": [{"from": "a", "edge": "r", "to": "x"}, [{"from": "a", "to": "y"}, {"from": "y", "to": "a"}]],
        }
    )

    assert isinstance(found.where, Joined)
    one, several = (part.condition for part in found.where.parts if isinstance(part, Not))
    assert isinstance(one, Exists)
    assert isinstance(several, Exists)
    assert one.match.nodes == (NodePattern("a"), NodePattern("x"))
    assert len(several.match.edges) == 2


def test_a_node_that_only_a_not_names_is_no_part_of_a_row_unless_it_is_returned():
    pattern: dict[str, Any] = {"nodes": {"a": {"label": "A"}, "x": {"label": "X"}}, "not": [{"from": "a", "to": "x"}]}
    absent = match({**pattern, "return": ["a"]})
    assert absent.nodes == (NodePattern("a", (("A",),)),)
    assert isinstance(absent.where, Not)
    assert isinstance(absent.where.condition, Exists)
    assert absent.where.condition.match.nodes == (NodePattern("a"), NodePattern("x", (("X",),)))
    pairs = match({**pattern, "return": ["a", "count(x)"]})
    assert pairs.nodes == (NodePattern("a", (("A",),)), NodePattern("x", (("X",),)))


def test_a_day_is_a_time_that_begins_and_ends_with_it():
    edges = [{"from": "a", "to": "b", "as_of": 1999}, {"from": "b", "to": "c", "during": ["1990", None]}]

    found = match({"edges": edges}).where
    assert isinstance(found, Joined)
    assert found.parts == (During("@edges[0]", "1999", "1999"), During("@edges[1]", "1990", None))


def test_a_label_with_a_star_takes_subclasses_in():
    assert match({"nodes": {"a": {"label": "human*"}}}).nodes == (NodePattern("a", (("human",),), subclasses=True),)


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ({"edges": [{"from": "a"}], "x": 1}, ["edges.0.to", "x"]),
        ({"nodes": {"a": {"where": {"age": {"~": 1}}, "is_not": "b"}}}, ["nodes.a.where.age.~", "nodes.a.is_not"]),
        ({"nodes": {"a": {}}, "return": ["b"]}, ["return b"]),
        ({"nodes": {"a": {}}, "return": ["most(a)"]}, ["return most(a)"]),
        ({"nodes": {"a": {}}, "order": "a)"}, ["return a)"]),
        ({"nodes": {"a": {"where": {"age": {"<": [1]}}}}}, ["nodes.a.where.age.<"]),
        ({"nodes": {"a": {"where": {"age": {"=": {"b": 1}}}}}}, ["nodes.a.where.age.="]),
    ],
)
def test_every_mistake_is_told_with_its_place(pattern: dict[str, Any], places: list[str]):
    with pytest.raises(InvalidPlan) as caught:
        parse_pattern(pattern)
    assert [problem.place for problem in caught.value.problems] == places


@pytest.mark.parametrize("given", ["", "  ", {}, [], None, 3, '{"nodes": ', "[" * 100_000])
def test_what_is_no_plan_in_any_language_is_refused(given: object):
    with pytest.raises(InvalidPlan):
        parse_plan(given)


def test_json_may_come_as_text():
    pattern = '{"edges": [{"from": "a", "to": "b"}]}'

    assert parse_plan(pattern).plan == parse_plan({"edges": [{"from": "a", "to": "b"}]}).plan
    assert isinstance(parse_plan(pattern).plan, Plan)


def test_an_unknown_key_is_told_with_those_there_are():
    with pytest.raises(InvalidPlan) as caught:
        parse_pattern(
            {"nodes": {"a": {"lable": "x"}}, "edges": [{"from": "a", "to": "b", "edgee": "r"}], "retrun": ["a"]}
        )
    offered = {problem.place: problem.alternatives for problem in caught.value.problems}

    assert "label" in offered["nodes.a.lable"]
    assert {"from", "to", "edge"} <= set(offered["edges.0.edgee"])
    assert "return" in offered["retrun"]


def test_the_end_of_a_counted_edge_that_is_returned_is_told_to_be_no_part_of_a_row():
    edge = {"from": "a", "edge": "owns", "to": "b", "at_least": 2}
    with pytest.raises(InvalidPlan) as caught:
        parse_pattern({"edges": [edge], "return": ["a", "count(b)"], "order": "-count(b)"})
    (problem,) = caught.value.problems
    assert (problem.place, problem.alternatives) == ("return count(b)", ("a",))
    assert problem.reason.startswith("b is only counted by at_least or at_most")


@pytest.mark.parametrize("form", [PatternSpec, NodeSpec, EdgeSpec, FindNode, FetchNeighbors])
def test_the_page_of_plans_has_each_key_of_the_json_forms(form: type[BaseModel]):
    page = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")
    _, _, keys = page.partition("\n## All keys of the JSON forms\n")
    assert [key for name, field in form.model_fields.items() if f'"{(key := field.alias or name)}"' not in keys] == []
