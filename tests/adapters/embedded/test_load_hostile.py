"""Sources that would fill the memory or nest without end are refused by a sentence with their line."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load, queries, rdf_parser, staging_writer, writer
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.hostile import HOSTILE
from tests.adapters.embedded.loaded import loaded, write
from tests.sampling import sampled_rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_too_long_too_deep_or_not_in_the_file_is_refused_with_its_line(tmp_path: Path, kind: str) -> None:
    name, content, line, reason = HOSTILE[kind]
    with pytest.raises(BadLine) as caught:
        load([write(tmp_path, name, content())], tmp_path / "g.kg")
    assert reason in caught.value.reason
    assert caught.value.line == line or line is None
    assert caught.value.message.startswith(f"{name}:")
    assert caught.value.next_step


LOAD_ALL = """
import resource, sys
from pathlib import Path
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import LoadError
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for name in sys.argv[2:]:
    try:
        load([Path(name)], Path(sys.argv[1]))
        print("loaded", name)
    except LoadError as error:
        print(error.message)
"""


@pytest.mark.slow
def test_hostile_sources_end_with_a_sentence_in_a_gigabyte_and_never_with_the_process(tmp_path: Path) -> None:
    names: list[str] = []
    for place, (name, content, _, _) in enumerate(HOSTILE.values()):
        (tmp_path / str(place)).mkdir()
        names.append(str(write(tmp_path / str(place), name, content())))
    command = [sys.executable, "-c", LOAD_ALL, str(tmp_path / "g.kg"), *names]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    for name, said in zip(names, ended.stdout.splitlines(), strict=True):
        assert said.startswith(f"{Path(name).name}:"), said


TEXT, TEXTS = "x" * 100_000, 60
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "g.nt": lambda n: f'<http://x/{n}> <{LABEL}> "{n}{TEXT}" .\n',
    "g.nq": lambda n: f'<http://x/{n}> <{LABEL}> "{n}{TEXT}" .\n',
    "g.ttl": lambda n: f'<http://x/{n}> <{LABEL}> "{n}{TEXT}" .\n',
    "g.csv": lambda n: f"{n},{n}{TEXT}\n" if n else ":ID,name\n",
    "g.jsonl": lambda n: json.dumps({"type": "node", "id": str(n), "properties": {"name": f"{n}{TEXT}"}}) + "\n",
    "g.tsv": lambda n: f"a\tp\t{n}{TEXT}\n",
}
"""Sources of long texts, line by line."""
LONG_IDS: dict[str, Callable[[int], str]] = {
    "g.nt": lambda n: f"<http://x/a> <http://x/p> <http://x/{n}{TEXT}> .\n",
    "g.nq": lambda n: f"<http://x/a> <http://x/p> <http://x/{n}{TEXT}> <http://x/g> .\n",
    "g.ttl": lambda n: f"<http://x/{n}{TEXT}> <http://x/p> <http://x/a> .\n",
    "g.csv": lambda n: f"{n}{TEXT},a\n" if n else ":ID,name\n",
    "g.jsonl": lambda n: json.dumps({"type": "node", "id": f"{n}{TEXT}"}) + "\n",
    "g.tsv": lambda n: f"{n}{TEXT}\tp\ta\n",
}
"""The same with long ids."""


@pytest.mark.parametrize(
    ("name", "line"),
    sampled_rows([*LONG_TEXTS.items(), *LONG_IDS.items()], 2),
    ids=[*LONG_TEXTS, *(f"ids in {name}" for name in LONG_IDS)],
)
def test_long_texts_in_memory_at_once_stay_within_their_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: Callable[[int], str]
) -> None:
    batch_sizes: list[int] = []
    insert = queries.insert

    def measured(connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]) -> None:
        batch_sizes.append(sum(len(value) for row in rows for value in row if isinstance(value, str)))
        insert(connection, into, rows)

    monkeypatch.setattr(queries, "BATCH_TEXT", 10 * len(TEXT))
    monkeypatch.setattr(queries, "insert", measured)
    monkeypatch.setattr(rdf_parser, "WINDOW_TEXT", 10 * len(TEXT))
    loaded(tmp_path, {name: "".join(map(line, range(TEXTS)))})
    assert sum(batch_sizes) > (TEXTS - 1) * len(TEXT)
    assert max(batch_sizes) < 25 * len(TEXT)


def test_of_long_ids_the_parser_remembers_no_more_than_has_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf_parser, "WINDOW_TEXT", 10 * len(TEXT))
    encoder = rdf_parser.Encoder(0)
    sizes = [len(batch.nodes) for batch in _batches_of_long_ids(encoder)]
    assert sum(sizes) >= TEXTS
    assert max(sizes) < 7


def _batches_of_long_ids(encoder: rdf_parser.Encoder) -> Iterator[rdf_parser.Batch]:
    nodes = (ox.NamedNode(f"http://x/{number}{TEXT}") for number in range(TEXTS))
    quads = (ox.Quad(node, ox.NamedNode("http://x/p"), ox.NamedNode("http://x/a")) for node in nodes)
    restarts = 0
    while (batch := encoder.encode(quads, 0, 5 * len(TEXT))).heads:
        restarts += batch.restart
        yield batch
    assert restarts > TEXTS // 20


@pytest.mark.parametrize("name", ["g.ttl", "g.csv", "g.jsonl", "g.tsv"])
def test_relations_with_too_much_text_in_all_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(staging_writer, "NAMES_BUDGET", 1_000)
    relations = [f"p{number}" for number in range(300)]
    sources = {
        "g.ttl": "".join(f":a :{relation} :b ." for relation in relations),
        "g.csv": f"source,target,{','.join(relations)}\na,b,{','.join(relations)}\n",
        "g.jsonl": json.dumps({"type": "node", "id": "a", "properties": dict.fromkeys(relations, 1)}),
        "g.tsv": "".join(f"a\t{relation}\tb\n" for relation in relations),
    }
    with pytest.raises(LoadError, match="have more than 1,000 characters in all"):
        loaded(tmp_path, {name: sources[name]})


def test_long_texts_are_a_set_as_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = {
        "g.ttl": "".join(f':a :p "{text}" .' for text in ("bb", "long 1", "long 2", "long 1", "aa")),
        "h.jsonl": NODE,
    }
    monkeypatch.setattr(writer, "LONG_TEXT", 3)
    graph = loaded(tmp_path, source)
    texts = [text for _, text, _, _ in graph.attributes("http://x/a")]
    assert (texts[:2], sorted(texts[2:])) == (["aa", "bb"], ["long 1", "long 2"])
    assert [text for _, text, _, _ in graph.attributes("n")] == ["long", "long", "b"]


NODE = '{"type": "node", "id": "n", "properties": {"p": ["long", "long", "b"]}}\n'


def test_a_parser_process_limits_its_own_memory() -> None:
    code = f"import resource as r, {rdf_parser.PROCESS} as p; p.limit_memory(); print(r.getrlimit(r.RLIMIT_AS)[0])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    assert int(ended.stdout) == (
        rdf_parser.PARSER_MEMORY if hard == resource.RLIM_INFINITY else min(hard, rdf_parser.PARSER_MEMORY)
    )


@pytest.mark.parametrize("name", ["g.ttl", "g.rdf"])
def test_a_refusal_in_a_process_of_its_own_arrives_as_it_was_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(rdf_parser, "LARGE", 0)
    hostile = {"g.ttl": "blank nodes", "g.rdf": "elements"}[name]
    _, content, line, reason = HOSTILE[hostile]
    with pytest.raises(BadLine) as caught:
        load([write(tmp_path, name, content())], tmp_path / "g.kg")
    assert (caught.value.source, caught.value.line) == (name, line)
    assert reason in caught.value.reason
    assert caught.value.next_step


def test_json_ld_is_parsed_in_a_process_of_its_own_unless_it_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf_parser, "PROCESS", "this")  # a module that prints text and ends
    text = '{"@id": "http://x/a", "http://x/p": 1}'
    assert loaded(tmp_path, {"g.jsonld": text}).report.triples == 1
    for name, content in (("large.jsonld", text + " " * rdf_parser.LARGE_JSON), ("g.jsonld.gz", text)):
        with pytest.raises(LoadError, match="was ended: it may take 1 GB"):
            load([write(tmp_path, name, content)], tmp_path / "g.kg")


def test_a_line_of_nested_triples_is_skipped_as_any_bad_line(tmp_path: Path) -> None:
    deep = HOSTILE["triples in triples of a line"][1]()
    good = "<http://x/a> <http://x/p> <http://x/b> .\n"
    source = write(tmp_path, "g.nt", f"{good}{deep}\n{good.replace('x/b', 'x/c')}")
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.triples, report.bad_lines) == (2, 1)
    assert report.first_bad_lines[0].line == 2
