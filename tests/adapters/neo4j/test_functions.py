"""Functions and expressions of values give what Neo4j gives for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, LiteralString, cast

import pytest
from neo4j import Driver, GraphDatabase

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import Function
from kgnav_mcp.port import AdapterOptions
from kgnav_mcp.values.functions import FUNCTIONS
from tests.contract.example import DictAdapter
from tests.neo4j_service import Neo4j
from tests.plans.stored import ask
from tests.sampling import sampled_rows

EXPRESSIONS = """
coalesce(null, 2, 3)
size('añb')
size([1, null, 3])
head([1, 2])
head([])
last([1, 2])
tail([1, 2, 3])
tail([])
reverse('abc')
reverse([1, 'a', null])
isEmpty('')
isEmpty([])
isEmpty([null])
isEmpty('x')
range(1, 5)
range(1, 10, 3)
range(5, 1, -2)
range(5, 1)
range(0, 0)
toLower('ÀB')
toUpper('àß')
left('hello', 3)
left('hello', 9)
left('hello', 0)
right('hello', 3)
right('hello', 9)
right('hello', 0)
substring('hello', 1)
substring('hello', 1, 3)
substring('hello', 9)
substring('hello', 0, 0)
trim('  a b  ')
ltrim('  a ')
rtrim(' a  ')
replace('a_b_c', '_', ' ')
replace('aaa', 'aa', 'b')
replace('abc', 'x', 'y')
split('a,b,,c', ',')
split('abc', '')
split('', ',')
split('a', ',')
toString(1.5)
toString(true)
toString(1e10)
toFloat('1.5')
toFloat('x')
toInteger('12')
toInteger('1.9')
toInteger(-1.9)
toBoolean('TRUE')
toBoolean('yes')
toBoolean(0)
toBoolean(2)
abs(-3)
abs(-2.5)
sign(-3)
sign(0.0)
sign(2.5)
round(2.5)
round(-1.5)
round(-2.5)
round(0.49999999999999994)
round(2.675, 2)
round(-2.675, 2)
round(1.005, 2)
round(-1.55, 1)
round(2.5, 0)
round(-2.5, 0)
round(1234, 2)
round(-0.04, 1)
round(-0.0, 1)
round(0.1, 401)
round(0.1, 2147483647)
round(sqrt(-1), 2)
floor(-1.5)
ceil(-1.5)
sqrt(16)
sqrt(-1)
exp(0)
exp(1000)
log(1)
log(0)
log(-1)
isNaN(sqrt(-1))
isNaN(log(0))
isNaN(2)
isNaN(2.5)
log10(1000)
log10(0)
CASE WHEN 1 > 2 THEN 'a' WHEN null THEN 'b' ELSE 'c' END
CASE WHEN false THEN 1 END
CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END
CASE null WHEN null THEN 'same' ELSE 'other' END
[1, 2, 3][0]
[1, 2, 3][-1]
[1, 2, 3][3]
[1, 2, 3][-4]
[1, 2, 3][null]
[1, 2, 3, 4][1..3]
[1, 2, 3, 4][..2]
[1, 2, 3, 4][2..]
[1, 2, 3, 4][-2..]
[1, 2, 3, 4][..-1]
[1, 2, 3, 4][3..1]
[1, 2, 3, 4][0..99]
[1, 2, 3][0..null]
[x IN [1, 2, 3] WHERE x > 1]
[x IN [1, 2, 3] | x * 10]
[x IN [1, null, 3] WHERE x > 1 | x + 1]
[x IN null | x]
[x IN [[1, 2], [3]] | size(x)]
[x IN [1, 2] | [y IN [10, 20] | x + y]]
all(x IN [1, 2] WHERE x > 0)
all(x IN [1, null] WHERE x > 0)
all(x IN [0, null] WHERE x > 0)
all(x IN [] WHERE x > 0)
any(x IN [1, 2] WHERE x > 1)
any(x IN [null, 0] WHERE x > 1)
any(x IN [null, 2] WHERE x > 1)
any(x IN [] WHERE x > 1)
none(x IN [1, 2] WHERE x > 2)
none(x IN [1, null] WHERE x > 2)
none(x IN [3, null] WHERE x > 2)
none(x IN null WHERE x > 2)
single(x IN [1, 2] WHERE x > 1)
single(x IN [2, 3] WHERE x > 1)
single(x IN [2, null] WHERE x > 1)
single(x IN [2, 3, null] WHERE x > 1)
reduce(s = 0, x IN [1, 2, 3] | s + x)
reduce(s = '', x IN ['a', 'b'] | s + x)
reduce(s = 0, x IN [1, null] | s + x)
reduce(s = 5, x IN [] | s + x)
reduce(s = 0, x IN null | s + x)
""".strip().splitlines()
WITHOUT_NEO4J = {
    "lpad('7', 3, '0')": "right('000' + '7', 3)",
    "lpad('añb', 5)": "'  añb'",
    "lpad('hi', 7, 'xy')": "left('xyxyxy', 5) + 'hi'",
    "lpad('hello', 3, '.')": "left('hello', 3)",
    "lpad('hello', 5, '')": "'hello'",
    "lpad('', 2, 'ab')": "'ab'",
    "rpad('7', 3, '0')": "left('7' + '000', 3)",
    "rpad('hi', 7, 'xy')": "'hi' + left('xyxyxy', 5)",
    "rpad('hello', 3)": "left('hello', 3)",
    "rpad('hello', 0)": "''",
    "lpad(toString(12), 4, '0')": "right('0000' + toString(12), 4)",
    "lpad(null, 3)": "null",
}
"""Functions that Neo4j 5 does not have, and what gives the same there."""
NULL_HERE = (
    "lpad('a', -1)",
    "lpad('a', 2, '')",
    "rpad('a', 1, 2)",
    "rpad(1, 2)",
    "left('a', -1)",
    "right('a', -1)",
    "substring('a', -1)",
    "range(1, 2, 0)",
    "round(1250, -2)",
    "round(sqrt(-1), -2)",
    "round(0.1, 2147483648)",
    "left(1, 1)",
    "isNaN('a')",
    "tail(null)",
)
"""What Neo4j refuses when it runs is null in plans: one row must not end the others."""
AGGREGATES = (
    "stDev(x)",
    "stDevP(x)",
    "percentileCont(x, 0.0)",
    "percentileCont(x, 0.4)",
    "percentileCont(x, 0.5)",
    "percentileCont(x, 1.0)",
    "percentileDisc(x, 0.4)",
    "percentileDisc(x, 0.0)",
    "percentileDisc(x, 1.0)",
)
LISTS = (
    "[1, 2, 4, 8]",
    "[1, 2, 4]",
    "[3]",
    "[3.5]",
    "[]",
    "[null]",
    "[1.5, 2, null, 2]",
    "[0.1, 0.1, 0.1]",
    "[sqrt(-1), 2, 1]",
    "[1, -log(0), log(0)]",
    "[log(0)]",
    "[sqrt(-1)]",
    "[9007199254740993]",
)


@pytest.fixture(scope="module")
def driver(neo4j: Neo4j) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as opened:  # pyright: ignore[reportUnknownMemberType]
        yield opened


async def plan_answers(cypher: str) -> list[Any]:
    async with DictAdapter("tests.contract.example_graph", AdapterOptions()) as graph:
        (row,) = (await evaluate(graph, parse_plan(cypher).plan, limit=9)).items
    return [_comparable(cell) for cell in row.cells]


def _comparable(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_comparable(one) for one in cast("list[object]", value)]
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.12g}")
    return value


def _with_types(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize(
    ("expression", "equal"), sampled_rows([*((each, each) for each in EXPRESSIONS), *WITHOUT_NEO4J.items()], 2)
)
async def test_an_expression_has_the_value_that_neo4j_gives_it(driver: Driver, expression: str, equal: str):
    ((theirs,),) = ask(driver, f"RETURN {equal}")
    (ours,) = await plan_answers(f"RETURN {expression} AS x")
    assert _with_types(ours) == _with_types(_comparable(theirs))


@pytest.mark.parametrize(
    "returned",
    [
        "count(*)",
        " count( * ) , toLower( n.x )",
        "DISTINCT n",
        "`n`, n . x, n.`x`",
        "(n), (n.x), ( n.x + 1 ), n.x /* one */, n.x + /* two */ 2 // two\n",
        "n.x =\n 1 AS `one two`, COUNT(DISTINCT n)",
        "'a', \"b'\", 1+1",
    ],
)
async def test_columns_are_called_as_neo4j_calls_them(driver: Driver, returned: str):
    cypher = f"MATCH (n) RETURN {returned}"
    theirs = driver.execute_query(cast("LiteralString", cypher)).keys
    assert [*parse_plan(cypher).plan.columns] == [*theirs]


@pytest.mark.parametrize("expression", NULL_HERE)
async def test_a_value_that_a_function_does_not_take_gives_null(expression: str):
    assert await plan_answers(f"RETURN {expression} AS x") == [None]


@pytest.mark.parametrize("values", LISTS)
@pytest.mark.parametrize("aggregate", AGGREGATES)
async def test_an_aggregate_of_numbers_is_neo4js(driver: Driver, aggregate: str, values: str):
    cypher = f"UNWIND {values} AS x RETURN {aggregate} AS y"
    ((theirs,),) = ask(driver, cypher)
    (ours,) = await plan_answers(cypher)
    assert _with_types(ours) == _with_types(_comparable(theirs))


async def test_the_deviation_of_numbers_whose_sum_is_too_large_is_exact():
    assert await plan_answers("UNWIND [1e308, 1e308, -1e308] AS x RETURN stDev(x) AS y") == [1.15470053838e308]


def test_each_function_of_values_is_compared():
    written = "\n".join((*EXPRESSIONS, *WITHOUT_NEO4J))
    of_values = {one for one, entry in FUNCTIONS.items() if entry.compute is not None} - {Function.YEAR}
    assert {one for one in of_values if f"{one}(" not in written} == set()
