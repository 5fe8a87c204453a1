from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.sources import LONGEST_LINE
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded, write

TRIPLE = b"<http://x/a> <http://x/p> <http://x/%d> .\n"
NODES = b":ID,:LABEL,year:int,score:float,ok:boolean\n"
EDGES = b":START_ID,:END_ID,:TYPE\n"

BAD_LINES: list[tuple[str, bytes, int, str]] = [
    ("g.nt", TRIPLE % 1 + b"<http://x/a> <http://x/p> nonsense .\n" + TRIPLE % 2, 2, "object"),
    ("g.nt", TRIPLE % 1 + TRIPLE % 2 + b'<http://x/a> <http://x/p> "\xff" .\n', 3, "UTF-8"),
    ("g.nt.gz", gzip.compress(TRIPLE % 1 + b'<http://x/a> <http://x/p> "open .\n' + TRIPLE % 2, mtime=0), 2, ""),
    ("g.nq", TRIPLE % 1 + b"\n# comment\n<http://x/a> .\n" + TRIPLE % 2, 4, "predicate"),
    ("g.tsv", b"a\tp\tb\na\tp\n" + b"c\tp\td\n", 2, "found 2"),
    ("g.tsv", b"a\tp\tb\n\na\tp\tb\tc\n", 3, "found 4"),
    ("g.tsv", b"a\tp\tb\na\t\tb\n", 2, "empty"),
    ("g.tsv", b"a\tp\tb\na\tp\t\xff\n", 2, "UTF-8"),
    ("n.csv", NODES + b"1,,,,\n2,,abc,,\n", 3, "year is 'abc', which is not an integer"),
    ("n.csv", NODES + b"1,,,,\n2,,,1.2.3,\n", 3, "score is '1.2.3', which is not a number"),
    ("n.csv", NODES + b"1,,,,\n2,,,,maybe\n", 3, "neither true nor false"),
    ("n.csv", NODES + b"1,,,,\n,Film,,,\n", 3, "column :ID is empty"),
    ("n.csv", NODES + b"1,,,,\n2,Film\n", 3, "expected 5 fields, found 2"),
    ("n.csv", NODES + b"1,,,,\n1,,,,\n", 3, "'1' already belongs to another node"),
    ("n.csv", NODES + b"1,,,,\n2,\xff,,,\n", 3, "UTF-8"),
    ("n.csv", NODES + b'1,,,,\n2,"open,,,\n', 3, "CSV"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n{"type":"node"\n', 2, "not a JSON object"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n[]\n', 2, "not a JSON object"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n{"type":"node"}\n', 2, "id is missing"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n{"type":"node","id":"2","properties":{"a":"\\ud800"}}\n', 2, "surrogate"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n{"type":"node","id":"2","properties":7}\n', 2, "not a JSON object"),
    ("a.jsonl", b'{"type":"node","id":"1"}\n{"type":"relationship","start":{"id":"1"},"end":{"id":"1"}}\n', 2, "label"),
    (
        "a.jsonl",
        b'{"type":"node","id":"1"}\n{"type":"relationship","label":"T","start":{"id":"1"},"end":{"id":"9"}}\n',
        2,
        "no node has the id '9'",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "line", "reason"), BAD_LINES)
def test_a_bad_line_is_fatal_with_its_place_and_the_way_to_skip_it(
    tmp_path: Path, name: str, content: bytes, line: int, reason: str
) -> None:
    source = tmp_path / name
    source.write_bytes(content)
    with pytest.raises(BadLine) as caught:
        load([source], tmp_path / "g.kg")
    assert (caught.value.source, caught.value.line) == (name, line)
    assert reason in caught.value.reason
    assert "--skip-bad" in caught.value.next_step
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("name", "content", "line", "reason"), BAD_LINES)
def test_a_skipped_bad_line_is_counted_and_the_others_are_loaded(
    tmp_path: Path, name: str, content: bytes, line: int, reason: str
) -> None:
    source = tmp_path / name
    source.write_bytes(content)
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert report.bad_lines == 1
    assert [(bad.source, bad.line) for bad in report.first_bad_lines] == [(name, line)]
    assert reason in report.first_bad_lines[0].reason
    assert report.entities >= 1


@pytest.mark.slow
def test_good_lines_around_bad_ones_all_arrive(tmp_path: Path) -> None:
    lines = [b"nonsense\n" if n % 1000 == 999 else TRIPLE % n for n in range(50_000)]
    source = tmp_path / "g.nt"
    source.write_bytes(b"".join(lines))
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.triples, report.bad_lines) == (49_950, 50)
    assert len(report.first_bad_lines) == 20
    assert [bad.line for bad in report.first_bad_lines[:3]] == [1000, 2000, 3000]


def test_an_edge_to_an_id_that_no_node_file_has_is_a_bad_line_whatever_the_order_of_files(tmp_path: Path) -> None:
    edges = write(tmp_path, "e.csv", EDGES + b"1,2,KNOWS\n1,3,KNOWS\n4,1,KNOWS\n")
    nodes = write(tmp_path, "n.csv", ":ID\n1\n2\n")
    for sources in ([edges, nodes], [nodes, edges]):
        with pytest.raises(BadLine, match=r"e\.csv:3: no node has the id '3'"):
            load(sources, tmp_path / "g.kg")
        report = load(sources, tmp_path / "g.kg", LoadOptions(skip_bad=True))
        assert [bad.message for bad in report.first_bad_lines] == [
            "e.csv:3: no node has the id '3'",
            "e.csv:4: no node has the id '4'",
        ]
        graph = Loaded(tmp_path / "g.kg", report)
        assert graph.edges() == [("1", "KNOWS", "2")]
        assert set(graph.nodes()) == {"1", "2"}


def test_an_edge_without_a_type_is_a_bad_line(tmp_path: Path) -> None:
    sources = [write(tmp_path, "n.csv", ":ID\n1\n"), write(tmp_path, "e.csv", EDGES + b"1,1,\n")]
    with pytest.raises(BadLine, match=r"e\.csv:2: the relationship has no type"):
        load(sources, tmp_path / "g.kg")


def test_a_bad_line_in_a_file_of_names_is_one(tmp_path: Path) -> None:
    names = write(tmp_path, "names.tsv", "a\tA\nb\n")
    with pytest.raises(BadLine, match=r"names\.tsv:2: two columns"):
        load([write(tmp_path, "g.tsv", "a\tp\tb\n")], tmp_path / "g.kg", LoadOptions(labels=(names,)))


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_syntax_error_in_turtle_cannot_be_skipped_and_says_so(tmp_path: Path, *, skip_bad: bool) -> None:
    source = write(tmp_path, "g.ttl", "@prefix : <http://x/> .\n:a :p :b .\n:a :p ;; ] .\n:c :p :d .\n")
    with pytest.raises(BadLine) as caught:
        load([source], tmp_path / "g.kg", LoadOptions(skip_bad=skip_bad))
    assert caught.value.line == 3
    assert "N-Triples" in caught.value.next_step


@pytest.mark.parametrize(("name", "text"), [("g.rdf", "<rdf"), ("g.jsonld", '{"@id": ')])
def test_broken_xml_and_json_are_refused_with_the_file_named(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(LoadError, match=name):
        load([write(tmp_path, name, text)], tmp_path / "g.kg")


@pytest.mark.parametrize("cut", [1, 9, 200])
def test_a_gzip_file_that_is_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(b"".join(TRIPLE % (n * 7919 % 9973) for n in range(5000)))
    source = write(tmp_path, "g", whole[:-cut]).rename(tmp_path / "g.nt.gz")
    for skip_bad in (False, True):
        with pytest.raises(LoadError, match=r"g.nt.gz is cut short"):
            load([source], tmp_path / "g.kg", LoadOptions(skip_bad=skip_bad))


def test_a_file_that_only_calls_itself_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.nt.gz").write_bytes(TRIPLE % 1)
    with pytest.raises(LoadError, match="a damaged gzip file"):
        load([tmp_path / "g.nt.gz"], tmp_path / "g.kg")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (":ID,:START_ID", "neither that of a node file"),
        (":START_ID,:TYPE", "neither that of a node file"),
        (":ID,year:integer", "year:integer"),
        (":ID,,name", "column 2"),
        ("id,name", "is a table of nodes"),
        ("idea,name", "has no known names of columns"),
        (':ID,"name', "invalid CSV"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path: Path, header: str, reason: str) -> None:
    with pytest.raises(LoadError, match=reason) as caught:
        load([write(tmp_path, "n.csv", f"{header}\n1,2,3\n")], tmp_path / "g.kg")
    assert caught.value.next_step


def test_sources_that_are_none_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder.nt").mkdir()
    write(tmp_path, "empty.nt", "")
    write(tmp_path, "blank.tsv", "\n \n")
    write(tmp_path, "comment.nt", "# nothing\n")
    write(tmp_path, "g.docx", "x")
    os.mkfifo(tmp_path / "pipe.nt")
    good = write(tmp_path, "good.nt", TRIPLE % 1)
    reasons = {
        "folder.nt": "is a folder",
        "pipe.nt": "is not a regular file",
        "missing.nt": "does not exist",
        "empty.nt": "is empty",
        "blank.tsv": "is empty",
        "comment.nt": "the sources have no triples",
        "g.docx": "the suffix is",
    }
    before = set(tmp_path.iterdir())
    for name, reason in reasons.items():
        with pytest.raises(LoadError, match=reason) as caught:
            load([tmp_path / name], tmp_path / "g.kg")
        assert caught.value.next_step
    with pytest.raises(LoadError, match="not a known format"):
        load([good], tmp_path / "g.kg", LoadOptions(source_format="docx"))
    with pytest.raises(LoadError, match="no source"):
        load([], tmp_path / "g.kg")
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["g.nt", "g.nq", "g.tsv", "g.nt.gz"])
def test_a_file_without_line_ends_does_not_fill_the_memory(tmp_path: Path, name: str) -> None:
    content = (b"a\tp\tb\n" if name == "g.tsv" else TRIPLE % 1) + b"x" * (LONGEST_LINE + 2**21)
    (tmp_path / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    with pytest.raises(LoadError, match="a line of more than 64 MB") as caught:
        load([tmp_path / name], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert caught.value.next_step
    assert not (tmp_path / "g.kg").exists()
