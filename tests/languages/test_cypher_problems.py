"""What is said of a text that is no plan: where, why, and what works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.languages.cypher.clauses import MAX_CLAUSES, MAX_COLUMNS
from kgnav_mcp.languages.cypher.expressions import FUNCTION_LIST
from kgnav_mcp.languages.cypher.patterns import MAX_ELEMENTS
from kgnav_mcp.languages.cypher.reader import MAX_PROBLEMS
from kgnav_mcp.languages.cypher.syntax import LONGEST_TEXT, MAX_DEPTH
from kgnav_mcp.plan import PlanProblem


def problems(text: str) -> tuple[PlanProblem, ...]:
    with pytest.raises(InvalidPlan) as caught:
        parse_cypher(text)
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", "line 1, column 1", "unexpected end of text; expected a clause such as MATCH, WITH or RETURN"),
        ("MATCH (a", "line 1, column 9", "unexpected end of text; expected ), *, :, =, IS, WHERE or {"),
        ("MATCH (a)\nRETURN a.x =", "line 2, column 13", "unexpected end of text; expected a value"),
        ("MATCH (a RETURN a", "line 1, column 10", "'RETURN' is unexpected here; expected ), *, :, =, IS, WHERE or {"),
        ("RETURN 'abc", "line 1, column 8", "missing closing '"),
        ("RETURN 1 # 2", "line 1, column 10", "'#' is not valid here"),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_was_expected(text: str, place: str, reason: str):
    assert problems(text) == (PlanProblem(place, reason),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE (a)", "CREATE: plans are read-only"),
        ("MATCH (a) SET a.x = 1", "SET: plans are read-only"),
        ("MATCH (a) DETACH DELETE a", "DETACH: plans are read-only"),
        ("MATCH (a) WITH a MERGE (b) RETURN b", "MERGE: plans are read-only"),
        ("CALL db.labels()", "CALL: procedures and subqueries in CALL are not supported"),
        ("MATCH (a) CALL { RETURN 1 } RETURN a", "CALL: procedures and subqueries in CALL are not supported"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS x RETURN x", "LOAD: plans cannot load files"),
        ("USE other MATCH (a) RETURN a", "USE: choose the graph with the tool's argument `graph`"),
    ],
)
def test_a_clause_that_plans_have_no_word_for_is_named(text: str, reason: str):
    (problem,) = problems(text)
    assert problem.reason == reason


@pytest.mark.parametrize("text", ["MATCH (create:Set {delete: 1}) RETURN create.call", "RETURN 'CREATE (a) SET x'"])
def test_the_words_of_writing_are_names_and_texts_like_others(text: str):
    assert parse_cypher(text).columns


@pytest.mark.parametrize(
    ("text", "reason", "works"),
    [
        ("MATCH (film) RETURN flim", "unknown variable flim", "film"),
        ("MATCH (a {name: Up}) RETURN a", "unknown variable Up", "'Up' in quotes for a text"),
        ("MATCH a-[:R]->(b) RETURN a", "'-' is unexpected here", "(a)-[:R]->(b): nodes are written in parentheses"),
        ("MATCH (a) WHERE (a)-->(b) RETURN a", "cannot bind variables", "EXISTS { (a)-->(b) }"),
        (
            "MATCH ()-[r]->() RETURN startNode(r).name",
            "is not a variable, so it has no property name",
            "MATCH (s)-[r]->(), then s.name",
        ),
        ("MATCH (a) RETURN head(collect(a)).name", "is not a variable", "WITH head(collect(a)) AS x, then x.name"),
        ("MATCH (a) RETURN a.born.year", ".year of a date is not supported", "year(a.born)"),
        (
            "MATCH (a) WHERE count(a) > 1 RETURN a",
            "cannot contain an aggregate",
            "WITH ..., count(a) AS x, then WHERE x ...",
        ),
        (
            "MATCH (a) WITH a WHERE count(a) > 1 RETURN a",
            "cannot contain an aggregate",
            "WITH ..., count(a) AS x, then WHERE x ...",
        ),
        (
            "RETURN sum(count(*))",
            "an aggregate cannot contain another one",
            "WITH ..., count(*) AS x, then WHERE x ...",
        ),
        ("MATCH (a) RETURN a.x + count(*)", "a is used beside an aggregate", "WITH a, count(*) AS c, then RETURN ..."),
        ("MATCH (a) WITH a.x RETURN 1", "a value in WITH needs a name", "a.x AS x"),
        ("MATCH (a) WHERE a.x LIKE 'u%' RETURN a", "'LIKE' is unexpected here", "n.name CONTAINS 'text'"),
        ("MATCH (a) WHERE a.x == 1 RETURN a", "'=' is unexpected here", "n.value = 1"),
        ("MATCH (match) RETURN MATCH", "'MATCH' is unexpected here", "`MATCH` in backticks for a name"),
        ("MATCH (a) WHERE a.x = $x RETURN a", "the parameter $x has no value", 'params={"x": ...}'),
        ("MATCH (a $x) RETURN a", "a parameter can only be a single value or a list", "{name: $name}"),
        ("RETURN [x | x]", "a list comprehension needs a list", "[x IN list WHERE condition | value]"),
        (
            "MATCH (a) RETURN [(a)-->(b) | b.x]",
            "pattern comprehensions are not supported",
            "OPTIONAL MATCH (a)-->(b), then collect(b.x)",
        ),
        ("MATCH (a) RETURN size([(a)-->(b) | b])", "pattern comprehensions are not supported", "COUNT { (a)-->(b) }"),
        ("RETURN some(x IN [1] WHERE x = 1)", "unknown form of call", "any(x IN list WHERE condition)"),
        (
            "RETURN fold(s = 0, x IN [1] | s + x)",
            "unknown form of call",
            "reduce(total = 0, x IN list | total + x)",
        ),
        ("RETURN [x IN [1] | count(x)]", "about members of a list", "WITH ..., count(x) AS x, then WHERE x ..."),
        ("RETURN percentileCont(1, 2)", "a number from 0 to 1", "percentileCont(n.value, 0.5)"),
        ("RETURN percentileCont(1)", "percentileCont takes two values", "percentileCont(n.value, 0.5)"),
        (
            "MATCH (a) RETURN [a IN [1] WHERE EXISTS { (a)-->() } | a]",
            "a is already a variable of the plan: choose another name for the member",
            "a_1",
        ),
        ("MATCH (a) RETURN a {.x}", "maps are not supported as values", "properties(n)"),
        (
            "MATCH (a), (b) RETURN shortestPath((a)-[*]-(b))",
            "a shortest path must be part of a pattern",
            "MATCH p = shortestPath((a)-[*]-(b))",
        ),
        (
            "MATCH (a) RETURN COLLECT { MATCH (a)-->(b) RETURN b }",
            "COLLECT { } is not supported",
            "OPTIONAL MATCH, then collect(n.name)",
        ),
        ("MATCH (a) RETURN (a)-->()", "a pattern is not a value", "EXISTS { (a)-->() }"),
        ("MATCH (a) RETURN tolowre(a.x)", "unknown function tolowre", "toLower"),
        ("MATCH (a) RETURN size(a, 1)", "size does not take 2 values", "size(x)"),
        ("MATCH (a) RETURN round(a.x, 2, 3)", "round does not take 3 values", "round(x, 2)"),
        ("MATCH ((a)-->(b)){1,3} RETURN a", "a repeated group is not supported", "a repeated edge: (a)-[:R]->{1,3}(b)"),
        (
            "MATCH (a)-[:R*2 {x: 1}]->(b) RETURN a",
            "a condition on each edge of a path",
            "-[:R {x: 1}]->(b)-[:R {x: 1}]->",
        ),
        ("MATCH (a)-[*3..1]->(b) RETURN a", "the upper bound is below the lower bound", "*1..3"),
        (
            "MATCH p = shortestPath((a)-->(b)-->(c)) RETURN p",
            "a single edge of variable length",
            "p = shortestPath((a)-[:R|S*]->(b))",
        ),
        ("MATCH (a)-[r]->(b)-[r]->(c) RETURN a", "r is already used", "r2"),
        ("MATCH (a)-[r]->(r) RETURN a", "r is already used", "r2"),
        ("MATCH ()-[r]->() MATCH (r) RETURN r", "r is not a node", "r2"),
        ("MATCH (a) UNWIND [1] AS a RETURN a", "a is already used", "a2"),
        ("MATCH (`@1`) RETURN 1", "invalid variable name", "1"),
        ("MATCH (a) RETURN a.x AS c, a.y AS c", "two columns have the name c", "... AS another_name"),
        ("MATCH (a) RETURN a LIMIT a.x", "the number of rows must be an integer of 0 or more", "10"),
        ("MATCH (a) RETURN DISTINCT a.x ORDER BY a.y", "only returned columns can be used", "a.x"),
        ("MATCH (a) WITH DISTINCT a.x AS c WHERE a:Film RETURN c", "only returned columns can be used", "c"),
        (
            "MATCH (a) WITH DISTINCT a.x AS c WHERE EXISTS { (a)--() } RETURN c",
            "only returned columns can be used",
            "c",
        ),
        ("MATCH (a)", "a plan must end with RETURN", "RETURN *"),
        ("MATCH (a) RETURN a MATCH (b) RETURN b", "RETURN must be the last clause", "WITH"),
        ("MATCH (a) RETURN a UNION MATCH (b) RETURN b", "the same columns", "RETURN ... AS a"),
        (
            "MATCH (a) WHERE EXISTS { MATCH (a)-->(b) MATCH (b)-->() } RETURN a",
            "one pattern with its condition",
            "EXISTS { (a)-[:R]->(b), (b)-[:S]->(c) WHERE b.x > 1 }",
        ),
        ("MATCH (a)-[:R&S]->(b) RETURN a", "an edge can only have one type, or one of several (A|B)", "[:R|S]"),
        ("MATCH (a)-->(b:%) RETURN a", "% for any label is not supported", "size(labels(b)) > 0"),
    ],
)
def test_a_problem_is_told_with_what_works(text: str, reason: str, works: str):
    found = [problem for problem in problems(text) if reason in problem.reason]
    assert found, problems(text)
    assert works in found[0].alternatives


@pytest.mark.parametrize("name", ["soundex", "foo", "median"])
def test_a_function_that_no_other_is_like_is_told_with_the_place_of_their_list(name: str):
    (problem,) = problems(f"MATCH (a) RETURN {name}(a.x)")
    assert problem.reason == f"unknown function {name}; {FUNCTION_LIST}"
    assert not problem.alternatives
    page, _, heading = FUNCTION_LIST.partition(" lists all under ")
    assert f"## {heading}" in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")


def test_all_problems_are_told_at_once_with_their_places():
    found = problems("MATCH (film)\nWHERE flim.x > $y\nRETURN foo(film), other.x")
    assert [(problem.place, problem.reason) for problem in found] == [
        ("MATCH, line 2, column 7", "unknown variable flim"),
        ("MATCH, line 2, column 16", "the parameter $y has no value"),
        ("RETURN, line 3, column 8", f"unknown function foo; {FUNCTION_LIST}"),
        ("RETURN, line 3, column 19", "unknown variable other"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN 1 //" + "x" * LONGEST_TEXT, "characters"),
        ("RETURN " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "levels"),
        ("RETURN " + "- " * 9_000 + "1", "levels"),
        ("RETURN " + "1 + " * 4_000 + "1", "levels"),
        ("MATCH (a) WHERE " + "NOT (" * 3_000 + "a.x" + ")" * 3_000 + " RETURN a", "levels"),
        ("MATCH (a) WHERE " + "EXISTS { (a) WHERE " * 500 + "true" + "}" * 500 + " RETURN a", "levels"),
        ("MATCH (a:" + "!" * 9_000 + "A) RETURN a", "levels"),
        ("MATCH (a)" + "--()" * MAX_ELEMENTS + " RETURN a", "nodes and edges"),
        ("MATCH (a) " + "WITH a " * MAX_CLAUSES + "RETURN a", "clauses"),
        ("RETURN " + ", ".join(f"1 AS c{number}" for number in range(MAX_COLUMNS + 1)), "columns"),
        ("RETURN " + "1" * 5_000, "the number exceeds 64 bits"),
        ("RETURN 1e999", "the number exceeds 64 bits"),
        ("RETURN " + "(" * 9_000, "unexpected end of text"),
    ],
)
def test_what_is_too_much_is_refused(text: str, reason: str):
    assert any(reason in problem.reason for problem in problems(text))


def test_brackets_alone_are_no_nesting():
    assert parse_cypher("MATCH (a) WHERE " + "(" * 5_000 + "a.x = 1" + ")" * 5_000 + " RETURN a").columns == ("a",)


def test_of_many_problems_the_first_are_told():
    assert len(problems("RETURN " + ", ".join(f"f{number}(1)" for number in range(100)))) == MAX_PROBLEMS


def test_a_server_that_gets_no_plans_never_loads_the_parser():
    code = "import sys, kgnav_mcp.languages.cypher; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("label", ["!Dog*", "(!Dog)&Cat*", "!(Dog|Cat)*"])
def test_a_star_is_not_ignored_where_a_label_must_be_missing(label: str):
    with pytest.raises(InvalidPlan) as caught:
        parse_cypher(f"MATCH (a:{label}) RETURN a")
    assert [problem.reason for problem in caught.value.problems] == [
        "* includes subclasses only of labels that a node has, not with !"
    ]
