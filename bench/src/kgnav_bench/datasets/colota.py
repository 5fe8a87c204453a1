"""CoLoTa: true-or-false questions on common sense about rare entities of Wikidata (Toroghi et al., 2025)."""

from __future__ import annotations

from kgnav_bench.datasets.dataset import Dataset, File, Reading
from kgnav_bench.datasets.rows import Row, boolean, inner, json_list, text
from kgnav_bench.records import Answer, AnswerKind, Entity, Question

_KINDS = {"S": "question", "C": "claim"}
_FILES = "https://raw.githubusercontent.com/D3Mlab/CoLoTa/60ef216784397d32c01ebbac9f082756c11696e8"


def _question(row: Row, _: Reading) -> Question:
    identifier = text(row, "id")
    entities = inner(row, "kg_entities")
    return Question(
        id=identifier,
        text=text(row, "query"),
        answers=(Answer(names=(str(boolean(row, "answer")),)),),
        topics=tuple(Entity(id=text(entities, name), name=name) for name in entities),
        kind=_KINDS.get(identifier[0], ""),
        answer_kind=AnswerKind.BOOLEAN,
    )


COLOTA = Dataset(
    name="colota",
    title="CoLoTa",
    graph="Wikidata",
    questions=3341,
    licence="not stated in its repository",
    home="https://github.com/D3Mlab/CoLoTa",
    used_by="ARK-V1",
    rows=json_list(),
    question=_question,
    files=(
        File("qa", f"{_FILES}/CoLoTa_qa.json", "9f03a05cbdd8d891a1342976d2abb17fa5b1bd797ac4845aa1a016da933b2b99"),
        File("cv", f"{_FILES}/CoLoTa_cv.json", "1f69bcfc633a33840cc3a6eca7ac8de1cadc06e9ee3574f93f92a51d7267d939"),
    ),
)
