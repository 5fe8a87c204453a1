"""Positions as text and back."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.embedded.rows import Position, Segment, SegmentKind, node_behind
from kgnav_mcp.errors import InvalidCursor


@pytest.mark.parametrize(
    ("segment", "seek", "text"),
    [
        (Segment(SegmentKind.ATTRIBUTE, (4,)), (0,), "2.a.4.0"),
        (Segment(SegmentKind.TAIL, (4,)), (17, 1), "2.t.4.17.1"),
        (Segment(SegmentKind.HEAD, (4,)), (17, 1), "2.h.4.17.1"),
        (Segment(SegmentKind.ATTRIBUTE_THROUGH, (4, 5)), (17, 1, 2), "2.ta.4.5.17.1.2"),
        (Segment(SegmentKind.TAIL_THROUGH, (4, 5)), (17, 1, 9, 0), "2.tt.4.5.17.1.9.0"),
    ],
)
def test_a_position_names_its_row_and_is_read_back(segment: Segment, seek: tuple[int, ...], text: str):
    assert segment.prefix(2) + ".".join(map(str, seek)) == text
    assert Position.parse(text) == Position(2, segment, seek)


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "0.t", "0.t.1", "0.t.1.2", "0.t.1.2.3.4"),
        *("0.x.1.2.3", "-1.t.1.2.3", "0.t.-1.2.3", "a.t.1.2.3", "0.t.1.2.x"),
        "0.t.1.2.9223372036854775808",
    ],
)
def test_any_other_text_is_refused_with_what_to_do(text: str):
    with pytest.raises(InvalidCursor) as caught:
        Position.parse(text)
    assert "without a cursor" in caught.value.next_step


def test_a_position_of_nodes_is_the_number_of_a_node():
    assert node_behind(None) == 0
    assert node_behind("12") == 12
    for text in ("", "-1", "1.5", "9223372036854775808"):
        with pytest.raises(InvalidCursor):
            node_behind(text)
