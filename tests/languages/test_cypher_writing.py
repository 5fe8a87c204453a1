"""Plans as text in Cypher: short, and the same plan when they are read again."""

from dataclasses import replace

import pytest

from kgnav_mcp.languages.cypher import parse_cypher, write_cypher, write_part
from kgnav_mcp.plan import Column, EdgePattern, Match, NodePattern, Pipeline, Plan, Project, Property, Variable
from tests.languages.cypher_plans import A_X, A, B, edge, equal, plan


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (f:Film {name: 'Waking Life'})-[:starred_actors]->(a)<-[:starred_actors]-(g)\nRETURN DISTINCT g.name",
        "MATCH (a:A&(B|C))-[r:`wdt:P57`|R*1..3]-() WHERE a.x > 1 OR a.y IS NOT NULL\nRETURN a, r",
        "MATCH p = shortestPath((a)-[*1..5]-(b))\nRETURN length(p) AS l",
        "MATCH (a)\nOPTIONAL MATCH (a)-->(b)\nWITH a, count(b) AS c ORDER BY c DESC LIMIT 3 WHERE c > 1\nRETURN a, c",
        "MATCH (a)\nRETURN a.name, count(*) ORDER BY count(*) DESC, a.name SKIP 1 LIMIT 2",
        "MATCH (a)\nRETURN a\nUNION ALL\nMATCH (b)\nRETURN b AS a",
        "MATCH (a) WHERE EXISTS { (a)-->(b {x: 'it\\'s'}) WHERE b.y = a.y } AND COUNT { (a)--() } > 3\nRETURN a",
        "MATCH (a)-[r]->(b) WHERE during(r, '1990', null) AND a.x + 2 * (b.x - 1) ^ 2 IN [1, -2, 0.5]\nRETURN type(r)",
        "MATCH (`limit`:`Old Film`)-[:`directed by`]->() WHERE `limit`.`a``b` =~ '\\\\d+'\nRETURN `limit` AS `end`",
        "UNWIND [1, 2, null] AS x\nRETURN x AS y, sum(x), count(DISTINCT x) AS c",
        "MATCH REPEATABLE ELEMENTS (a)-->(b), (c)\nRETURN a",
        "MATCH (a)-->(b), (a)-->(c)-[*0..2]->(b)\nRETURN c",
    ],
)
def test_what_is_written_plainly_stays_as_it_is(text: str):
    assert write_cypher(parse_cypher(text)) == text


def test_equalities_stand_with_their_node():
    written = write_cypher(parse_cypher("MATCH (a:A)-->(b) WHERE a.x = 1 AND b.y = 'u' AND b.z > 2 RETURN b"))
    assert written == "MATCH (a:A {x: 1})-->(b {y: 'u'}) WHERE b.z > 2\nRETURN b"


def test_a_part_is_written_as_its_pattern():
    part = Match(
        (NodePattern("f", (("Film",),)), A), (edge("f", "a", "starred"),), where=equal(Property("f", "name"), "X")
    )
    assert write_part(part) == "(f:Film {name: 'X'})-[:starred]->(a)"


def test_a_value_is_written_by_itself():
    assert write_part(equal(A_X, "y")) == "a.x = 'y'"


def test_a_node_without_a_name_that_must_be_spoken_of_gets_one():
    match = Match(
        (NodePattern("@1"), NodePattern("v1")), (EdgePattern("@2", "@1", "v1"), EdgePattern("@3", "@1", "v1"))
    )
    assert write_part(match) == "(v2)-->(v1)<--(v2)"


def test_the_order_of_nodes_is_kept():
    assert write_part(Match((B, A), (edge("a", "b"),))) == "(b)<--(a)"
    assert write_part(Match((B, A), (edge("a", "b", either=True),))) == "(b), (a)--(b)"


def test_a_condition_on_what_is_returned_needs_a_with():
    returned = Project((Column("a", Variable("a")),), where=equal(A_X, 1))
    assert write_cypher(plan(Match((A,)), returned)) == "MATCH (a)\nWITH a WHERE a.x = 1\nRETURN a"


def test_a_plan_that_only_tests_existence_is_written_without_a_keyword():
    existence = Plan((Pipeline((Match((A,)), Project((Column("a", Variable("a")),)))),), only_exists=True)
    assert parse_cypher(write_cypher(existence)) == replace(existence, only_exists=False)


def test_a_node_or_an_edge_is_written_by_itself():
    assert write_part(NodePattern("@1", (("wd:Q5",),))) == "(:`wd:Q5`)"
    assert write_part(edge("b", "a", "starred")) == "(b)-[:starred]->(a)"
