from __future__ import annotations

import json
from typing import Any

import pytest

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.languages.json_steps import MAX_COPIES, MAX_NESTED, parse_steps
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    Exists,
    Joined,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import parts

FILM = {"as": "film", "find_node": {"name": "Up", "type": "Film"}}
ACTORS = {"as": "actors", "fetch_neighbors": {"from": "film", "edge_type": "starred", "direction": "outgoing"}}


def match(*steps: dict[str, Any]) -> Match:
    plan, _ = parse_steps(steps)
    first = plan.pipelines[0].clauses[0]
    assert isinstance(first, Match)
    return first


def test_steps_are_named_sets_that_hold_together():
    plan, one_node = parse_steps([FILM, ACTORS, {"return": ["actors"], "limit": 3}])

    assert plan.pipelines[0].clauses[0] == Match(
        (NodePattern("film", (("Film",),)), NodePattern("actors")),
        (EdgePattern("@actors.0", "film", "actors", ("starred",)),),
        where=Compare(Property("film", "name"), Comparison.EQUAL, Constant("Up")),
        edges_differ=False,
    )
    assert plan.columns == ("actors",)
    assert plan.pipelines[0].result.limit == 3
    assert one_node == {"film"}


def test_without_a_return_the_last_step_is_returned():
    plan, _ = parse_steps([FILM, ACTORS])

    assert plan.columns == ("actors",)


@pytest.mark.parametrize(
    ("direction", "ends", "either"),
    [
        ("outgoing", ("film", "n"), False),
        ("incoming", ("n", "film"), False),
        ("either", ("film", "n"), True),
    ],
)
def test_a_hop_goes_the_way_that_is_requested(direction: str, ends: tuple[str, str], either: bool):
    (edge,) = match(FILM, {"as": "n", "fetch_neighbors": {"from": "film", "direction": direction}}).edges

    assert (edge.source, edge.target, edge.either) == (*ends, either)


def test_onward_until_a_type_goes_by_distance_and_hops_bound_it():
    onward = match(FILM, {"as": "n", "fetch_neighbors": {"from": "film", "node_type": "Person"}})
    bounded = match(FILM, {"as": "n", "fetch_neighbors": {"from": "film", "node_type": "Person", "hops": 2}})

    assert onward.nodes[1] == NodePattern("n", (("Person",),))
    assert onward.edges[0].path == PathLength(PathKind.DISTANCE, 1, 3)
    assert bounded.edges[0].path == PathLength(PathKind.DISTANCE, 1, 2)


def test_a_label_with_a_star_takes_subclasses_in():
    people = NodePattern("p", (("Person",),), subclasses=True)
    for word in ("label", "node_type"):
        assert match({"as": "p", "find_node": {word: "Person*"}}).nodes == (people,)
        assert match(FILM, {"as": "p", "fetch_neighbors": {"from": "film", word: "Person*"}}).nodes[1] == people


def test_conditions_are_of_the_nodes_or_of_the_edges():
    found = match(
        FILM, {"as": "n", "fetch_neighbors": {"from": "film", "where": {"age": 3}, "edge_where": {"role": "lead"}}}
    )

    assert isinstance(found.where, Joined)
    assert found.where.parts[1:] == (
        Compare(Property("n", "age"), Comparison.EQUAL, Constant(3)),
        Compare(Property("@n.0", "role"), Comparison.EQUAL, Constant("lead")),
    )


def test_a_step_starts_at_a_label_by_either_word_and_counts_the_edges_that_it_names():
    for word, far in (("label", "label"), ("type", "node_type")):
        plan, _ = parse_steps(
            [
                {"as": "p", "find_node": {word: "Person"}},
                {
                    "as": "f",
                    "fetch_neighbors": {"from": "p", far: "Film", "edge_as": "r", "edge_where": {"year": 1999}},
                },
                {"return": ["f", "count(r)"]},
            ]
        )
        found, rows, counted = plan.pipelines[0].clauses
        assert isinstance(found, Match)
        assert found.nodes == (NodePattern("p", (("Person",),)), NodePattern("f", (("Film",),)))
        assert found.edges == (EdgePattern("r", "p", "f"),)
        assert found.where == Compare(Property("r", "year"), Comparison.EQUAL, Constant(1999))
        assert isinstance(rows, Project)
        assert rows.columns == (Column("f", Variable("f")), Column("r", Variable("r")))
        number = Aggregate(AggregateFunction.COUNT, Variable("r"), distinct=True)
        assert counted == Project((Column("f", Variable("f")), Column("count(r)", number)))


def test_edges_that_are_called_as_a_step_are_told():
    with pytest.raises(InvalidPlan, match="of a step"):
        parse_steps([FILM, {"as": "a", "fetch_neighbors": {"from": "film", "edge_as": "film"}}])


def test_except_leaves_out_the_whole_set_of_a_step():
    found = match(
        FILM,
        ACTORS,
        {"as": "all", "fetch_neighbors": {"from": "film"}},
        {"as": "others", "fetch_neighbors": {"from": "all", "except": "actors"}},
        {"return": ["others", "actors"]},
    )

    assert isinstance(found.where, Joined)
    (exists,) = (part.condition for part in found.where.parts if isinstance(part, Not))
    assert isinstance(exists, Exists)
    left_out = exists.match
    assert [node.variable for node in left_out.nodes] == ["@film1", "others"]
    assert [(edge.source, edge.target) for edge in left_out.edges] == [("@film1", "others")]
    assert {edge.variable for edge in left_out.edges}.isdisjoint(edge.variable for edge in found.edges)


def test_steps_that_are_only_left_out_are_no_part_of_what_must_fit():
    plan, one_node = parse_steps(
        [
            FILM,
            {"as": "other", "find_node": {"name": "Down"}},
            {"as": "seen", "fetch_neighbors": {"from": "other"}},
            {"as": "actors", "fetch_neighbors": {"from": "film", "except": "seen"}},
        ]
    )

    (main,) = plan.pipelines[0].matches
    assert [node.variable for node in main.nodes] == ["film", "actors"]
    assert one_node == {"film", "@other1"}


AWARDS = {"as": "award", "fetch_neighbors": {"from": "actors", "edge_type": "won", "where": {"year": 1999}}}
"""A step behind ACTORS that no other step uses."""


def test_a_last_step_that_is_neither_used_nor_returned_restricts_those_from_which_it_starts():
    plan, _ = parse_steps([FILM, ACTORS, AWARDS, {"return": ["actors"]}])
    assert plan.pipelines[0].clauses[0] == match(FILM, ACTORS, AWARDS)
    assert plan.columns == ("actors",)
    assert parse_plan({"steps": [FILM, ACTORS, AWARDS], "return": ["actors"]}).plan == plan
    chain = {"as": "giver", "fetch_neighbors": {"from": "award", "edge_type": "given_by"}}
    again, _ = parse_steps([FILM, ACTORS, AWARDS, chain, {"return": ["film"]}])
    assert again.pipelines[0].clauses[0] == match(FILM, ACTORS, AWARDS, chain)


def test_a_step_with_an_action_may_say_what_is_returned():
    plan, _ = parse_steps([FILM, {**ACTORS, "return": ["film"], "limit": 1}])
    assert (plan.columns, plan.pipelines[0].result.limit) == (("film",), 1)
    by_default, _ = parse_steps([FILM, {**ACTORS, "limit": 1}])
    assert (by_default.columns, by_default.pipelines[0].result.limit) == (("actors",), 1)


def excluding(number: int, *, all_before: bool) -> list[dict[str, Any]]:
    """Steps from FILM that leave out the one before, or all before."""
    names = [f"s{n}" for n in range(number)]
    earlier = [names[:n] if all_before else names[max(n - 1, 0) : n] for n in range(number)]
    hops = ({"from": "film", "edge_type": "starred", "except": excluded} for excluded in earlier)
    steps = [{"as": name, "fetch_neighbors": hop} for name, hop in zip(names, hops, strict=True)]
    return [FILM, *steps, {"return": [names[-1]]}]


@pytest.mark.parametrize("all_before", [False, True])
@pytest.mark.parametrize("number", [MAX_NESTED + 2, 300])
def test_an_except_that_is_nested_too_deeply_is_refused_without_more_work(number: int, *, all_before: bool):
    with pytest.raises(InvalidPlan) as caught:
        parse_steps(excluding(number, all_before=all_before))
    (problem,) = caught.value.problems
    assert (problem.place, problem.reason) == ("s6", "its `except` is nested 6 levels deep; the limit is 5")
    assert caught.value.plan is not None
    kept = [part for part in parts(caught.value.plan, patterns=True) if isinstance(part, EdgePattern)]
    assert len(kept) < MAX_COPIES + number


def test_an_except_that_repeats_too_many_steps_is_refused():
    deepest = parse_steps(excluding(MAX_NESTED + 1, all_before=True))
    assert deepest[0].columns == ("s5",)
    chain = [{"as": f"c{n}", "fetch_neighbors": {"from": f"c{n - 1}" if n else "film"}} for n in range(MAX_COPIES)]
    last = {"as": "z", "fetch_neighbors": {"from": "film", "except": f"c{MAX_COPIES - 1}"}}
    with pytest.raises(InvalidPlan) as caught:
        parse_steps([FILM, *chain, last, {"return": ["z"]}])
    (problem,) = caught.value.problems
    assert problem.place == "z"
    assert problem.reason.startswith("with its `except` over 200 steps are repeated")


def test_common_nodes_are_neighbours_of_each_side():
    pairs: list[Any] = [["film", "starred"], {"node": "actors", "edge_type": "knows", "direction": "incoming"}]
    found = match(FILM, ACTORS, {"as": "both", "find_common_nodes": pairs})

    assert [(edge.source, edge.target, edge.relations, edge.either) for edge in found.edges[1:]] == [
        ("film", "both", ("starred",), False),
        ("both", "actors", ("knows",), False),
    ]


def test_counts_may_be_returned():
    plan, _ = parse_steps([FILM, ACTORS, {"return": ["film", "count(actors)"], "order": "-count(actors)"}])

    result = plan.pipelines[0].result
    assert isinstance(result, Project)
    assert plan.columns == ("film", "count(actors)")
    assert result.order[0].descending


MISTAKES: list[tuple[list[Any], list[str]]] = [
    ([{"as": "a", "fetch_neighbors": {"from": "b"}}, {"as": "b", "find_node": {}}], ["a", "a"]),
    ([{"as": "a", "fetch_neighbors": {"from": "z"}}], ["a"]),
    ([FILM, {"as": "b", "find_node": {"name": "y"}}], ["film"]),
    ([FILM, {"as": "b", "find_node": {"name": "y"}}, {"return": ["film"]}], ["b"]),
    ([FILM, {**ACTORS, "as": "film"}], ["step 2"]),
    ([FILM, {"return": ["film"]}, {"return": ["film"], "limit": 1}], ["return"]),
    ([{"limit": 1}], ["the steps"]),
    ([{"as": "a", "find_node": {"nme": "x"}}], ["step 1 find_node.nme"]),
    ([3], ["step 1"]),
    ([{"as": "a"}], ["a"]),
    ([FILM, {"return": ["actor"]}], ["return actor"]),
    ([{"as": "a", "find_node": {"where": {"x": {"like": 1}}}}], ["a where.x.like"]),
]


@pytest.mark.parametrize(("steps", "places"), MISTAKES)
def test_every_mistake_is_told_with_its_step(steps: list[Any], places: list[str]):
    with pytest.raises(InvalidPlan) as caught:
        parse_steps(steps)
    assert [problem.place for problem in caught.value.problems] == places


@pytest.mark.parametrize("given", ["p", ["p"], ["p", "born_in", "q"], 7])
def test_a_member_of_common_nodes_that_is_no_pair_is_told_what_it_has_to_be(given: object):
    with pytest.raises(InvalidPlan) as caught:
        parse_steps([FILM, {"as": "c", "find_common_nodes": [given, ["film", "born_in"]]}, {"return": ["c"]}])
    reason = caught.value.problems[0].reason
    assert reason == 'must be a pair of a step and an edge type: ["p", "born_in"]'


def _neighbors(name: str, source: str, *excluded: str) -> dict[str, Any]:
    return {"as": name, "fetch_neighbors": {"from": source, "edge_type": "KNOWS", "except": list(excluded)}}


CIRCLES: list[tuple[list[Any], list[tuple[str, str]]]] = [
    (
        [_neighbors("y", "x", "x"), {"as": "x", "find_common_nodes": [["y", "KNOWS"], ["y", "LIKES"]]}],
        [("y", "x")],
    ),
    ([FILM, _neighbors("a", "film", "a")], [("a", "a")]),
    ([_neighbors("a", "a")], [("a", "a")]),
    ([FILM, _neighbors("a", "film", "b"), _neighbors("b", "film", "a")], [("a", "b")]),
    ([FILM, _neighbors("a", "film", "c"), _neighbors("b", "film", "a"), _neighbors("c", "film", "b")], [("a", "c")]),
    ([FILM, _neighbors("a", "film", "b", "c"), _neighbors("b", "a"), _neighbors("c", "b")], [("a", "b"), ("a", "c")]),
]


@pytest.mark.parametrize(("steps", "uses"), CIRCLES)
def test_steps_that_use_each_other_in_a_circle_are_told(steps: list[Any], uses: list[tuple[str, str]]):
    with pytest.raises(InvalidPlan) as caught:
        parse_steps([*steps, {"return": [steps[-1]["as"], *(place for place, _ in uses)]}])
    told = [(problem.place, problem.reason) for problem in caught.value.problems]
    assert told == [(place, f"uses the step {used}, which is not an earlier step") for place, used in uses]


def test_steps_may_be_an_object_whose_other_keys_are_the_last_step():
    steps = [{"as": "a", "find_node": {"name": "Ada"}}, {"as": "b", "fetch_neighbors": {"from": "a"}}]
    last = {"return": ["b"], "limit": 2}
    assert parse_plan({"steps": steps, **last}) == parse_plan([*steps, last])
    assert parse_plan(json.dumps({"steps": steps})) == parse_plan(steps)
    with pytest.raises(InvalidPlan) as caught:
        parse_plan({"steps": steps, "returns": ["b"]})
    assert caught.value.problems[0].place == "step 3 returns"
