"""Each published form is read as questions. The excerpts are written by hand in that form, with other content."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.client import BareClient, load_command, server_command
from kgnav_bench.datasets.commands import NAMES
from kgnav_bench.datasets.registry import DATASETS
from kgnav_bench.records import Answer, AnswerKind, Entity, Question, read_records
from tests.datasets import dataset
from tests.sampling import sampled

WEBQSP: dict[str, Any] = {
    "Version": "1.0",
    "FreebaseVersion": "2015-08-09",
    "Questions": [
        {
            "QuestionId": "WebQTest-0",
            "RawQuestion": "Who wrote the Dune books?",
            "ProcessedQuestion": "who wrote the dune books",
            "Parses": [
                {
                    "ParseId": "WebQTest-0.P0",
                    "AnnotatorComment": {"ParseQuality": "Complete", "QuestionQuality": "Good"},
                    "Sparql": "SELECT ?x WHERE { ns:m.01 ns:book.author ?x }",
                    "PotentialTopicEntityMention": "dune",
                    "TopicEntityName": "Dune",
                    "TopicEntityMid": "m.01",
                    "InferentialChain": ["book.written_work.author"],
                    "Constraints": [],
                    "Time": None,
                    "Order": None,
                    "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.02", "EntityName": "Frank Herbert"}],
                },
                {
                    "ParseId": "WebQTest-0.P1",
                    "TopicEntityMid": "m.01",
                    "TopicEntityName": "Dune",
                    "InferentialChain": None,
                    "Answers": [
                        {"AnswerType": "Entity", "AnswerArgument": "m.02", "EntityName": "Frank Herbert"},
                        {"AnswerType": "Value", "AnswerArgument": "1965-08-01", "EntityName": None},
                    ],
                },
            ],
        }
    ],
}
CWQ: list[dict[str, Any]] = [
    {
        "ID": "WebQTest-0_ab",
        "webqsp_ID": "WebQTest-0",
        "question": "Which writer of Dune was born in Tacoma?",
        "sparql": "SELECT ?x WHERE { }",
        "compositionality_type": "conjunction",
        "answers": [
            {"answer_id": "m.02", "answer": "Frank Herbert", "aliases": ["Franklin Patrick Herbert"]},
            {"answer_id": "1965", "answer": None, "aliases": []},
        ],
    },
    {"ID": "WebQTest-1_cd", "question": "A question of the hidden test?", "compositionality_type": "composition"},
]
GRAILQA: list[dict[str, Any]] = [
    {
        "qid": 2100263,
        "question": "how many novels did frank herbert write?",
        "answer": [{"answer_type": "Value", "answer_argument": "27"}],
        "function": "count",
        "graph_query": {
            "nodes": [
                {"nid": 0, "node_type": "class", "id": "book.book", "friendly_name": "Book", "question_node": 1},
                {"nid": 1, "node_type": "entity", "id": "m.02", "friendly_name": "Frank Herbert"},
            ],
            "edges": [],
        },
        "sparql_query": "SELECT (COUNT(?x) AS ?n) WHERE { }",
        "level": "zero-shot",
        "s_expression": "(COUNT ...)",
    },
    {
        "qid": 2100264,
        "question": "who wrote dune?",
        "answer": [{"answer_type": "Entity", "answer_argument": "m.02", "entity_name": "Frank Herbert"}],
        "graph_query": {"nodes": [], "edges": []},
        "level": "i.i.d.",
    },
]
QALD: dict[str, Any] = {
    "dataset": {"id": "qald-x"},
    "questions": [
        {
            "id": "7",
            "answertype": "resource",
            "question": [
                {"language": "de", "string": "Wer schrieb Der Wüstenplanet?", "keywords": "Dune"},
                {"language": "en", "string": "Who wrote Dune?", "keywords": "Dune, write"},
                {"language": "en", "string": "By whom is Dune?"},
            ],
            "query": {"sparql": "SELECT ?uri WHERE { }"},
            "answers": [
                {
                    "head": {"vars": ["uri"]},
                    "results": {
                        "bindings": [
                            {"uri": {"type": "uri", "value": "http://dbpedia.org/resource/Frank_Herbert"}},
                            {"uri": {"type": "uri", "value": "http://www.wikidata.org/entity/Q7934"}},
                            {"uri": {"type": "literal", "value": "1965"}},
                        ]
                    },
                }
            ],
        },
        {
            "id": 8,
            "question": [{"language": "en", "string": "Is Dune a planet?"}],
            "query": {"sparql": "ASK { }"},
            "answers": [{"head": {}, "boolean": False}],
        },
        {
            "id": 9,
            "question": [{"language": "en", "string": "Who filmed it in 1950?"}],
            "query": {"sparql": "SELECT ?x WHERE { }"},
            "answers": [{"head": {"vars": ["x"]}, "results": {"bindings": []}}],
        },
    ],
}
COLOTA: list[dict[str, Any]] = [
    {
        "id": "S1",
        "query": "Could Dune's writer have read Neuromancer?",
        "answer": True,
        "kg_entities": {"Dune": "Q190192", "Neuromancer": "Q662029"},
        "kg_triples": ["(Dune, author, Frank Herbert)"],
        "inference_rule": "...",
        "reasoning_strategy": ["temporal"],
        "reasoning_steps": [],
    },
    {"id": "C1", "query": "Dune is a comedy.", "answer": False, "kg_entities": {"Dune": "Q190192"}},
]

HERBERT = Answer(names=("Frank Herbert",), id="m.02")
DUNE = Entity(id="m.01", name="Dune")


def read(path: Path, name: str, *arguments: str) -> list[Question]:
    result = command(path, name, *arguments)
    assert result.exit_code == 0, result.output
    return list(read_records(path.with_name("out.jsonl"), Question))


def command(path: Path, name: str, *arguments: str) -> Result:
    output = str(path.with_name("out.jsonl"))
    return CliRunner().invoke(main, ["dataset", "read", name, str(path), "-o", output, *arguments])


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_the_names_in_the_help_are_those_of_the_registry():
    assert tuple(DATASETS) == NAMES


def test_simpleqa(tmp_path: Path):
    rows = "metadata,problem,answer\n\"{'topic': 'Art', 'urls': ['u']}\",\"Who painted \"\"Noon, at sea\"\"?\",Ann Li\n"
    assert read(written(tmp_path, "s.csv", rows), "simpleqa") == [
        Question(
            id="2",
            text='Who painted "Noon, at sea"?',
            answers=(Answer(names=("Ann Li",)),),
            kind="Art",
            answer_kind=AnswerKind.TEXT,
            dataset="simpleqa",
        )
    ]


def test_simplequestions(tmp_path: Path):
    line = "www.freebase.com/m/01\twww.freebase.com/book/written_work/author\twww.freebase.com/m/02\twho wrote dune?\n"
    assert read(written(tmp_path, "q.txt", line), "simplequestions", "--split", "test") == [
        Question(
            id="1",
            text="who wrote dune?",
            answers=(Answer(names=("m.02",), id="m.02"),),
            topics=(Entity(id="m.01"),),
            relations=("book.written_work.author",),
            kind="1-hop",
            dataset="simplequestions",
            split="test",
        )
    ]


def test_simplequestions_for_wikidata_follows_r_backwards(tmp_path: Path):
    lines = "Q190192\tP50\tQ7934\twho wrote dune?\nQ7934\tR50\tQ190192\twhat did frank herbert write?\n"
    questions = read(written(tmp_path, "q.txt", lines), "simplequestions-wikidata")
    assert [(each.topics[0].id, each.relations, each.answers[0].id) for each in questions] == [
        ("Q190192", ("P50",), "Q7934"),
        ("Q7934", ("^P50",), "Q190192"),
    ]


def test_webqsp_has_the_answers_of_all_parses(tmp_path: Path):
    assert read(written(tmp_path, "w.json", WEBQSP), "webqsp") == [
        Question(
            id="WebQTest-0",
            text="who wrote the dune books",
            answers=(HERBERT, Answer(names=("1965-08-01",))),
            topics=(DUNE,),
            relations=("book.written_work.author",),
            query="SELECT ?x WHERE { ns:m.01 ns:book.author ?x }",
            kind="1-hop",
            dataset="webqsp",
        )
    ]


def test_cwq_keeps_aliases_and_questions_without_answers(tmp_path: Path):
    first, second = read(written(tmp_path, "c.json", CWQ), "cwq")
    names = ("Frank Herbert", "Franklin Patrick Herbert")
    assert first.answers == (Answer(names=names, id="m.02"), Answer(names=("1965",)))
    assert (first.kind, first.query) == ("conjunction", "SELECT ?x WHERE { }")
    assert (second.id, second.answers) == ("WebQTest-1_cd", ())
    assert "1 have no answer" in command(tmp_path / "c.json", "cwq").output


def test_grailqa(tmp_path: Path):
    first, second = read(written(tmp_path, "g.json", GRAILQA), "grailqa")
    assert (first.id, first.answers, first.kind) == ("2100263", (Answer(names=("27",)),), "zero-shot")
    assert first.topics == (Entity(id="m.02", name="Frank Herbert"),)
    assert (second.answers, second.topics) == ((HERBERT,), ())


@pytest.mark.parametrize("name", ["qald-9", "qald-9-plus", "qald-10"])
def test_qald_has_entities_values_booleans_and_empty_results(tmp_path: Path, name: str):
    first, second, third = read(written(tmp_path, "q.json", QALD), name)
    assert (first.id, first.text, first.kind) == ("7", "Who wrote Dune?", "resource")
    assert first.answers == (
        Answer(names=("Frank Herbert",), id="http://dbpedia.org/resource/Frank_Herbert"),
        Answer(names=("Q7934",), id="Q7934"),
        Answer(names=("1965",)),
    )
    assert (second.answers, second.answer_kind) == ((Answer(names=("False",)),), AnswerKind.BOOLEAN)
    assert third.answers == ()


def test_qald_in_another_language_names_the_questions_that_lack_it(tmp_path: Path):
    result = command(written(tmp_path, "q.json", QALD), "qald-9", "--language", "de")
    assert "2 rows" in result.output
    assert "item 2: question: has no language 'de', but en" in result.output
    (question,) = read(tmp_path / "q.json", "qald-9", "--language", "de", "--skip-bad")
    assert question.text == "Wer schrieb Der Wüstenplanet?"


def test_colota(tmp_path: Path):
    first, second = read(written(tmp_path, "c.json", COLOTA), "colota")
    assert first.topics == (Entity(id="Q190192", name="Dune"), Entity(id="Q662029", name="Neuromancer"))
    assert (first.kind, first.answers, first.answer_kind) == (
        "question",
        (Answer(names=("True",)),),
        AnswerKind.BOOLEAN,
    )
    assert (second.kind, second.answers) == ("claim", (Answer(names=("False",)),))


def test_grbench(tmp_path: Path):
    (tmp_path / "dblp").mkdir()
    lines = '{"qid": "0", "question": "Who wrote paper X?", "answer": "Ann Li, Bo Ek"}\n'
    (question,) = read(written(tmp_path / "dblp", "data.json", lines), "grbench")
    assert (question.id, question.kind, question.answer_kind) == ("dblp-0", "dblp", AnswerKind.TEXT)
    assert question.answers == (Answer(names=("Ann Li, Bo Ek",)),)


def test_metaqa_as_published(tmp_path: Path):
    (tmp_path / "2-hop").mkdir()
    lines = "what did the director of [Dune] film\tBlue Velvet|Eraserhead\n"
    assert read(written(tmp_path / "2-hop", "qa_test.txt", lines), "metaqa") == [
        Question(
            id="2-hop-1",
            text="what did the director of Dune film",
            answers=(Answer(names=("Blue Velvet",), id="Blue Velvet"), Answer(names=("Eraserhead",), id="Eraserhead")),
            topics=(Entity(id="Dune", name="Dune"),),
            kind="2-hop",
            dataset="metaqa",
        )
    ]


@pytest.mark.parametrize(
    ("name", "file", "content", "message"),
    [
        ("colota", "c.json", [*COLOTA, {"id": "S2", "query": "?", "answer": "yes"}], "item 3: kg_entities: is missing"),
        ("cwq", "c.json", [{"ID": "x"}], "item 1: question: is missing, not a text"),
        ("simplequestions", "q.txt", "a\tb\n", "line 1: topic: is missing"),
        ("metaqa", "q.txt", "no topic\tx\n", r"line 1: question: has no \[topic\]"),
        ("simplequestions-wikidata", "q.txt", "Q1\tX5\tQ2\twhat\n", "line 1: relation: is 'X5', not P... or R..."),
        ("webqsp", "w.json", {"Version": "1.0"}, "has no list 'Questions'"),
        ("cwq", "c.json", "{", "is not JSON"),
        ("grbench", "data.json", "{\n", "line 1 of .* is not JSON"),
        ("grailqa", "g.json", [], "has no questions of grailqa"),
    ],
)
def test_what_is_not_a_question_is_named_and_nothing_is_written(
    tmp_path: Path, name: str, file: str, content: object, message: str
):
    result = command(written(tmp_path, file, content), name)
    assert result.exit_code == 1
    assert not (tmp_path / "out.jsonl").exists()
    assert re.search(message, result.output), result.output


def test_bad_rows_are_left_out_and_counted_if_wanted(tmp_path: Path):
    rows = [*COLOTA, {"id": "S2", "query": "?", "answer": "yes", "kg_entities": {"Dune": "Q190192"}}]
    result = command(written(tmp_path, "c.json", rows), "colota", "--skip-bad")
    assert "2 questions" in result.output
    assert "1 rows were skipped" in result.output


def test_two_questions_of_one_id_are_told_apart(tmp_path: Path):
    result = command(written(tmp_path, "c.json", [COLOTA[0], COLOTA[0]]), "colota")
    assert "1 had the id of another question" in result.output
    ids = [each.id for each in read_records(tmp_path / "out.jsonl", Question)]
    assert ids == ["S1", "S1#2"]


def test_a_compressed_file_is_read(tmp_path: Path):
    path = tmp_path / "c.json.gz"
    path.write_bytes(gzip.compress(json.dumps(COLOTA).encode()))
    assert len(read(path, "colota")) == 2
    path.write_bytes(path.read_bytes()[:-9])
    assert "cannot be read" in command(path, "colota").output


def test_an_archive_is_to_be_unpacked_first(tmp_path: Path):
    path = written(tmp_path, "WebQSP.zip", "x")
    assert f"is an archive. Unpack it (unzip {path})" in command(path, "webqsp").output


@pytest.mark.slow
def test_the_graph_of_metaqa_loads_as_its_note_says(tmp_path: Path):
    kb = written(tmp_path, "kb.txt", "Noon at Sea|directed_by|Ann Li\nNoon at Sea|release_year|1965\n")
    note = re.search(r"kgnav load kb.txt (.*?) -o", DATASETS["metaqa"].by_hand)
    assert note is not None
    subprocess.run([*load_command([kb], tmp_path / "g.kg"), *note[1].split()], check=True)
    with BareClient(server_command(tmp_path / "g.kg")) as client:
        counted = client.call("run_plan", {"plan": "MATCH (a)-[r:directed_by]->(b) RETURN a.name, b.name"})
    assert counted.splitlines()[-1] == "Noon at Sea|Ann Li"


@pytest.mark.parametrize("hops", sampled([1, 2, 3], 3))
def test_the_real_metaqa_is_read_whole(tmp_path: Path, hops: int):
    source = dataset("metaqa") / f"{hops}hop.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        rows: list[Mapping[str, list[str]]] = [json.loads(line) for line in lines]
    output = tmp_path / "out.jsonl"
    CliRunner().invoke(main, ["dataset", "read", "metaqa", str(source), "-o", str(output)], catch_exceptions=False)
    questions = list(read_records(output, Question))
    assert [each.text for each in questions] == [row["question"] for row in rows]
    assert [{answer.id for answer in each.answers} for each in questions] == [set(row["answers"]) for row in rows]
    assert {each.kind for each in questions} == {f"{hops}-hop"}


def test_the_real_simplequestions_are_read_whole(tmp_path: Path):
    source = dataset("fb15k237") / "simplequestions.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        rows: list[Mapping[str, str]] = [json.loads(line) for line in lines]
    output = tmp_path / "out.jsonl"
    arguments = ["dataset", "read", "simplequestions", str(source), "-o", str(output)]
    CliRunner().invoke(main, arguments, catch_exceptions=False)
    questions = list(read_records(output, Question))
    assert [each.answers[0].names[0] for each in questions] == [row["answer_name"] for row in rows]
    assert [f"/{each.topics[0].id.replace('.', '/')}" for each in questions] == [row["topic"] for row in rows]


def test_the_real_questions_on_wikidata_are_read_whole(tmp_path: Path):
    source = dataset("wikidata") / "questions.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        rows: list[Mapping[str, Any]] = [json.loads(line) for line in lines]
    output = tmp_path / "out.jsonl"
    result = CliRunner().invoke(main, ["dataset", "read", "wd50k", str(source), "-o", str(output)])
    assert f"{len(rows):,} questions with {sum(len(set(row['answers'])) for row in rows):,} answers" in result.output
    questions = list(read_records(output, Question))
    assert [(each.text, each.query, each.kind) for each in questions] == [
        (row["question"], row["sparql"], row["source"]) for row in rows
    ]
    assert [[answer.names[0] for answer in each.answers] for each in questions] == [row["answers"] for row in rows]
    assert all((answer.id is None) == answer.names[0].isdigit() for each in questions for answer in each.answers)


def test_the_example_of_ones_own_questions_is_read(tmp_path: Path):
    readme = (Path(__file__).parents[2] / "bench" / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Bring your own questions")[2].partition("\n## ")[0]
    example = section.partition("```json\n")[2].partition("```")[0]
    questions = list(read_records(written(tmp_path, "q.jsonl", example), Question))
    assert len(questions) == 5
    fields = {line.split("`")[1] for line in section.splitlines() if line.startswith("| `")}
    assert fields | {"split"} == set(Question.model_fields)
