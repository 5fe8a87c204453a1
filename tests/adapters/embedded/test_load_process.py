from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load, rdf_parser
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import loaded, write

TEXT = """
@prefix mine: <http://mine/> .
:a :knows :b {| :since 1990 |} ; :age 5 ; rdfs:label "Ay"@en, "Ah"@nl . [] :p _:x . _:x :q <<( :a :b :c )>> .
<< :a :hates 7 >> :said_by :z . :a :tall true ~ :r . :r :by :me .
"""
LINES = b"".join(b"<http://x/%d> <http://x/p> <http://x/%d> .\n" % (n, n * 7 % 100) for n in range(30_000))


@pytest.fixture
def every_source_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf_parser, "LARGE", 0)


def test_a_large_source_gives_the_same_rows_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[object, ...]] = []
    for large in (rdf_parser.LARGE, 0):
        monkeypatch.setattr(rdf_parser, "LARGE", large)
        graph = loaded(tmp_path, {"g.ttl": TEXT, "again.ttl.gz": ":b :knows _:x ."})
        nodes = graph.nodes()
        found.append(
            (graph.qualified_edges(), nodes, [(graph.attributes(key), graph.names(key)) for key in nodes],
             graph.meta("prefixes"))
        )  # fmt: skip
    assert found[0] == found[1]
    assert '"mine": "http://mine/"' in str(found[1][3])


@pytest.mark.slow
@pytest.mark.usefixtures("every_source_is_large")
def test_many_batches_arrive_whole_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "g.nt.gz").write_bytes(gzip.compress(LINES))
    report = load([tmp_path / "g.nt.gz"], tmp_path / "g.kg")
    assert (report.triples, report.entities) == (30_000, 30_000)


@pytest.mark.slow
@pytest.mark.usefixtures("every_source_is_large")
def test_a_bad_line_of_a_large_source_is_fatal_or_skipped_with_its_number(tmp_path: Path) -> None:
    source = tmp_path / "g.nt"
    source.write_bytes(LINES + b"nonsense\n" + LINES)
    with pytest.raises(BadLine) as caught:
        load([source], tmp_path / "g.kg")
    assert (caught.value.source, caught.value.line) == ("g.nt", 30_001)
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.triples, report.bad_lines) == (30_000, 1)
    assert report.first_bad_lines[0].line == 30_001


@pytest.mark.slow
@pytest.mark.usefixtures("every_source_is_large")
def test_a_large_gzip_file_that_is_cut_short_or_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut.nt.gz").write_bytes(gzip.compress(LINES)[:-9])
    whole = bytearray(gzip.compress(LINES * 10))
    whole[len(whole) // 2 :] = b"\x00" * (len(whole) - len(whole) // 2)
    (tmp_path / "torn.nt.gz").write_bytes(whole)
    for name in ("cut.nt.gz", "torn.nt.gz"):
        with pytest.raises(LoadError, match=name):
            load([tmp_path / name], tmp_path / "g.kg")


@pytest.mark.usefixtures("every_source_is_large")
def test_a_parser_process_that_ends_early_is_said_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf_parser, "PROCESS", "this")  # a module that prints text and ends
    with pytest.raises(LoadError, match=r"g\.nt was ended") as caught:
        load([write(tmp_path, "g.nt", LINES)], tmp_path / "g.kg")
    assert "memory" in caught.value.next_step
    assert [path.name for path in tmp_path.iterdir()] == ["g.nt"]


@pytest.mark.usefixtures("every_source_is_large")
def test_names_of_a_large_file_of_names_are_read(tmp_path: Path) -> None:
    labels = write(tmp_path, "names.nt", '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ay"@en .\n')
    assert loaded(tmp_path, {"g.ttl": ":a :p :b ."}, LoadOptions(labels=(labels,))).nodes()["http://x/a"][0] == "Ay"
