"""What a page shows of counted rows, and where the next one begins."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.cypher.counts import RelationCounts
from kgnav_mcp.adapters.cypher.entities import Anchor
from kgnav_mcp.adapters.cypher.pages import Position, planned
from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import Direction, Entity

OUT = Direction.OUTGOING


def counts(name: str, values: dict[str, int], edges: dict[str, int]) -> RelationCounts:
    return RelationCounts(Anchor(name, Entity(name), ()), OUT, values, edges)


NODES = [
    counts("a", {"name": 1}, {"LIKES": 3, "OWNS": 2}),
    counts("b", {}, {}),
    counts("c", {"LIKES": 2}, {"LIKES": 4}),
]


def shown(limit: int, start: Position | None = None, nodes: list[RelationCounts] = NODES) -> list[tuple[object, ...]]:
    parts, _ = planned(nodes, start, limit)
    return [(part.counts.anchor.node_id, part.relation, part.start, part.end) for part in parts]


def test_a_page_is_filled_node_by_node_and_relation_by_relation() -> None:
    assert shown(5) == [("a", "LIKES", 0, 3), ("a", "OWNS", 0, 2)]
    assert shown(100) == [("a", "LIKES", 0, 3), ("a", "OWNS", 0, 2), ("a", "name", 0, 1), ("c", "LIKES", 0, 6)]


def test_a_page_goes_on_behind_a_position() -> None:
    start = Position(12, 0, 2, 1, OUT, "OWNS")

    assert shown(3, start) == [("a", "OWNS", 1, 2), ("a", "name", 0, 1), ("c", "LIKES", 0, 1)]
    assert planned(NODES, start, 3)[1] == 5


def test_all_pages_together_are_the_list_whatever_their_size() -> None:
    for limit in range(1, 14):
        rows: list[tuple[object, ...]] = []
        start, left, nodes = None, 1, NODES
        while left:
            parts, left = planned(nodes, start, limit)
            rows += [(part.key, part.relation, row) for part in parts for row in range(part.start, part.end)]
            last = parts[-1]
            start = Position(12, 0, last.counts.by_relation[last.relation], last.end, OUT, last.relation)
            nodes = NODES[NODES.index(last.counts) :]
        assert len(rows) == len(set(rows)) == 12


def test_values_come_before_edges_of_the_same_name() -> None:
    (part,) = planned([NODES[2]], Position(12, 2, 6, 1, OUT, "LIKES"), 3)[0]

    assert (part.start, part.skip, part.take) == (1, 0, 2)


def test_a_relation_that_has_another_number_of_rows_now_is_refused() -> None:
    for rows, relation in ((5, "OWNS"), (2, "HATES")):
        with pytest.raises(InvalidCursor, match="written to since"):
            planned(NODES, Position(12, 0, rows, 1, OUT, relation), 3)


@pytest.mark.parametrize("text", ["", "1.2", "1.0.2.1.sideways.LIKES", "1.0.2.x.outgoing.LIKES", "1.-1.2.1.outgoing.A"])
def test_other_texts_are_no_positions(text: str) -> None:
    with pytest.raises(InvalidCursor, match="no position"):
        Position.parse(text)


def test_a_position_is_read_as_it_was_written() -> None:
    position = Position(12, 3, 6, 1, Direction.INCOMING, "a.dotted.relation")
    assert Position.parse(str(position)) == position
