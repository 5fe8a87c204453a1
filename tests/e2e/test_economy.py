"""Plans beside walking on a film graph of a few triples: what `kgnav-bench economy` counts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main

TRIPLES = "Up\tdirected_by\tAnn\nOff\tdirected_by\tAnn\nOff\thas_genre\tDrama\n"
QUESTIONS = {
    1: ([["directed_by", "outgoing"]], ["Ann"]),
    2: ([["directed_by", "outgoing"], ["directed_by", "incoming"]], ["Off"]),
    3: ([["directed_by", "outgoing"], ["directed_by", "incoming"], ["has_genre", "outgoing"]], ["Drama"]),
}


@pytest.mark.extended
def test_questions_are_counted_by_plans_by_walking_and_as_json(tmp_path: Path) -> None:
    (tmp_path / "kb.tsv.gz").write_bytes(gzip.compress(TRIPLES.encode()))
    for hops, (path, answers) in QUESTIONS.items():
        question = {"question": "what?", "topic": "Up", "path": path, "answers": answers}
        (tmp_path / f"{hops}hop.jsonl.gz").write_bytes(gzip.compress(json.dumps(question).encode() + b"\n"))

    result = CliRunner().invoke(
        main, ["economy", "metaqa", "--data", str(tmp_path), "--all", "-o", f"{tmp_path}/economy.jsonl"]
    )

    assert result.exit_code == 0, result.output
    assert "PASS: 3 of 3 answered exactly by plans" in result.output
    assert "PASS: 1.00 calls a question by plans (at most 2)" in result.output
    (row, _) = (line.split(" | ") for line in result.output.splitlines() if line.startswith("| 3 |"))
    assert row[1:4] == ["1", "1.00", "3.0"]
