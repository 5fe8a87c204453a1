"""SimpleQuestions: one relation of one entity.

Over Freebase (Bordes et al., 2015), and what of it is in Wikidata (Diefenbach et al., 2017).

Each question has one gold answer, also where the relation has several.
"""

from __future__ import annotations

from kgnav_bench.datasets.dataset import Dataset, File, Reading, either, numbered
from kgnav_bench.datasets.freebase_ids import freebase_id
from kgnav_bench.datasets.rows import BadRowError, Row, json_lines, optional_text, tab_separated, text
from kgnav_bench.records import Answer, Entity, Question

_HOME = "https://github.com/askplatypus/wikidata-simplequestions"
_FILES = (
    "https://raw.githubusercontent.com/askplatypus/wikidata-simplequestions/df69267f1db4f85a71325e7e8c06e192bcaf0b0e"
)
_COLUMNS = ("topic", "relation", "answer", "question")


def _freebase(row: Row, reading: Reading) -> Question:
    topic, answer = freebase_id(text(row, "topic")), freebase_id(text(row, "answer"))
    return Question(
        id=numbered(reading),
        text=text(row, "question"),
        answers=(Answer(names=(optional_text(row, "answer_name") or answer,), id=answer),),
        topics=(Entity(id=topic, name=optional_text(row, "topic_name")),),
        relations=(freebase_id(text(row, "relation")),),
        kind="1-hop",
    )


def _wikidata(row: Row, reading: Reading) -> Question:
    relation = text(row, "relation")
    if relation[0] not in "PR":
        raise BadRowError(f"relation: is {relation!r}, not P... or R...")
    answer = text(row, "answer")
    return Question(
        id=numbered(reading),
        text=text(row, "question"),
        answers=(Answer(names=(answer,), id=answer),),
        topics=(Entity(id=text(row, "topic")),),
        relations=(relation if relation[0] == "P" else f"^P{relation[1:]}",),
        kind="1-hop",
    )


SIMPLEQUESTIONS = Dataset(
    name="simplequestions",
    title="SimpleQuestions",
    graph="Freebase",
    questions=108_442,
    licence="CC BY 3.0",
    home=_HOME,
    used_by="Search-on-Graph",
    rows=either(json_lines, tab_separated(*_COLUMNS), (".jsonl",)),
    question=_freebase,
    files=(
        File(
            "valid",
            f"{_FILES}/SimpleQuestions_v2/annotated_fb_data_valid.txt",
            "056c1a14b7fb801f64f787d7d038771c04aa79f3a0b6939ac22e93b5206049a9",
        ),
        File(
            "test",
            f"{_FILES}/SimpleQuestions_v2/annotated_fb_data_test.txt",
            "df7fcb6ad6b253e8e69003779dc870c0fffd083afa287af1d0a5450373f03547",
        ),
    ),
    by_hand="The training questions are in SimpleQuestions_v2.tgz, which the page of the paper links.",
)

SIMPLEQUESTIONS_WIKIDATA = Dataset(
    name="simplequestions-wikidata",
    title="SimpleQuestions for Wikidata",
    graph="Wikidata",
    questions=49_202,
    licence="CC BY 3.0",
    home=_HOME,
    used_by="-",
    rows=tab_separated(*_COLUMNS),
    question=_wikidata,
    files=(
        File(
            "train",
            f"{_FILES}/annotated_wd_data_train.txt",
            "3a4f9f8d710deaa1777dc2b7c5fb4582136fe54b7b9e2b347c6fd91bf993d3f3",
        ),
        File(
            "valid",
            f"{_FILES}/annotated_wd_data_valid.txt",
            "38ba7ebcefbf7ec1712c52d2ace6c6b66f25fbfe86e2444aaedcfa05b8f22a05",
        ),
        File(
            "test",
            f"{_FILES}/annotated_wd_data_test.txt",
            "61f3ebfce22390238aca34dee0788ccc70d66a16c8378a0193a4acb5e9f65e17",
        ),
    ),
)
