"""Lines that are split without the parser must read as the parser reads them, or be left to it."""

from __future__ import annotations

import random
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, encoding, load, parsing
from kgnav_mcp.adapters.embedded.loading.encoding import Batch, Encoder
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import Loaded

GOOD = b"<http://x/a> <http://x/p> <http://x/b> .\n"

PLAIN = [
    GOOD,
    '<http://x/é> <http://x/p> "ü | < > . <b> \t"@en-GB .\n'.encode(),
    b'<http://x/a> <http://x/p> "5"^^<http://www.w3.org/2001/XMLSchema#int> .\n',
    b'<http://x/a> <http://x/p> "quote \\" slash \\\\ line \\n e \\u00e9" .\n',
    b'<http://x/a> <http://x/p> "" .\n',
    b'<http://x/a> <http://x/p> " .\\n<http://x/a> <http://x/p> <http://x/b> ." .\n',
    b"_:a <http://x/p> _:b1 .\n",
    b"<http://x/a_:b> <http://x/p> _:b .\n",
]
"""Split without the parser."""

ODD = [
    b"<http://x/a>  <http://x/p> <http://x/b> .\n",
    b"<http://x/a>\t<http://x/p>\t<http://x/b>\t.\n",
    b"<http://x/a> <http://x/p> <http://x/b>.\n",
    b"<http://x/a> <http://x/p> <http://x/b> . # said so\n",
    b"# a comment\n",
    b"\n",
    b"<http://x/a> <http://x/p> <http://x/b> .\r\n",
    b"<http://x/\\u00e9> <http://x/p> <http://x/b> .\n",
    b"<http://x/a b> <http://x/p> <http://x/b> .\n",
    b'<http://x/a> <http://x/p>"tight" .\n',
    b'<http://x/a> <http://x/p> "tight"@en.\n',
    b'<http://x/a> <http://x/p> "tight".\n',
    b"_:a.b <http://x/p> <http://x/b> .\n",
    b"<http://x/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://x/a> <http://x/p> _:b )>> .\n",
]
"""Good, but left to the parser."""

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

Rows = tuple[list[tuple[str, str, str]], list[tuple[str, str, object]], list[str]]


def rows(batch: Batch, nodes: list[str], relations: list[str]) -> Rows:
    """Triples and literals by their keys, and all keys in the order of their numbers."""
    nodes += batch.nodes
    relations += batch.relations
    triples = zip(batch.heads, batch.links, batch.tails, strict=True)
    return (
        [(nodes[head], relations[link], nodes[tail]) for head, link, tail in triples],
        [(nodes[head], relations[link], value) for head, link, value in batch.literals],
        nodes[:],
    )


def parsed(block: bytes) -> Rows | None:
    try:
        quads = list(ox.parse(block, ox.RdfFormat.N_TRIPLES, lenient=True))
    except SyntaxError:
        return None
    return rows(Encoder(0).encode(quads, 0), [""], [])


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_split_as_the_parser_reads_it(line: bytes) -> None:
    for block in (line, GOOD + line + line + GOOD):
        batch = Encoder(0).encode_lines(block, 0)
        assert batch is not None
        assert rows(batch, [""], []) == parsed(block)


@pytest.mark.parametrize("line", [*ODD, *BAD])
def test_a_line_that_needs_the_parser_is_left_to_it(line: bytes) -> None:
    for block in (line, GOOD + line, line + GOOD, GOOD * 3 + line + GOOD * 2):
        assert Encoder(0).encode_lines(block, 0) is None


def test_two_wrong_lines_that_make_up_for_each_other_are_left_to_the_parser() -> None:
    long, short = b"<http://a> <http://b> <http://c> <http://d> .\n", b"<http://e> <http://f> .\n"
    for block in (long + short, short + long, GOOD + long + GOOD + short + GOOD):
        assert Encoder(0).encode_lines(block, 0) is None


def test_whatever_is_split_the_parser_reads_alike() -> None:
    chance = random.Random(5)  # noqa: S311 - spoilt lines, not secrets
    pieces = [b"<", b">", b" ", b"\n", b".", b'"', b"\\", b"_:b", b"@en", b"^^", b"\t", b"\r", b"> <", b" .\n", b"\xff"]
    split = 0
    for _ in range(20_000):
        block = bytearray(b"".join(chance.choices([*PLAIN, *PLAIN, *PLAIN, *ODD[-2:]], k=chance.randrange(1, 4))))
        for _ in range(chance.randrange(3)):
            place = chance.randrange(len(block))
            block[place : place + chance.randrange(3)] = chance.choice(pieces)
        batch = Encoder(0).encode_lines(bytes(block), 0)
        if batch is not None:
            split += 1
            assert rows(batch, [""], []) == parsed(bytes(block)), bytes(block)
    assert split > 2_000


def test_numbers_begin_anew_past_the_window_and_keep_to_their_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [b"<http://x/%d> <http://x/p%d> <http://x/%d> .\n" % (n % 97, n % 3, n * 7 % 89) for n in range(2_000)]
    lines += [b'<http://x/%d> <http://x/name> "%d" .\n' % (n % 101, n) for n in range(200)]
    lines[1_000] = b"<http://x/5>   <http://x/p0> <http://x/5> .\n"
    (tmp_path / "g.nt").write_bytes(b"".join(lines))
    files: list[list[tuple[object, ...]]] = []
    for window, size in ((encoding.WINDOW, parsing.LINES_BYTES), (10, 500)):
        monkeypatch.setattr(encoding, "WINDOW", window)
        monkeypatch.setattr(parsing, "LINES_BYTES", size)
        graph = Loaded(tmp_path / "g.kg", load([tmp_path / "g.nt"], tmp_path / "g.kg"))
        tables = ("node", "relation", "edge", "attribute", "degree", "name")
        files.append([row for table in tables for row in graph.rows(f"SELECT * FROM {table}")])  # noqa: S608
    assert files[0] == files[1]
    assert len(files[0]) > 2_000


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_far_into_a_file_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    monkeypatch.setattr(parsing, "LINES_BYTES", 400)
    source = tmp_path / "g.nt"
    source.write_bytes(GOOD * 1_000 + line + GOOD * 1_000)
    with pytest.raises(SyntaxError) as told:
        list(ox.parse(source.read_bytes(), ox.RdfFormat.N_TRIPLES, lenient=True))
    with pytest.raises(BadLine) as caught:
        load([source], tmp_path / "g.kg")
    assert (caught.value.line, caught.value.reason) == (told.value.lineno, parsing.reason(told.value))
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.bad_lines, report.triples) == (1, 1)
    assert report.first_bad_lines[0].line == 1_001
