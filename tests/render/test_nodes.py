"""Nodes and their neighbours say what was not looked for."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Count, Entity, NearestNeighbours, NodeProperties, Page
from kgnav_mcp.render.fitting import fit_to_budget
from kgnav_mcp.render.nodes import nearest_neighbours_table, nodes_table, values_table
from kgnav_mcp.render.table import RenderOptions

WORD = "Texts in other languages were not looked for."


@pytest.mark.parametrize("found", [0, 1, 2])
def test_a_list_that_was_looked_up_in_part_says_so_with_and_without_rows(found: int) -> None:
    anchors = [Entity(f"n{n}", f"Node {n}") for n in range(found)]
    positions, total = tuple(map(str, range(found))), Count.at_least(found)
    page = Page(tuple(NodeProperties(anchor, ()) for anchor in anchors), positions, total, note=WORD)
    text = fit_to_budget(
        nodes_table(page, 0, condition="year 1994", next_step="Look elsewhere."), RenderOptions(), str
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
