"""What looks at a source before its parser does minds nothing that is right, wherever its blocks end."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import guard, load
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.hostile import RDF, nested
from tests.adapters.embedded.loaded import PREFIXES, loaded, write
from tests.adapters.embedded.test_load_rdf import FORMATS

MANY = "([{<" * 2000
BRACKETS = {
    "strings": f"""{PREFIXES}:a :p "{MANY}", '{MANY}', \"\"\"{MANY}"\n"" \"\"\", '''{MANY}' '' ''',
        "\\\\", '\\'', "", '' .\n:a :q :b .""",
    "comments": f"""{PREFIXES}# {MANY} it's "open\n:a :q :b . # {MANY}""",
    "IRIs": f"{PREFIXES}:a :q <http://x/{'([' * 2000}'\"#> , :b\\(\\' .",
}  # fmt: skip


@pytest.mark.parametrize("where", BRACKETS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 1 << 18])
def test_brackets_that_mean_nothing_do_not_count_wherever_the_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, size: int
) -> None:
    monkeypatch.setattr(guard, "_BLOCK", size)
    expected = {
        (str(quad.subject), str(quad.object)) for quad in ox.parse(BRACKETS[where], ox.RdfFormat.TURTLE, lenient=True)
    }
    report = load([write(tmp_path, "g.trig", BRACKETS[where])], tmp_path / "g.kg")
    assert report.triples == len(expected)


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_brackets_after_a_long_string_count(tmp_path: Path, quotes: str) -> None:
    text = f"{PREFIXES}:a :p {quotes}x{quotes} ; :q {nested('[ :p ', ']', 1100, ':b')} ."
    with pytest.raises(BadLine, match="more than 1,000 levels"):
        load([write(tmp_path, "g.ttl", text)], tmp_path / "g.kg")


@pytest.mark.parametrize("form", ["ttl", "jsonld", "rdf"])
def test_a_source_read_byte_by_byte_is_the_same_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    text = ox.serialize(
        ox.parse(PREFIXES + ":a :p (:b [ :q 'x', \"[\" ]) .", ox.RdfFormat.TURTLE), format=FORMATS[f".{form}"]
    )  # fmt: skip
    assert text is not None
    whole = loaded(tmp_path, {f"g.{form}": text.decode()})
    edges, nodes = whole.edges(), whole.nodes()
    monkeypatch.setattr(guard, "_BLOCK", 1)
    report = load([tmp_path / f"g.{form}"], tmp_path / "again.kg")
    again = type(whole)(tmp_path / "again.kg", report)
    assert (again.edges(), again.nodes()) == (edges, nodes)


def test_a_long_list_and_many_shallow_nestings_are_none_too_deep(tmp_path: Path) -> None:
    text = (
        ":a :p ("
        + "1 " * 3000
        + ") . "
        + ":a :p [ :q ( [] ) ] .\n" * 2000
        + ":a :q "
        + nested("[ :p ", "]", 900, ":b")
        + " ."
    )
    assert loaded(tmp_path, {"g.ttl": text}).report.triples > 10_000


def test_xml_that_only_namespaces_forbid_is_read_as_oxigraph_writes_it(tmp_path: Path) -> None:
    quad = ox.Quad(ox.NamedNode("http://x/a"), ox.NamedNode("http://x/rel/0"), ox.Literal("zero"))
    text = ox.serialize([quad], format=ox.RdfFormat.RDF_XML)
    assert text is not None
    graph = loaded(tmp_path, {"g.rdf": text.decode()})
    assert graph.attributes("http://x/a") == [("http://x/rel/0", "zero", None, None)]
    assert "oxprefix" not in json.loads(graph.meta("prefixes"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<rdf:RDF>\n<a></b></rdf:RDF>", "mismatched tag"),
        ('<?xml version="1.0" encoding="utv-8"?>\n<a/>', "unknown encoding"),
        (f'<!DOCTYPE rdf:RDF SYSTEM "x.dtd">\n{RDF}<x:A x:p="&what;"/></rdf:RDF>', "what"),
        (f'<!DOCTYPE rdf:RDF SYSTEM "x.dtd">\n{RDF}<x:A><x:p>&what;</x:p></x:A></rdf:RDF>', "what is not declared"),
        (f"<!DOCTYPE rdf:RDF SYSTEM '<!ENTITY a \"b\">'>\n{RDF}</rdf:RDF>", "names a file by markup"),
    ],
)
def test_xml_that_cannot_be_read_is_refused_with_what_is_wrong(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadLine, match=r"g\.rdf.*") as caught:
        load([write(tmp_path, "g.rdf", text)], tmp_path / "g.kg")
    assert reason in caught.value.reason
