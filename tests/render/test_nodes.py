"""Nodes and their neighbours say what was not looked for."""

from __future__ import annotations

from typing import Any

import pytest

from kgnav_mcp.model import (
    AbsentRelation,
    Count,
    Entity,
    Literal,
    NearestNeighbours,
    NodeProperties,
    NodesByProperty,
    Page,
    Relation,
    Triple,
)
from kgnav_mcp.render.nodes import nearest_neighbours_table, nodes_table, values_table
from kgnav_mcp.render.table import RenderOptions, fit_to_budget

WORD = "Texts in other languages were not searched."


@pytest.mark.parametrize("found", [0, 1, 2])
def test_a_list_that_was_looked_up_in_part_says_so_with_and_without_rows(found: int) -> None:
    anchors = [Entity(f"n{n}", f"Node {n}") for n in range(found)]
    positions, total = tuple(map(str, range(found))), Count.at_least(found)
    page = Page(tuple(NodeProperties(anchor, ()) for anchor in anchors), positions, total, note=WORD)
    text = fit_to_budget(
        nodes_table(NodesByProperty(page), 0, condition="year 1994", next_step="Look elsewhere."), RenderOptions(), str
    ).text
    assert text.startswith(f"at least {found} node" if found else "at least 0 nodes: no node was found with year 1994.")
    assert WORD in text
    assert (
        WORD
        in fit_to_budget(
            values_table(Page((), (), total, note=WORD), 0, counted="nodes", list_name="year"),
            RenderOptions(),
            str,
        ).text
    )
    neighbours = NearestNeighbours(Page(tuple(anchors), positions, total, note=WORD))
    assert (
        WORD
        in fit_to_budget(
            nearest_neighbours_table(neighbours, 0, condition="year 1994", next_step="", first_cursor="c"),
            RenderOptions(),
            str,
        ).text
    )


def test_chosen_properties_are_columns_behind_the_name_and_stay_one_list_in_json() -> None:
    ann = Entity("ann", "Ann", types=("Person",))
    year, tag = Relation("year", "year"), Relation("t|g", "tag")
    own = (Triple(ann, tag, Literal("a")), Triple(ann, year, Literal("1994")), Triple(ann, tag, Literal("b")))
    nodes = (NodeProperties(ann, own), NodeProperties(Entity("bob", "Bob"), ()))
    page = Page(nodes, ("1", "2"), Count(2))
    absent = (AbsentRelation("yaer", ("year",)),)
    found = NodesByProperty(page, chosen=("year", "t|g"), omitted=("height",), absent=absent)
    answer = fit_to_budget(nodes_table(found, 0, condition="", next_step=""), RenderOptions(), str)
    assert answer.text.splitlines()[1:6] == [
        "No property 'yaer'; nearest: year.",
        "node|name|year|t%7Cg|labels",
        "--|--|--|--|--",
        "ann|Ann|1994|a; b|Person",
        "bob|Bob|||",
    ]
    assert "With this many nodes some properties are omitted (height)" in answer.text
    facts: Any = answer.facts
    properties = facts["rows"][0]["properties"]
    assert [(each["property"]["id"], each["value"]) for each in properties] == [
        ("t%7Cg", "a"),
        ("year", "1994"),
        ("t%7Cg", "b"),
    ]
    assert "No property 'yaer'; nearest: year." in facts["notes"]
