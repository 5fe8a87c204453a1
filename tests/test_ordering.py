"""The order of values."""

from __future__ import annotations

from kgnav_mcp.values.scalars import value_order

IN_ORDER = [
    *("-1e3", "-12", "-1.5", "-.5", "0", "+0.25", "1", "1.0", "2", "10", "1e2", "1E+3"),
    *("", "+", "-", ".", "1,000", "12 Main Street", "1815-12-10", "1e", "NaN", "abc", "é"),
]


def test_numbers_come_by_their_size_and_before_all_texts():
    assert sorted([*IN_ORDER[7:], *IN_ORDER[:7]], key=value_order) == IN_ORDER


def test_digits_of_other_scripts_and_endless_numbers_can_be_ordered():
    assert sorted(["٣", "9" * 5_000, "1"], key=value_order) == ["1", "9" * 5_000, "٣"]
