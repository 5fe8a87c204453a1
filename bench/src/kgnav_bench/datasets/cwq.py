"""ComplexWebQuestions 1.1: WebQuestionsSP composed to longer questions over Freebase (Talmor and Berant, 2018)."""

from __future__ import annotations

from kgnav_bench.datasets.dataset import Dataset, Reading
from kgnav_bench.datasets.freebase_ids import freebase_id
from kgnav_bench.datasets.rows import Row, items, json_list, optional_text, text, texts
from kgnav_bench.records import Answer, Question


def _question(row: Row, _: Reading) -> Question:
    return Question(
        id=text(row, "ID"),
        text=text(row, "question"),
        answers=tuple(map(_answer, items(row, "answers", optional=True))),
        kind=optional_text(row, "compositionality_type"),
        query=optional_text(row, "sparql") or None,
    )


def _answer(answer: Row) -> Answer:
    written = text(answer, "answer_id" if optional_text(answer, "answer_id") else "answer")
    identifier = freebase_id(written)
    is_entity = identifier.startswith(("m.", "g."))
    names = (
        optional_text(answer, "answer") or (identifier if is_entity else written),
        *texts(answer, "aliases", optional=True),
    )
    return Answer(names=tuple(dict.fromkeys(names)), id=identifier if is_entity else None)


CWQ = Dataset(
    name="cwq",
    title="ComplexWebQuestions",
    graph="Freebase",
    questions=34_689,
    licence="not stated by its authors",
    home="https://www.tau-nlp.sites.tau.ac.il/compwebq",
    used_by="Search-on-Graph, GraphWalker",
    rows=json_list(),
    question=_question,
    by_hand="The page links a folder with ComplexWebQuestions_train.json, _dev.json and _test.json.",
)
