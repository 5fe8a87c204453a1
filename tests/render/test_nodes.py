"""Nodes and their neighbours say what was not looked for."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Count, Entity, NearestNeighbours, NodeProperties, Page
from kgnav_mcp.render.nodes import nearest, nodes, values
from kgnav_mcp.render.sheet import Style, fit

WORD = "Texts in other languages were not looked for."


@pytest.mark.parametrize("found", [0, 1, 2])
def test_a_list_that_was_looked_up_in_part_says_so_with_and_without_rows(found: int) -> None:
    anchors = [Entity(f"n{n}", f"Node {n}") for n in range(found)]
    positions, total = tuple(map(str, range(found))), Count.at_least(found)
    page = Page(tuple(NodeProperties(anchor, ()) for anchor in anchors), positions, total, note=WORD)
    text = fit(nodes(page, Style(), 0, asked="year 1994", otherwise="Look elsewhere."), Style(), str).text
    assert text.startswith(f"at least {found} node" if found else "at least 0 nodes: no node was found with year 1994.")
    assert WORD in text
    assert WORD in fit(values(Page((), (), total, note=WORD), Style(), 0, asked="year"), Style(), str).text
    neighbours = NearestNeighbours(Page(tuple(anchors), positions, total, note=WORD))
    assert (
        WORD
        in fit(nearest(neighbours, Style(), 0, asked="year 1994", otherwise="", first_cursor="c"), Style(), str).text
    )
