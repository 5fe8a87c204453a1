"""QALD-9 over DBpedia, QALD-9-plus and QALD-10 over Wikidata: multilingual questions with their SPARQL."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from kgnav_bench.datasets.dataset import Dataset, File, Reading
from kgnav_bench.datasets.rows import BadRowError, Row, boolean, inner, items, json_list, optional_text, text
from kgnav_bench.records import Answer, AnswerKind, Question

_WIKIDATA = "http://www.wikidata.org/entity/"


def _question(row: Row, reading: Reading) -> Question:
    written: dict[str, str] = {}
    for each in items(row, "question"):  # QALD-9-plus has several writings in a language: the first one counts
        written.setdefault(text(each, "language"), optional_text(each, "string"))
    if not written.get(reading.language):
        raise BadRowError(f"question: has no language {reading.language!r}, but {', '.join(sorted(written))}")
    results = items(row, "answers")
    booleans = [boolean(each, "boolean") for each in results if "boolean" in each]
    answers = {answer.id or answer.names[0]: answer for each in results for answer in _answers(each)}
    return Question(
        id=text(row, "id"),
        text=written[reading.language],
        answers=tuple(Answer(names=(str(each),)) for each in booleans) or tuple(answers.values()),
        answer_kind=AnswerKind.BOOLEAN if booleans else AnswerKind.ENTITIES,
        kind=optional_text(row, "answertype"),
        query=optional_text(inner(row, "query"), "sparql") or None,
    )


def _answers(result: Row) -> Iterator[Answer]:
    """The answers of a result in SPARQL's JSON. Of several variables the first one counts."""
    if "boolean" in result or not result.get("results"):
        return
    for binding in items(inner(result, "results"), "bindings", optional=True):
        for name in binding:
            value = inner(binding, name)
            yield _answer(text(value, "type"), text(value, "value"))
            break


def _answer(kind: str, value: str) -> Answer:
    if kind != "uri":
        return Answer(names=(value,))
    if value.startswith(_WIKIDATA):
        identifier = value.removeprefix(_WIKIDATA)
        return Answer(names=(identifier,), id=identifier)
    return Answer(names=(unquote(value.rpartition("/")[2]).replace("_", " "),), id=value)


_QALD9 = "https://raw.githubusercontent.com/ag-sc/QALD/7a43e2b99a523f74377c317630f5ec55a6d8c1cf/9/data"

QALD9 = Dataset(
    name="qald-9",
    title="QALD-9",
    graph="DBpedia",
    questions=558,
    licence="MIT",
    home="https://github.com/ag-sc/QALD",
    used_by="-",
    rows=json_list("questions"),
    question=_question,
    files=(
        File(
            "train",
            f"{_QALD9}/qald-9-train-multilingual.json",
            "1f85913e6d62a0a55d52b6b70ccb3e828aeaa5e79cd888d270d2a251417bdb9c",
        ),
        File(
            "test",
            f"{_QALD9}/qald-9-test-multilingual.json",
            "ee61ebacfe14f2a9e70df2d6b1bdd5338d8616b715b628353b3934b26b7d9d78",
        ),
    ),
)

_QALD9_PLUS = "https://raw.githubusercontent.com/KGQA/QALD_9_plus/5b116c9b53cac0cc3c3c64dd211a46311499e76d/data"

QALD9_PLUS = Dataset(
    name="qald-9-plus",
    title="QALD-9-plus (QALD-9 over Wikidata)",
    graph="Wikidata",
    questions=507,
    licence="CC BY 4.0",
    home="https://github.com/KGQA/QALD_9_plus",
    used_by="Search-on-Graph, as QALD-9",
    rows=json_list("questions"),
    question=_question,
    files=(
        File("train", f"{_QALD9_PLUS}/qald_9_plus_train_wikidata.json"),
        File("test", f"{_QALD9_PLUS}/qald_9_plus_test_wikidata.json"),
    ),
)

QALD10 = Dataset(
    name="qald-10",
    title="QALD-10",
    graph="Wikidata",
    questions=394,
    licence="MIT",
    home="https://github.com/KGQA/QALD-10",
    used_by="Search-on-Graph",
    rows=json_list("questions"),
    question=_question,
    files=(
        File(
            "test",
            "https://raw.githubusercontent.com/KGQA/QALD-10/89caa86371c7a65c6c87a64e0eeaa0e247ff5fe5/data/qald_10/qald_10.json",
            "55720cbc9effb250f4b814a9c27ce5f5d61d863d5943bc8aa93773f6f761c6cc",
        ),
    ),
)
