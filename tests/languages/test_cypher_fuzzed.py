"""Plans made at random are written and read again; texts that are damaged at random are refused, or are plans."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import parse_cypher, write_cypher
from tests.languages.random_plans import RandomPlans, same_but_for_unnamed

RANDOM = st.integers(0, 2**32).map(Random)
"""Seeds, so that a plan costs hypothesis one draw and not a thousand."""
PIECES = [
    *"()[]{}<>-=:|&!*+.,;'\"`$/\\#\n\0",
    "MATCH ",
    "RETURN ",
    " WHERE ",
    "--",
    "->",
    "1e9",
    "..",
    "/*",
    "//",
    "\ud800",
]
QUICK = settings(max_examples=100, deadline=None, derandomize=True, database=None)


def is_plan_or_refused(text: str) -> bool:
    """Whether a text is read or refused with reasons; any other error comes through."""
    try:
        return bool(parse_cypher(text).columns)
    except InvalidPlan as error:
        return bool(error.problems) and all(problem.place and problem.reason for problem in error.problems)


@QUICK
@given(RANDOM)
def test_a_plan_that_is_written_is_read_as_the_same_plan(random: Random):
    plan = RandomPlans(random).plan()
    written = write_cypher(plan)
    read = parse_cypher(written)
    assert same_but_for_unnamed(plan, read), written
    assert write_cypher(read) == written


@QUICK
@given(RANDOM)
def test_a_damaged_text_is_a_plan_or_is_refused(random: Random):
    text = write_cypher(RandomPlans(random).plan())
    for _ in range(random.randint(1, 4)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice([0, 0, 1, 3, 20]))
        text = text[:start] + random.choice(["", *PIECES]) + text[end:]
    assert is_plan_or_refused(text)


@QUICK
@given(st.lists(st.sampled_from([*PIECES, "a", "n", "x", "1"]), max_size=30).map("".join))
def test_any_text_is_a_plan_or_is_refused(text: str):
    assert is_plan_or_refused(text)
