"""What is said of a text that is no plan: where, why, and what works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.languages.cypher.clauses import MOST_CLAUSES, MOST_COLUMNS
from kgnav_mcp.languages.cypher.expressions import FUNCTION_LIST
from kgnav_mcp.languages.cypher.patterns import MOST_ELEMENTS
from kgnav_mcp.languages.cypher.reader import MOST_PROBLEMS
from kgnav_mcp.languages.cypher.syntax import DEEPEST, LONGEST_TEXT
from kgnav_mcp.plan import PlanProblem


def problems(text: str) -> tuple[PlanProblem, ...]:
    with pytest.raises(InvalidPlan) as caught:
        parse_cypher(text)
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", "line 1, column 1", "the text ends, but here stands a clause, as MATCH, WITH or RETURN"),
        ("MATCH (a", "line 1, column 9", "the text ends, but here stands ), *, :, =, IS, WHERE or {"),
        ("MATCH (a)\nRETURN a.x =", "line 2, column 13", "the text ends, but here stands a value"),
        ("MATCH (a RETURN a", "line 1, column 10", "'RETURN' does not stand here, but ), *, :, =, IS, WHERE or {"),
        ("RETURN 'abc", "line 1, column 8", "what begins with ' here has no end"),
        ("RETURN 1 # 2", "line 1, column 10", "'#' has no meaning here"),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_was_expected(text: str, place: str, reason: str):
    assert problems(text) == (PlanProblem(place, reason),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE (a)", "CREATE: it writes, and a plan only reads"),
        ("MATCH (a) SET a.x = 1", "SET: it writes, and a plan only reads"),
        ("MATCH (a) DETACH DELETE a", "DETACH: it writes, and a plan only reads"),
        ("MATCH (a) WITH a MERGE (b) RETURN b", "MERGE: it writes, and a plan only reads"),
        ("CALL db.labels()", "CALL: procedures and subqueries in CALL are left out"),
        ("MATCH (a) CALL { RETURN 1 } RETURN a", "CALL: procedures and subqueries in CALL are left out"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS x RETURN x", "LOAD: no file is loaded by a plan"),
        ("USE other MATCH (a) RETURN a", "USE: the graph is an argument of the tool"),
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
        ("MATCH (film) RETURN flim", "nothing is called flim here", "film"),
        ("MATCH (a {name: Up}) RETURN a", "nothing is called Up here", "'Up' in quotes, if it is a text"),
        ("MATCH a-[:R]->(b) RETURN a", "'-' does not stand here", "(a)-[:R]->(b): a node stands in round brackets"),
        ("MATCH (a) WHERE (a)-->(b) RETURN a", "binds no variable", "EXISTS { (a)-->(b) }"),
        (
            "MATCH ()-[r]->() RETURN startNode(r).name",
            "is no variable, so it has no .name",
            "MATCH (s)-[r]->(), then s.name",
        ),
        ("MATCH (a) RETURN head(collect(a)).name", "is no variable", "WITH head(collect(a)) AS x, then x.name"),
        ("MATCH (a) RETURN a.born.year", ".year of a date is not supported", "year(a.born)"),
        ("MATCH (a) WHERE count(a) > 1 RETURN a", "has no aggregate", "WITH ..., count(a) AS x, then WHERE x ..."),
        (
            "MATCH (a) WITH a WHERE count(a) > 1 RETURN a",
            "has no aggregate",
            "WITH ..., count(a) AS x, then WHERE x ...",
        ),
        ("RETURN sum(count(*))", "an aggregate has no other one inside", "WITH ..., count(*) AS x, then WHERE x ..."),
        ("MATCH (a) RETURN a.x + count(*)", "a stands beside an aggregate", "WITH a, count(*) AS c, then RETURN ..."),
        ("MATCH (a) WITH a.x RETURN 1", "a value in WITH has a name", "a.x AS x"),
        ("MATCH (a) WHERE a.x LIKE 'u%' RETURN a", "'LIKE' does not stand here", "n.name CONTAINS 'text'"),
        ("MATCH (a) WHERE a.x == 1 RETURN a", "'=' does not stand here", "n.value = 1"),
        ("MATCH (match) RETURN MATCH", "'MATCH' does not stand here", "`MATCH` in backticks, if it is a name"),
        ("MATCH (a) WHERE a.x = $x RETURN a", "no value is given for $x", 'params={"x": ...}'),
        ("MATCH (a $x) RETURN a", "a parameter stands for a single value or a list", "{name: $name}"),
        ("RETURN [x | x]", "a list is made of the members of another one", "[x IN list WHERE condition | value]"),
        (
            "MATCH (a) RETURN [(a)-->(b) | b.x]",
            "a pattern is not supported",
            "OPTIONAL MATCH (a)-->(b), then collect(b.x)",
        ),
        ("MATCH (a) RETURN size([(a)-->(b) | b])", "a pattern is not supported", "COUNT { (a)-->(b) }"),
        ("RETURN some(x IN [1] WHERE x = 1)", "such a call is not known", "any(x IN list WHERE condition)"),
        (
            "RETURN fold(s = 0, x IN [1] | s + x)",
            "such a call is not known",
            "reduce(total = 0, x IN list | total + x)",
        ),
        ("RETURN [x IN [1] | count(x)]", "what is said of the members", "WITH ..., count(x) AS x, then WHERE x ..."),
        ("RETURN percentileCont(1, 2)", "a number from 0 to 1", "percentileCont(n.value, 0.5)"),
        ("RETURN percentileCont(1)", "percentileCont takes two values", "percentileCont(n.value, 0.5)"),
        (
            "MATCH (a) RETURN [a IN [1] WHERE EXISTS { (a)-->() } | a]",
            "a is a variable of the plan, too: give the member another name",
            "a_1",
        ),
        ("MATCH (a) RETURN a {.x}", "a map is no value", "properties(n)"),
        (
            "MATCH (a), (b) RETURN shortestPath((a)-[*]-(b))",
            "a shortest path stands in a pattern",
            "MATCH p = shortestPath((a)-[*]-(b))",
        ),
        (
            "MATCH (a) RETURN COLLECT { MATCH (a)-->(b) RETURN b }",
            "COLLECT { } is not supported",
            "OPTIONAL MATCH, then collect(n.name)",
        ),
        ("MATCH (a) RETURN (a)-->()", "a pattern is no value", "EXISTS { (a)-->() }"),
        ("MATCH (a) RETURN tolowre(a.x)", "there is no function tolowre", "toLower"),
        ("MATCH (a) RETURN size(a, 1)", "size does not take 2 values", "size(x)"),
        ("MATCH (a) RETURN round(a.x, 2, 3)", "round does not take 3 values", "round(x, 2)"),
        ("MATCH ((a)-->(b)){1,3} RETURN a", "a repeated group is not supported", "a repeated edge: (a)-[:R]->{1,3}(b)"),
        (
            "MATCH (a)-[:R*2 {x: 1}]->(b) RETURN a",
            "a condition on each edge of a path",
            "-[:R {x: 1}]->(b)-[:R {x: 1}]->",
        ),
        ("MATCH (a)-[*3..1]->(b) RETURN a", "no path is so long", "*1..3"),
        ("MATCH p = shortestPath((a)-->(b)-->(c)) RETURN p", "along one edge", "p = shortestPath((a)-[:R|S*]->(b))"),
        ("MATCH (a)-[r]->(b)-[r]->(c) RETURN a", "r is taken", "r2"),
        ("MATCH (a)-[r]->(r) RETURN a", "r is taken", "r2"),
        ("MATCH ()-[r]->() MATCH (r) RETURN r", "r is no node", "r2"),
        ("MATCH (a) UNWIND [1] AS a RETURN a", "a is taken", "a2"),
        ("MATCH (`@1`) RETURN 1", "the name of a variable does not begin so", "1"),
        ("MATCH (a) RETURN a.x AS c, a.y AS c", "two columns are called c", "... AS another_name"),
        ("MATCH (a) RETURN a LIMIT a.x", "a number of rows is a whole number from 0 on", "10"),
        ("MATCH (a) RETURN DISTINCT a.x ORDER BY a.y", "only what is returned can be used", "a.x"),
        ("MATCH (a) WITH DISTINCT a.x AS c WHERE a:Film RETURN c", "only what is returned can be used", "c"),
        (
            "MATCH (a) WITH DISTINCT a.x AS c WHERE EXISTS { (a)--() } RETURN c",
            "only what is returned can be used",
            "c",
        ),
        ("MATCH (a)", "a plan ends with what it returns", "RETURN *"),
        ("MATCH (a) RETURN a MATCH (b) RETURN b", "RETURN is the last clause", "WITH"),
        ("MATCH (a) RETURN a UNION MATCH (b) RETURN b", "the same columns", "RETURN ... AS a"),
        (
            "MATCH (a) WHERE EXISTS { MATCH (a)-->(b) MATCH (b)-->() } RETURN a",
            "one pattern with its condition",
            "EXISTS { (a)-[:R]->(b), (b)-[:S]->(c) WHERE b.x > 1 }",
        ),
        ("MATCH (a)-[:R&S]->(b) RETURN a", "an edge has one type, or one of several", "[:R|S]"),
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
    assert problem.reason == f"there is no function {name} in plans; {FUNCTION_LIST}"
    assert not problem.alternatives
    page, _, heading = FUNCTION_LIST.partition(" lists all under ")
    assert f"## {heading}" in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")


def test_all_problems_are_told_at_once_with_their_places():
    found = problems("MATCH (film)\nWHERE flim.x > $y\nRETURN foo(film), other.x")
    assert [(problem.place, problem.reason) for problem in found] == [
        ("MATCH, line 2, column 7", "nothing is called flim here"),
        ("MATCH, line 2, column 16", "no value is given for $y"),
        ("RETURN, line 3, column 8", f"there is no function foo in plans; {FUNCTION_LIST}"),
        ("RETURN, line 3, column 19", "nothing is called other here"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN 1 //" + "x" * LONGEST_TEXT, "characters"),
        ("RETURN " + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "levels"),
        ("RETURN " + "- " * 9_000 + "1", "levels"),
        ("RETURN " + "1 + " * 4_000 + "1", "levels"),
        ("MATCH (a) WHERE " + "NOT (" * 3_000 + "a.x" + ")" * 3_000 + " RETURN a", "levels"),
        ("MATCH (a) WHERE " + "EXISTS { (a) WHERE " * 500 + "true" + "}" * 500 + " RETURN a", "levels"),
        ("MATCH (a:" + "!" * 9_000 + "A) RETURN a", "levels"),
        ("MATCH (a)" + "--()" * MOST_ELEMENTS + " RETURN a", "nodes and edges"),
        ("MATCH (a) " + "WITH a " * MOST_CLAUSES + "RETURN a", "clauses"),
        ("RETURN " + ", ".join(f"1 AS c{number}" for number in range(MOST_COLUMNS + 1)), "columns"),
        ("RETURN " + "1" * 5_000, "the number is too large"),
        ("RETURN 1e999", "the number is too large"),
        ("RETURN " + "(" * 9_000, "the text ends"),
    ],
)
def test_what_is_too_much_is_refused(text: str, reason: str):
    assert any(reason in problem.reason for problem in problems(text))


def test_brackets_alone_are_no_nesting():
    assert parse_cypher("MATCH (a) WHERE " + "(" * 5_000 + "a.x = 1" + ")" * 5_000 + " RETURN a").columns == ("a",)


def test_of_many_problems_the_first_are_told():
    assert len(problems("RETURN " + ", ".join(f"f{number}(1)" for number in range(100)))) == MOST_PROBLEMS


def test_a_server_that_gets_no_plans_never_loads_the_parser():
    code = "import sys, kgnav_mcp.languages.cypher; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
