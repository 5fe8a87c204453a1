"""Questions of LC-QuAD 2.0 and WikiWebQuestions with their answers on WD50K and CoDEx-M, as JSON Lines."""

from __future__ import annotations

import re

from kgnav_bench.datasets.dataset import Dataset, Reading, numbered
from kgnav_bench.datasets.rows import Row, json_lines, text, texts
from kgnav_bench.records import Answer, Question

_ITEM = re.compile(r"[QP][1-9]\d*")


def _question(row: Row, reading: Reading) -> Question:
    return Question(
        id=numbered(reading),
        text=text(row, "question"),
        answers=tuple(
            Answer(names=(value,), id=value if _ITEM.fullmatch(value) else None)
            for value in dict.fromkeys(texts(row, "answers"))
        ),
        kind=text(row, "source"),
        query=text(row, "sparql"),
    )


WD50K = Dataset(
    name="wd50k",
    title="Questions on WD50K and CoDEx-M",
    graph="WD50K and CoDEx-M, subsets of Wikidata",
    questions=1119,
    licence="MIT repositories, CC0 content",
    home="https://github.com/migalkin/StarE",
    used_by="-",
    rows=json_lines,
    question=_question,
    by_hand="Not published: JSON Lines with question, sparql, source, and answers (ids or numbers) on these graphs.",
)
