"""GrailQA 1.0: questions over Freebase at three levels of generalization (Gu et al., 2021)."""

from __future__ import annotations

from kgnav_bench.datasets.dataset import Dataset, Reading
from kgnav_bench.datasets.freebase_ids import freebase_id
from kgnav_bench.datasets.rows import Row, inner, items, json_list, optional_text, text
from kgnav_bench.records import Answer, Entity, Question


def _question(row: Row, _: Reading) -> Question:
    nodes = items(inner(row, "graph_query"), "nodes") if row.get("graph_query") is not None else ()
    return Question(
        id=text(row, "qid"),
        text=text(row, "question"),
        answers=tuple(map(_answer, items(row, "answer", optional=True))),
        topics=tuple(
            Entity(id=freebase_id(text(node, "id")), name=optional_text(node, "friendly_name"))
            for node in nodes
            if optional_text(node, "node_type") == "entity"
        ),
        kind=optional_text(row, "level"),
        query=optional_text(row, "sparql_query") or None,
    )


def _answer(answer: Row) -> Answer:
    argument = text(answer, "answer_argument")
    if optional_text(answer, "answer_type") == "Entity":
        mid = freebase_id(argument)
        return Answer(names=(optional_text(answer, "entity_name") or mid,), id=mid)
    return Answer(names=(argument,))


GRAILQA = Dataset(
    name="grailqa",
    title="GrailQA",
    graph="Freebase",
    questions=64_331,
    licence="CC BY-SA 4.0",
    home="https://dki-lab.github.io/GrailQA/",
    used_by="Search-on-Graph, GraphWalker",
    rows=json_list(),
    question=_question,
    by_hand="The page links an archive with grailqa_v1.0_train.json, _dev.json and _test_public.json (no answers).",
)
