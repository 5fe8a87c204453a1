"""A film graph of a few triples in MetaQA's form, with questions of one, two and three hops."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

TRIPLES = "Up\tdirected_by\tAnn\nOff\tdirected_by\tAnn\nOff\thas_genre\tDrama\nUp\thas_genre\tDrama\n"
QUESTIONS = {
    1: ([["directed_by", "outgoing"]], ["Ann"]),
    2: ([["directed_by", "outgoing"], ["directed_by", "incoming"]], ["Off"]),
    3: ([["directed_by", "outgoing"], ["directed_by", "incoming"], ["has_genre", "outgoing"]], ["Drama"]),
}


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the graph and its questions, three of each length. Tests share it and leave it as it is."""
    folder = tmp_path_factory.mktemp("films")
    (folder / "kb.tsv.gz").write_bytes(gzip.compress(TRIPLES.encode()))
    for hops, (path, answers) in QUESTIONS.items():
        lines = [
            json.dumps({"question": f"what {n}?", "topic": "Up", "path": path, "answers": answers}) for n in range(3)
        ]
        (folder / f"{hops}hop.jsonl.gz").write_bytes(gzip.compress("\n".join((*lines, "")).encode()))
    return folder
