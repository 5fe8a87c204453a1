"""Values of the model."""

from __future__ import annotations

from kgnav_mcp.model import Literal


def test_a_value_is_the_same_wherever_it_is_in_an_array() -> None:
    assert Literal("red", index=0) == Literal("red", index=3) == Literal("red")
    assert len({Literal("red", index=0), Literal("red")}) == 1
