"""Batches of a list in memory."""

from __future__ import annotations

from kgnav_mcp.port.lists import batches


def test_batches_keep_the_order_and_lose_nothing():
    assert [list(batch) for batch in batches(range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(batches("", 2)) == []
    assert [len(batch) for batch in batches(range(2_500), 1_000)] == [1_000, 1_000, 500]
