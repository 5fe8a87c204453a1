"""A damaged source is loaded or refused by a sentence, whatever became of it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import PREFIXES, loaded, write
from tests.adapters.embedded.test_load_rdf import FORMATS


def test_what_a_parser_quotes_is_cut_to_one_short_line(tmp_path: Path) -> None:
    with pytest.raises(BadLine) as caught:
        loaded(tmp_path, {"g.ttl": ':a :p "' + "x\n" * 5000 + '" "y" .'})
    assert len(caught.value.message) < 300
    assert "\n" not in caught.value.message


PIECES = (
    b"<", b">", b'"', b"'", b"[", b"]]]", b"(", b"{", b"}", b"\\", b"\x00", b"\xff\xfe", b"&a;", b"<<", b">>", b"<!--",
    b"<![CDATA[", b"#", b"\n", b"\r", b".", b'"""', b"\\u12", b"&#0;", b"&#xD800;", b"xmlns:x='y'", b"<?xml", b"null",
    b'<!DOCTYPE a [<!ENTITY b "c">]>', b"\xed\xa0\x80", b'rdf:parseType="Literal"', b"[ " * 1500, b'{"a":' * 300, b"\t",
)  # fmt: skip
SEEDS = 12


def damaged(content: bytes, chance: Random) -> bytes:
    """The content with some bytes changed, lost, repeated or put in."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5, 30))):
        begin = chance.randrange(len(found) + 1)
        end = begin + chance.choice((1, 3, 50, 2000))
        match chance.randrange(5):
            case 0 if begin < len(found):
                found[begin] ^= 1 << chance.randrange(8)
            case 1:
                del found[begin:end]
            case 2:
                found[begin:begin] = found[begin:end] * chance.choice((1, 2, 20))
            case 3:
                del found[max(begin, 10) :]
            case _:
                found[begin:begin] = chance.choice(PIECES)
    return bytes(found)


def refusal(source: Path, options: LoadOptions) -> LoadError | None:
    try:
        load([source], source.with_suffix(".kg"), options)
    except LoadError as error:
        return error
    return None


@pytest.mark.parametrize("suffix", [*FORMATS])
def test_a_damaged_source_is_loaded_or_refused_with_a_next_step_and_nothing_else(tmp_path: Path, suffix: str) -> None:
    turtle = (
        PREFIXES
        + """:a :p :b ; rdfs:label "A \\"name\\""@en ; :q ( 1 [ :r 'x' ] ) .\n"""
        + "".join(f":n{n} a :T ; :next :n{n + 1} ; rdfs:label 'n {n}' .\n" for n in range(40))
    )
    quads = ox.parse(turtle, ox.RdfFormat.TURTLE)
    content = ox.serialize(quads, format=FORMATS[suffix])
    assert content is not None
    for seed in range(SEEDS):
        source = write(tmp_path, f"g{suffix}", damaged(content, Random(f"{suffix}{seed}")))  # noqa: S311 - spoilt files
        refused = refusal(source, LoadOptions(skip_bad=bool(seed % 2)))
        assert refused is None or (refused.next_step and len(refused.message) < 400)
