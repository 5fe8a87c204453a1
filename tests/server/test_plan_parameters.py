"""Parameters of plans, as a client passes them: values in place of `$name`, or of `{"param": "name"}`."""

from __future__ import annotations

from typing import Any

import pytest

from kgnav_mcp.config import Settings
from tests.server.clients import call, refused

PLANS = Settings(toolsets=("plans",))
PAINTERS = "MATCH (p:Painter) WHERE p.name IN $names RETURN p.name AS n ORDER BY n LIMIT $most"
VALUES: dict[str, Any] = {
    "a text": 'it\'s "$x"',
    "no text": "",
    "an integer": -(2**63),
    "a float": 1.5,
    "true": True,
    "a list": ["a", 1, None, False],
    "an empty list": [],
}
SHOWN = {
    "a text": 'it\'s "$x"',
    "no text": "",
    "an integer": "-9223372036854775808",
    "a float": "1.5",
    "true": "true",
    "a list": "[a, 1, , false]",
    "an empty list": "[]",
}


@pytest.mark.parametrize("kind", VALUES)
async def test_a_parameter_is_a_text_a_number_true_or_a_list(kind: str):
    text = await call("run_plan", {"plan": "RETURN $x AS x, size([$x]) AS n", "params": {"x": VALUES[kind]}}, PLANS)
    assert text.splitlines()[-1] == f"{SHOWN[kind]}|1"


async def test_a_parameter_may_be_null():
    text = await call("run_plan", {"plan": "RETURN $x IS NULL AS x", "params": {"x": None}}, PLANS)
    assert text.splitlines()[-1] == "true"


@pytest.mark.parametrize("prefix", ["", "$"])
async def test_a_plan_in_cypher_finds_nodes_by_parameters(prefix: str):
    params = {f"{prefix}names": ["Vincent van Gogh", "Claude Monet"], f"{prefix}most": 1}
    text = await call("run_plan", {"plan": PAINTERS, "params": params}, PLANS)
    assert text.splitlines() == ["1 row", "n", "--", "Claude Monet", "Without LIMIT there are 2 rows."]


async def test_a_plan_in_json_finds_nodes_by_parameters():
    plan = {
        "nodes": {"p": {"label": "Painter", "name": {"param": "who"}}},
        "edges": [{"from": "p", "edge": "born_in", "to": "c"}],
        "return": ["c"],
    }
    text = await call("run_plan", {"plan": plan, "params": {"who": "Vincent van Gogh"}}, PLANS)
    assert text.splitlines()[-1].startswith("zundert|")


async def test_a_check_takes_parameters():
    await call("check_plan", {"plan": PAINTERS, "params": {"names": ["Claude Monet"], "most": 3}}, PLANS)


TOO_LARGE = "the parameter 'x' has an integer that exceeds 64 bits"
REFUSED: dict[str, tuple[str, dict[str, object], str]] = {
    "an object": ("RETURN $x", {"x": {"a": 1}}, "neither a text, a number, true, false, null nor a list of these"),
    "a list in a list": ("RETURN $x", {"x": [[1]]}, "neither a text, a number, true, false, null nor a list of these"),
    "a large integer": ("RETURN $x", {"x": 2**63}, TOO_LARGE),
    "a large integer in a list": ("RETURN $x", {"x": [1, -(2**63) - 1]}, TOO_LARGE),
    "too many members": ("RETURN size($x)", {"x": [0] * 10_001}, "the parameter 'x' has 10,001 members"),
    "no value": ("RETURN $x", {}, "the parameter $x has no value"),
    "an unused one": ("MATCH (p) RETURN count(p)", {"x": 1}, "params, x: the plan does not use this parameter"),
    "a text as a limit": ("MATCH (p) RETURN p LIMIT $x", {"x": "3"}, "the number of rows must be an integer"),
}


@pytest.mark.parametrize("kind", REFUSED)
async def test_a_value_that_a_plan_cannot_have_is_refused(kind: str):
    plan, params, told = REFUSED[kind]
    for tool in ("run_plan", "check_plan"):
        text = await refused(tool, {"plan": plan, "params": params}, PLANS)
        assert told in text
        assert "\nNext: " in text
