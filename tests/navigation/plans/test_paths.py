"""Paths through the toy graph: trails, what can be reached, the shortest ways, distances."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import AggregateFunction, Function, Match, NodePattern, PathKind, PathPattern
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.contract import toy as definition
from tests.navigation.plans.writing import called, edge, give, is_id, matching, named, path, plan, rows, total

KNOWS = [(one.head, one.tail) for one in definition.EDGES if one.relation == "knows"]


def shortest_ways(start: str, *, either: bool = False) -> dict[str, list[str]]:
    """All shortest ways from a node along any edge, by their ends, as the names of their nodes."""
    steps = [(one.head, one.tail) for one in definition.EDGES]
    steps += [(tail, head) for head, tail in steps] if either else []
    found = {start: [start]}
    front = found
    while front:
        further: dict[str, list[str]] = {}
        for head, tail in steps:
            if head in front and tail not in found:
                further.setdefault(tail, []).extend(f"{way}-{tail}" for way in front[head])
        found |= further
        front = further
    return found


async def test_trails_are_all_ways_of_a_length_that_take_no_edge_twice(toy: GraphAdapter):
    trails = matching(path("p", "knows", "q", PathKind.TRAILS, 1, 2), where=is_id("p", "ada"))
    page = await evaluate(toy, plan(trails, give("q", named("n", called(Function.SIZE, "r")))), limit=50)
    first = [(tail, 1) for head, tail in KNOWS if head == "ada"]
    second = [(tail, 2) for _, middle in KNOWS for head, tail in KNOWS if head == middle and _ == "ada"]
    assert rows(page) == sorted([*first, *second])
    longer = matching(path("p", "knows", "q", PathKind.TRAILS, 3, 9), where=is_id("p", "ada"))
    page = await evaluate(toy, plan(longer, give("r")), limit=50)
    assert all(len(set(map(id, row.cells[0]))) == len(row.cells[0]) for row in page.items)  # pyright: ignore[reportArgumentType]
    assert {len(row.cells[0]) for row in page.items} == {3}  # pyright: ignore[reportArgumentType]


async def test_a_trail_of_no_edges_leads_from_a_node_to_itself(toy: GraphAdapter):
    still = matching(path("p", "knows", "q", PathKind.TRAILS, 0, 0), where=is_id("p", "jose"))
    assert rows(await evaluate(toy, plan(still, give("q", "r")), limit=5)) == [("jose", [])]


async def test_a_trail_without_a_longest_length_ends_where_no_edge_is_left(toy: GraphAdapter):
    trails = matching(path("p", "knows", "q", PathKind.TRAILS, 1), where=is_id("p", "ben"))
    page = await evaluate(toy, plan(trails, give(named("n", called(Function.SIZE, "r")))), limit=50)
    assert Counter(row[0] for row in rows(page)) == {1: 1, 2: 3}


@pytest.mark.parametrize("either", [False, True])
async def test_what_can_be_reached_is_told_once(toy: GraphAdapter, either: bool):
    reach = matching(path("p", "", "q", PathKind.REACHABLE, 1, either=either), where=is_id("p", "cyd"))
    page = await evaluate(toy, plan(reach, give("q", "r")), limit=1_000)
    assert rows(page) == [(one, None) for one in sorted(shortest_ways("cyd", either=either))]


async def test_distances_count_the_shortest_way(toy: GraphAdapter):
    near = matching(path("p", "", "q", PathKind.DISTANCE, 2, 3), where=is_id("p", "ada"))
    page = await evaluate(toy, plan(near, give("q")), limit=1_000)
    lengths = {end: ways[0].count("-") for end, ways in shortest_ways("ada").items()}
    assert rows(page) == [(one,) for one in sorted(lengths) if 2 <= lengths[one] <= 3]


async def test_the_shortest_paths_are_found_in_either_direction_of_search(toy: GraphAdapter):
    for kind in (PathKind.SHORTEST, PathKind.ALL_SHORTEST):
        for start, end in (("cyd", "ben"), ("visitor003", "harbour"), ("visitor003", "boat03"), ("jose", "ada")):
            match = Match(
                (NodePattern("p"), NodePattern("q")),
                (path("p", "", "q", kind),),
                (PathPattern("way", ("p", "r", "q")),),
            )
            both = matching(NodePattern("p"), NodePattern("q"), where=is_id("p", start))
            last = matching(NodePattern("q"), where=is_id("q", end))
            page = await evaluate(toy, plan(both, last, match, give("way")), limit=500)
            ways = sorted(shortest_ways(start).get(end, []))
            expected = ways if kind is PathKind.ALL_SHORTEST else ways[:1]
            assert [row[0] for row in rows(page)] == expected, (kind, start, end)


async def test_a_path_written_from_its_end_goes_from_there(toy: GraphAdapter):
    match = Match(
        (NodePattern("p"),),
        (path("q", "knows", "p", PathKind.TRAILS, 2, 2),),
        (PathPattern("way", ("p", "r", "q")),),
        is_id("p", "cyd"),
    )
    page = await evaluate(toy, plan(match, give("way", "q")), limit=5)
    assert rows(page) == [("cyd-ada-ben", "ben")]


async def test_no_trail_takes_an_edge_that_stands_elsewhere_in_its_pattern(toy: GraphAdapter):
    parts = edge("p", "knows", "q", "one"), path("q", "knows", "o", PathKind.TRAILS, 2, 2)
    where = is_id("p", "ada")
    page = await evaluate(
        toy, plan(matching(*parts, where=where), give("o", named("n", total(AggregateFunction.COUNT)))), limit=9
    )
    alike = await evaluate(
        toy,
        plan(matching(*parts, where=where, differ=False), give("o", named("n", total(AggregateFunction.COUNT)))),
        limit=9,
    )
    assert rows(page) == [("ben", 2), ("cyd", 2)]
    assert rows(alike) == [("ben", 4), ("cyd", 2)]


async def test_the_edges_of_a_hub_are_read_last_between_known_ends(tmp_path: Path):
    leaves = "".join(f"hub,leaf{number}\n" for number in range(300))
    (tmp_path / "hub.csv").write_text(f"from,to\nhub,middle\nmiddle,end\n{leaves}", encoding="utf-8")
    load([tmp_path / "hub.csv"], tmp_path / "hub.kg")
    async with open_adapter(str(tmp_path / "hub.kg"), AdapterOptions()) as graph:
        for ends in ("(a {id: 'hub'})-[*]-(b {id: 'end'})", "(a {id: 'end'})-[*]-(b {id: 'hub'})"):
            runner = PlanRunner(graph, by_store=False, bound=100)
            checked = await runner.check(parse_plan(f"MATCH p = shortestPath({ends}) RETURN length(p)").plan)
            assert rows(await runner.run(checked.plan, limit=9)) == [(2,)]
