"""Questions and attempts are written and read as JSON Lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_bench.records import (
    Answer,
    AnswerKind,
    Attempt,
    Entity,
    Outcome,
    Question,
    ToolCall,
    Turn,
    UnreadableRecordsError,
    read_records,
    write_records,
)

QUESTION = Question(
    id="1",
    text="Who directed Jaws?",
    answers=(Answer(names=("Steven Spielberg", "Spielberg"), id="Q8877"),),
    topics=(Entity(id="Q189505", name="Jaws"),),
    answer_kind=AnswerKind.ENTITIES,
)


@pytest.mark.parametrize("name", ["questions.jsonl", "questions.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str):
    assert write_records(tmp_path / name, [QUESTION, QUESTION]) == 2
    assert list(read_records(tmp_path / name, Question)) == [QUESTION, QUESTION]


def test_an_attempt_keeps_arguments_that_are_not_json(tmp_path: Path):
    calls = (
        ToolCall(tool="search", arguments="{entity:", result="not JSON", is_error=True),
        *2 * (ToolCall(tool="search", arguments={"entity": "Q1"}, result="0 rows"),),
    )
    attempt = Attempt(question="1", arm="ours", outcome=Outcome.ANSWERED, turns=(Turn(calls=calls),))
    write_records(tmp_path / "a.jsonl", [attempt])
    assert list(read_records(tmp_path / "a.jsonl", Attempt)) == [attempt]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "1", "text": "?", "answers": [], "answer": "x"}', "line 2 of .* answer: Extra inputs"),
        ('{"id": "1", "text": "?", "answers": [{"names": []}]}', r"line 2 of .* answers\.0\.names"),
        ("{", "line 2 of .* cannot be read as a question"),
    ],
)
def test_a_line_that_is_not_a_record_is_named(tmp_path: Path, line: str, reason: str):
    path = tmp_path / "q.jsonl"
    path.write_text(f"{QUESTION.model_dump_json()}\n{line}\n", encoding="utf-8")
    with pytest.raises(UnreadableRecordsError, match=reason):
        list(read_records(path, Question))


def test_a_gzipped_file_that_is_cut_is_named(tmp_path: Path):
    path = tmp_path / "q.jsonl.gz"
    write_records(path, [QUESTION] * 500)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnreadableRecordsError, match="cannot be read after line"):
        list(read_records(path, Question))
