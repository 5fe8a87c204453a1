"""Lines of N-Triples are read in blocks, and a bad line is told as the parser alone would tell it."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load, rdf_parser
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import Loaded

GOOD = b"<http://x/a> <http://x/p> <http://x/b> .\n"

BAD = [
    b"<http://x/a> <http://x/p> .\n",
    b"<http://x/a> <http://x/p> <http://x/b> <http://x/c> .\n",
    b"<http://x/a> <http://x/p> <http://x/b> . <http://x/a> <http://x/p> <http://x/b> .\n",
    b"<http://x/a> <http://x/p> <http://x/b> <.> <http://x/a> <http://x/p> <http://x/b> .\n",
    b"<http://x/a> <http://x/p> <http://x/b>\n",
    b"<http://x/a> <http://x/p>\n",
    b'"text" <http://x/p> <http://x/b> .\n',
    b'<http://x/a> "text" <http://x/b> .\n',
    b"<http://x/a> _:p <http://x/b> .\n",
    b'<http://x/a> <http://x/p> "open .\n',
    b'<http://x/a> <http://x/p> "x"@ .\n',
    b'<http://x/a> <http://x/p> "x"<http://x/b> .\n',
    b'<http://x/a> <http://x/p> "x"#no .\n',
    b'<http://x/a> <http://x/p> "no \\q escape" .\n',
    b'<http://x/a> <http://x/p> "\xff" .\n',
    b'<http://x/a"b"> <http://x/p> "x .\n',
    b"nonsense\n",
]


def test_numbers_begin_anew_past_the_window_and_keep_to_their_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [b"<http://x/%d> <http://x/p%d> <http://x/%d> .\n" % (n % 97, n % 3, n * 7 % 89) for n in range(2_000)]
    lines += [b'<http://x/%d> <http://x/name> "%d" .\n' % (n % 101, n) for n in range(200)]
    lines[1_000] = b"<http://x/5>   <http://x/p0> <http://x/5> .\n"
    (tmp_path / "g.nt").write_bytes(b"".join(lines))
    files: list[list[tuple[object, ...]]] = []
    for window, size in ((rdf_parser.WINDOW, rdf_parser.LINES_BYTES), (10, 500)):
        monkeypatch.setattr(rdf_parser, "WINDOW", window)
        monkeypatch.setattr(rdf_parser, "LINES_BYTES", size)
        graph = Loaded(tmp_path / "g.kg", load([tmp_path / "g.nt"], tmp_path / "g.kg"))
        tables = ("node", "relation", "edge", "attribute", "degree", "name")
        files.append([row for table in tables for row in graph.rows(f"SELECT * FROM {table}")])  # noqa: S608
    assert files[0] == files[1]
    assert len(files[0]) > 2_000


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_far_into_a_file_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    monkeypatch.setattr(rdf_parser, "LINES_BYTES", 400)
    source = tmp_path / "g.nt"
    source.write_bytes(GOOD * 1_000 + line + GOOD * 1_000)
    with pytest.raises(SyntaxError) as told:
        list(ox.parse(source.read_bytes(), ox.RdfFormat.N_TRIPLES, lenient=True))
    with pytest.raises(BadLine) as caught:
        load([source], tmp_path / "g.kg")
    assert (caught.value.line, caught.value.reason) == (told.value.lineno, rdf_parser.reason(told.value))
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.bad_lines, report.triples) == (1, 1)
    assert report.first_bad_lines[0].line == 1_001
