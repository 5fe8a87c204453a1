"""The names of a long list are looked up together, and mean what each means alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.navigation.plans.writing import rows

NAMES = [f"Name {number}" for number in range(60)]
TWINS = (7, 31)
"""Names that two nodes have, one of which has another label."""


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    lines = [f"p{number},{name},Person\n" for number, name in enumerate(NAMES)]
    lines += [f"t{number},Name {number},{'Person' if number == TWINS[0] else 'Place'}\n" for number in TWINS]
    (tmp_path / "nodes.csv").write_text(f":ID,name,:LABEL\n{''.join(lines)}", encoding="utf-8")
    (tmp_path / "edges.csv").write_text(":START_ID,:END_ID,:TYPE\np0,p1,knows\n", encoding="utf-8")
    load([tmp_path / "nodes.csv", tmp_path / "edges.csv"], tmp_path / "graph.kg")
    async with open_adapter(str(tmp_path / "graph.kg"), AdapterOptions()) as opened:
        yield opened


async def checked(graph: GraphAdapter, names: list[str]) -> CheckedPlan:
    listed = ", ".join(f"'{name}'" for name in names)
    return await PlanRunner(graph).check(parse_plan(f"MATCH (n:Person) WHERE n.name IN [{listed}] RETURN n").plan)


async def test_a_long_list_of_names_costs_few_questions(graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    run = EmbeddedAdapter._run  # pyright: ignore[reportPrivateUsage] - what every verb calls

    async def noted(self: EmbeddedAdapter, job: Any) -> Any:
        asked.append(job)
        return await run(self, job)

    monkeypatch.setattr(EmbeddedAdapter, "_run", noted)
    await checked(graph, [*NAMES, "name 3", "Nobody"])

    assert len(asked) < 12


async def test_a_name_in_a_long_list_means_what_it_means_alone(graph: GraphAdapter):
    together = await checked(graph, [*NAMES, "Nobody"])
    notes = [note for name in [*NAMES, "Nobody"] for note in (await checked(graph, [name, NAMES[0]])).notes]
    page = await PlanRunner(graph).run(together.plan, limit=100)

    assert [note for note in together.notes if "matches" in note] == [note for note in notes if "matches" in note]
    assert [note for note in together.notes if "Nobody" in note] == [note for note in notes if "Nobody" in note] != []
    assert {node for (node,) in rows(page)} == {f"p{number}" for number in range(60)} | {f"t{TWINS[0]}"}
