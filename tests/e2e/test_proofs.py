"""Proofs through a real server on the demo graph: right answers are proved, made-up ones called what they are.

`kgnav-bench proof` asks for a thousand of each on the film graph.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgnav_bench.client import BareClient, server_command
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse
from kgnav_bench.trails.proof import OPTIONS, Finding, Proofs
from kgnav_bench.trails.walks import Edges

pytestmark = pytest.mark.slow

HUB_ROWS = 25
"""The demo graph has a few nodes with more rows on one side."""
EACH = 40
ALL_EDGES = "MATCH (a)-[r]->(b) RETURN elementId(a) AS head, type(r) AS relation, elementId(b) AS tail"


@pytest.fixture(scope="module")
def client() -> Iterator[BareClient]:
    with BareClient([*server_command(None), *OPTIONS, "--row-limit", str(HUB_ROWS)]) as started:
        yield started


@pytest.fixture(scope="module")
def edges() -> Edges:
    """All edges of the demo graph between its nodes, as one plan tells them."""
    triples: list[tuple[str, str, str]] = []
    arguments = {"plan": ALL_EDGES}
    with BareClient([*server_command(None), "--toolsets", "plans"]) as started:
        while True:
            page = parse(started.call("run_plan", arguments))
            columns = [page.column(name) for name in ("head", "relation", "tail")]
            triples += zip(*columns, strict=True)
            if page.cursor is None:
                return Edges(triples, HUB_ROWS)
            arguments = {"plan": ALL_EDGES, "cursor": page.cursor}


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Run]:
    with Run(tmp_path / "proof.jsonl", {}) as started:
        yield started


def faults(problems: list[Finding]) -> list[str]:
    return [fault for finding in problems for fault in finding.wrong]


def test_right_answers_are_proved(record: Run, client: BareClient, edges: Edges) -> None:
    chance = random.Random(1)  # noqa: S311 - a choice of samples, not a secret
    found = Proofs(record, client, edges, chance).right(edges.walks(chance), EACH)

    assert faults([found]) == []
    assert found.called == {"connected": EACH}


def test_made_up_answers_are_called_what_they_are(record: Run, client: BareClient, edges: Edges) -> None:
    chance = random.Random(2)  # noqa: S311 - a choice of samples, not a secret
    found = Proofs(record, client, edges, chance).made_up(edges.walks(chance), EACH)

    assert faults(found) == []
    assert {finding.verdict for finding in found} == {
        "never seen",
        "seen but not connected",
        "connected only through a hub",
    }
    assert sum(finding.called.total() for finding in found) == EACH
