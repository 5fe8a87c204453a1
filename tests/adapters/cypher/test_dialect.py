"""What differs between stores is in their dialect: the queries of the floor have no word of Neo4j's own."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.plans import queries as plan_queries
from kgnav_mcp.adapters.cypher.session import Builder, edge, labelled, quoted
from kgnav_mcp.adapters.ladybug.tables import LADYBUG
from kgnav_mcp.adapters.neo4j.dialect import NEO4J
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Direction

OTHER = replace(
    NEO4J,
    node_id="id({x})",
    degree="degree_of(n, '{edge}')",
    is_list="is_list({x})",
    is_number_list="is_numbers({x})",
    subquery="CALL {{ WITH {variables} {query} }}".replace("{{", "{").replace("}}", "}"),
)
TEXTS = sorted(
    (f"{module.__name__}.{name}", text)
    for module in (queries, plan_queries)
    for name, text in vars(module).items()
    if name.isupper() and isinstance(text, str)
)
OWN_WORDS = re.compile(
    r"elementId|valueType|apoc|db\.|OrNull|normalize|SHORTEST|(COUNT|COLLECT|EXISTS|CALL) *[({]"
    r"|(?<![{\w])(labels|type|keys|properties)\((\w|\{)"
)


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=[name for name, _ in TEXTS])
def test_no_query_of_the_floor_has_a_word_of_one_store(name: str, text: str) -> None:
    assert OWN_WORDS.search(text) is None, name


def test_a_query_is_filled_in_the_words_of_its_dialect() -> None:
    builder = Builder(OTHER)

    nodes = builder.fill(queries.NODES, lookup="MATCH (n)")
    rows = builder.subquery("n, degree", queries.ROWS_OF_FEW, side="outgoing", edge=edge(Direction.OUTGOING))

    assert "id(n)" in nodes
    assert "elementId" not in nodes + rows
    assert rows.startswith("CALL { WITH n, degree ")
    assert builder.degree(Direction.INCOMING, ["A", "B"]) == "degree_of(n, '<-[:`A`]-') + degree_of(n, '<-[:`B`]-')"
    assert "is_list(n[key])" in builder.fill(queries.VALUE_COUNTS)


def test_names_with_places_in_them_stay_as_they_are() -> None:
    builder = Builder(NEO4J)
    name = "we`ird {node} {x}"

    assert builder.fill("MATCH (n{label})", label=labelled(name)) == "MATCH (n:`we``ird {node} {x}`)"
    assert quoted(name) in builder.fill(queries.LABEL_KEYS, label=quoted(name))


def test_a_part_of_a_query_is_the_argument_of_another() -> None:
    builder = Builder(replace(NEO4J, labels="[label({x})]"))

    assert builder.fill("{labels({variable})}", variable="v1") == "[label(v1)]"


def test_a_construct_that_the_store_does_not_have_is_named_in_the_refusal() -> None:
    builder = Builder(replace(NEO4J, store="Small", subquery=None, full_text=None))

    with pytest.raises(Unsupported, match="Small has no construct for subquery"):
        builder.subquery("n", "RETURN n")
    with pytest.raises(Unsupported, match="Small has no construct for full text"):
        builder.fill(queries.FULL_TEXT, rows_of_hits="")


def test_every_field_of_a_dialect_says_something() -> None:
    empty = [each.name for each in fields(NEO4J) if each.name != "own_degrees" and not getattr(NEO4J, each.name)]
    assert not empty


def test_a_subquery_imports_its_variables_as_its_store_does() -> None:
    query = "MATCH (n)-->(m) RETURN m"

    assert Builder(NEO4J).subquery("n", query) == f"CALL (n) {{ {query} }}"
    assert Builder(OTHER).subquery("n", query) == f"CALL {{ WITH n {query} }}"
    with pytest.raises(Unsupported, match="has no construct for subquery"):
        Builder(LADYBUG).subquery("n", query)
