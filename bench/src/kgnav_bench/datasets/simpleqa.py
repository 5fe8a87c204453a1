"""SimpleQA: short questions about facts, not tied to a graph (OpenAI, 2024)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, cast

from kgnav_bench.datasets.dataset import Dataset, File, Reading, numbered
from kgnav_bench.datasets.rows import BadRowError, Row, comma_separated, text
from kgnav_bench.records import Answer, AnswerKind, Question


def _question(row: Row, reading: Reading) -> Question:
    try:
        metadata: object = ast.literal_eval(text(row, "metadata"))
    except (ValueError, SyntaxError) as error:
        raise BadRowError(f"metadata: {error}") from error
    topic = cast("Mapping[str, Any]", metadata).get("topic", "") if isinstance(metadata, Mapping) else ""
    return Question(
        id=numbered(reading),
        text=text(row, "problem"),
        answers=(Answer(names=(text(row, "answer"),)),),
        kind=str(topic),
        answer_kind=AnswerKind.TEXT,
    )


SIMPLEQA = Dataset(
    name="simpleqa",
    title="SimpleQA",
    graph="none",
    questions=4326,
    licence="MIT",
    home="https://github.com/openai/simple-evals",
    used_by="-",
    rows=comma_separated,
    question=_question,
    files=(File("test", "https://openaipublic.blob.core.windows.net/simple-evals/simple_qa_test_set.csv"),),
)
