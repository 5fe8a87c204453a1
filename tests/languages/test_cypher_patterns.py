"""Patterns in Cypher and in GQL, and the algebra that they are."""

import pytest

from kgnav_mcp.plan import (
    Compare,
    Comparison,
    HasLabel,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    PathPattern,
    Property,
    is_named,
)
from tests.languages.cypher_plans import A_X, B_X, A, B, both, edge, equal, path, pattern

TRAILS = PathKind.TRAILS


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("(a)", Match((A,))),
        ("(a:Film)", Match((NodePattern("a", (("Film",),)),))),
        ("(a IS Film)", Match((NodePattern("a", (("Film",),)),))),
        ("(a:A:B)", Match((NodePattern("a", (("A",), ("B",))),))),
        ("(a:A&B)", Match((NodePattern("a", (("A",), ("B",))),))),
        ("(a:A|B)", Match((NodePattern("a", (("A", "B"),)),))),
        ("(a:(A|B)&C)", Match((NodePattern("a", (("A", "B"), ("C",))),))),
        ("(a:!A)", Match((A,), where=Not(HasLabel("a", ("A",))))),
        ("(a:!A&B)", Match((NodePattern("a", (("B",),)),), where=Not(HasLabel("a", ("A",))))),
        ("(a:`Old Film`)", Match((NodePattern("a", (("Old Film",),)),))),
        ("(a:film.actor)", Match((NodePattern("a", (("film.actor",),)),))),
        ("(a:Film*)", Match((NodePattern("a", (("Film",),), subclasses=True),))),
        (
            "(order:Match {limit: 1})",
            Match((NodePattern("order", (("Match",),)),), where=equal(Property("order", "limit"), 1)),
        ),
        ("(a:A), (a:B)", Match((NodePattern("a", (("A",), ("B",))),))),
        ("(a {x: 1, `y z`: 'u'})", Match((A,), where=both(equal(A_X, 1), equal(Property("a", "y z"), "u")))),
        ("(a WHERE a.x = 1)", Match((A,), where=equal(A_X, 1))),
        (
            "(a {x: 1}), (b WHERE b.x = 1) WHERE a.x = b.x",
            Match((A, B), where=both(equal(A_X, 1), equal(B_X, 1), Compare(A_X, Comparison.EQUAL, B_X))),
        ),
        ("(a)-->(b)", Match((A, B), (edge("a", "b"),))),
        ("(a)<--(b)", Match((A, B), (edge("b", "a"),))),
        ("(a)--(b)", Match((A, B), (edge("a", "b", either=True),))),
        ("(a)<-->(b)", Match((A, B), (edge("a", "b", either=True),))),
        ("(a)->(b)", Match((A, B), (edge("a", "b"),))),
        ("(a)<-(b)", Match((A, B), (edge("b", "a"),))),
        ("(a)-(b)", Match((A, B), (edge("a", "b", either=True),))),
        ("(a)-[:R]->(b)", Match((A, B), (edge("a", "b", "R"),))),
        ("(a)<-[r:R|S]-(b)", Match((A, B), (edge("b", "a", "R", "S", name="r"),))),
        ("(a)-[:R|:S]-(b)", Match((A, B), (edge("a", "b", "R", "S", either=True),))),
        ("(a)-[:film.starring|CONTAINS]->(b)", Match((A, B), (edge("a", "b", "film.starring", "CONTAINS"),))),
        ("(a)-[:wdt:P57|wdt:P58]->(b)", Match((A, B), (edge("a", "b", "wdt:P57", "wdt:P58"),))),
        ("(a)-[r:!R]->(b)", Match((A, B), (edge("a", "b", name="r"),), where=Not(HasLabel("r", ("R",))))),
        ("(a)-[r:R {x: 1}]->(b)", Match((A, B), (edge("a", "b", "R", name="r"),), where=equal(Property("r", "x"), 1))),
        ("(a)-[r WHERE r.x = 1]->(b)", Match((A, B), (edge("a", "b", name="r"),), where=equal(Property("r", "x"), 1))),
        ("(a)-[:R*1..3]->(b)", Match((A, B), (path(PathLength(TRAILS, 1, 3), "R"),))),
        ("(a)-[:R*..3]->(b)", Match((A, B), (path(PathLength(TRAILS, 1, 3), "R"),))),
        ("(a)-[:R*2]->(b)", Match((A, B), (path(PathLength(TRAILS, 2, 2), "R"),))),
        ("(a)-[:R*0..1]-(b)", Match((A, B), (path(PathLength(TRAILS, 0, 1), "R", either=True),))),
        ("(a)-[:R*]->(b)", Match((A, B), (path(PathLength(TRAILS), "R"),))),
        ("(a)-[*2..]->(b)", Match((A, B), (path(PathLength(TRAILS, 2)),))),
        ("(a)-[:R]->{1,3}(b)", Match((A, B), (path(PathLength(TRAILS, 1, 3), "R"),))),
        ("(a)-[:R]->{,3}(b)", Match((A, B), (path(PathLength(TRAILS, 0, 3), "R"),))),
        ("(a)-[:R]->{2}(b)", Match((A, B), (path(PathLength(TRAILS, 2, 2), "R"),))),
        ("(a)-[r:R*]->(b)", Match((A, B), (path(PathLength(TRAILS), "R", name="r"),))),
        (
            "p = (a)-[:R*2..]->(b)",
            Match((A, B), (path(PathLength(TRAILS, 2), "R"),), (PathPattern("p", ("a", "@1", "b")),)),
        ),
        ("(a)-->+(b)", Match((A, B), (path(PathLength(TRAILS)),))),
        ("(a)-[:R]-*(b)", Match((A, B), (path(PathLength(TRAILS, 0), "R", either=True),))),
        ("p = (a)-[r]->(b)", Match((A, B), (edge("a", "b", name="r"),), (PathPattern("p", ("a", "r", "b")),))),
        ("p = (a)", Match((A,), (), (PathPattern("p", ("a",)),))),
        ("shortestPath((a)-[:R*..5]->(b))", Match((A, B), (path(PathLength(PathKind.SHORTEST, 1, 5), "R"),))),
        ("ANY SHORTEST (a)-[:R]->+(b)", Match((A, B), (path(PathLength(PathKind.SHORTEST), "R"),))),
        ("SHORTEST 1 (a)-[:R]->{1,5}(b)", Match((A, B), (path(PathLength(PathKind.SHORTEST, 1, 5), "R"),))),
        ("allShortestPaths((a)-[*]-(b))", Match((A, B), (path(PathLength(PathKind.ALL_SHORTEST), either=True),))),
        ("ALL SHORTEST (a)--+(b)", Match((A, B), (path(PathLength(PathKind.ALL_SHORTEST), either=True),))),
        ("distance((a)-[:R*2..4]->(b))", Match((A, B), (path(PathLength(PathKind.DISTANCE, 2, 4), "R"),))),
        ("REPEATABLE ELEMENTS (a)-->(b)", Match((A, B), (edge("a", "b"),), edges_differ=False)),
        ("DIFFERENT RELATIONSHIPS (a)-->(b)", Match((A, B), (edge("a", "b"),))),
        ("((a)-->(b) WHERE a.x = 1)", Match((A, B), (edge("a", "b"),), where=equal(A_X, 1))),
        ("(a)-->(b), (a)-[:R]->(a)", Match((A, B), (edge("a", "b"), edge("a", "a", "R", name="@2")))),
        ("(a) // of one line\n/* of\nmore ** */", Match((A,))),
    ],
)
def test_a_pattern_is_read_as(text: str, match: Match):
    assert pattern(text) == match


def test_a_chain_goes_on_at_its_last_node():
    chain = pattern("(a)-[r]->(b)<-[s]-(c)")
    assert [(edge.variable, edge.source, edge.target) for edge in chain.edges] == [("r", "a", "b"), ("s", "c", "b")]


def test_what_has_no_name_gets_one_that_nobody_can_write():
    match = pattern("(:A)-[:R]->(), ({x: 1})")
    names = [node.variable for node in match.nodes] + [edge.variable for edge in match.edges]
    assert len(set(names)) == 4
    assert not any(is_named(name) for name in names)
    assert match.where == equal(Property(names[2], "x"), 1)


def test_a_value_of_a_property_may_come_from_another_node_of_the_pattern():
    assert pattern("(b {x: a.x}), (a)").where == Compare(B_X, Comparison.EQUAL, A_X)
