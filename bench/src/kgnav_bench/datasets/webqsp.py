"""WebQuestionsSP: questions of search users over Freebase, with their semantic parses (Yih et al., 2016)."""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_bench.datasets.dataset import Dataset, File, Reading
from kgnav_bench.datasets.freebase_ids import freebase_id
from kgnav_bench.datasets.rows import Row, items, json_list, optional_text, text, texts
from kgnav_bench.records import Answer, Entity, Question


def _question(row: Row, _: Reading) -> Question:
    parses = items(row, "Parses")
    answers = {answer.id or answer.names[0]: answer for parse in parses for answer in _answers(parse)}
    topics = {
        freebase_id(mid): optional_text(parse, "TopicEntityName")
        for parse in parses
        if (mid := optional_text(parse, "TopicEntityMid"))
    }
    chain = texts(parses[0], "InferentialChain", optional=True) if parses else ()
    return Question(
        id=text(row, "QuestionId"),
        text=text(row, "ProcessedQuestion" if optional_text(row, "ProcessedQuestion") else "RawQuestion"),
        answers=tuple(answers.values()),
        topics=tuple(Entity(id=mid, name=name) for mid, name in topics.items()),
        relations=tuple(map(freebase_id, chain)),
        query=(optional_text(parses[0], "Sparql") or None) if parses else None,
        kind=f"{len(chain)}-hop" if chain else "",
    )


def _answers(parse: Row) -> Iterator[Answer]:
    for answer in items(parse, "Answers"):
        argument = text(answer, "AnswerArgument")
        if optional_text(answer, "AnswerType") == "Entity":
            mid = freebase_id(argument)
            yield Answer(names=(optional_text(answer, "EntityName") or mid,), id=mid)
        else:
            yield Answer(names=(argument,))


WEBQSP = Dataset(
    name="webqsp",
    title="WebQuestionsSP",
    graph="Freebase",
    questions=4737,
    licence="Microsoft Research's terms, in the archive",
    home="https://www.microsoft.com/en-us/download/details.aspx?id=52763",
    used_by="Search-on-Graph, GraphWalker",
    rows=json_list("Questions"),
    question=_question,
    files=(
        File(
            "all",
            "https://download.microsoft.com/download/F/5/0/F5012144-A4FB-4084-897F-CFDA99C60BDF/WebQSP.zip",
        ),
    ),
)
