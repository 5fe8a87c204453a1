"""The questions of MetaQA with their gold paths, as the benchmarks that follow the paths take them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kgnav_bench.datasets.rows import UnreadableDatasetError
from kgnav_bench.metaqa import questions
from tests.datasets import dataset
from tests.sampling import sampled


@pytest.mark.parametrize("hops", sampled([1, 2, 3], 3))
def test_questions_topics_paths_and_answers_are_those_of_the_file(hops: int):
    with gzip.open(dataset("metaqa") / f"{hops}hop.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    expected = [(row["question"], row["topic"], row["path"], set(row["answers"])) for row in rows]
    read = questions(dataset("metaqa"), hops)
    assert [(q.text, q.topic, [[s.relation, s.direction] for s in q.path], q.answers) for q in read] == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "Who directed [Up]?", "answers": "Ann"}, "question 1-hop-1 has a gold path of 0 hops"),
        ({"question": "?", "topic": "Up", "path": ["x"], "answers": ["Ann"]}, "line 1: path: is not a list of"),
        ({"question": "?", "topic": "Up", "path": [["x", "outgoing"]]}, "line 1: answers: is missing"),
    ],
)
def test_a_row_without_a_gold_path_of_this_length_or_without_answers_is_refused(
    tmp_path: Path, row: dict[str, object], message: str
):
    (tmp_path / "1hop.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    with pytest.raises(UnreadableDatasetError, match=message):
        questions(tmp_path, 1)
