"""Ids are printed short in every format: by declared prefixes, by well-known ones, and by coined ones."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load, writer
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import AdapterOptions
from tests.adapters.embedded.loaded import Loaded, loaded, write
from tests.rows import triples_at
from tests.server.clients import call

FOOD = "http://food.example.org/onto#"
DECLARED = {"": FOOD, "more": "http://more.example.org/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
ONTOLOGY = """
:Pizza a rdfs:Class ; rdfs:label "pizza"@en ; more:eaten_with more:Fork .
:Margherita rdfs:subClassOf :Pizza ; :topping more:Tomato .
"""
FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".n3": ox.RdfFormat.N3,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}
HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
PLACE = "http://places.example.org/place/"


def ontology(suffix: str) -> bytes:
    turtle = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in DECLARED.items()) + ONTOLOGY
    text = ox.serialize(ox.parse(turtle, ox.RdfFormat.TURTLE), format=FORMATS[suffix], prefixes=DECLARED)
    assert text is not None
    if suffix == ".jsonld":  # it is written without a context, and none can have an empty prefix
        return b'{"@context": {"food": "%s", "more": "http://more.example.org/"}, "@graph": %s}' % (FOOD.encode(), text)
    return text


async def printed(path: Path, *entities: str, options: Mapping[str, object] | None = None) -> set[str]:
    """The ids of these entities and of what they lead to."""
    async with open_adapter(str(path), AdapterOptions(extra=options or {})) as adapter:
        page = await triples_at(adapter, entities, Direction.OUTGOING, limit=1000)
        ids = {triple.head.id for triple in page.items} | {triple.relation.id for triple in page.items}
        return ids | {triple.tail.id for triple in page.items if isinstance(triple.tail, Entity)}


def places(count: int, namespace: str = PLACE) -> str:
    return "".join(
        f"<{namespace}{n}> <http://rel.example.org/vocabulary#near> <{namespace}{n + 1}> .\n" for n in range(count)
    )


@pytest.mark.parametrize("suffix", FORMATS)
async def test_the_same_ontology_has_the_same_ids_from_every_format(tmp_path: Path, suffix: str) -> None:
    load([write(tmp_path, f"food{suffix}", ontology(suffix))], tmp_path / "g.kg")
    name = "food" if suffix == ".jsonld" else ""
    ids = await printed(tmp_path / "g.kg", f"{FOOD}Pizza", f"{FOOD}Margherita")
    assert {f"{name}:Pizza", f"{name}:Margherita", f"{name}:topping", "more:Fork", "more:eaten_with"} <= ids
    assert not {one for one in ids if one.startswith("http")}


async def test_entities_of_a_doctype_are_prefixes_and_what_the_elements_declare_goes_before_them(
    tmp_path: Path,
) -> None:
    text = f"""<!DOCTYPE rdf:RDF [
    <!-- <!ENTITY hidden "http://hidden.example.org/"> -->
    <!ENTITY base 'http://base.example.org/'>
    <!ENTITY part "&base;part#">
    <!ENTITY part "http://ignored.example.org/">
    <!ENTITY clash "http://entity.example.org/">
    <!ENTITY word "caf&#233;">
    ]>
    {HEAD} xmlns:clash="http://declared.example.org/">
      <rdf:Description rdf:about="&part;a"><clash:p rdf:resource="&clash;b"/><clash:q>&word; &amp; &quot;</clash:q>
      </rdf:Description></rdf:RDF>"""
    graph = loaded(tmp_path, {"g.owl": text})
    assert graph.attributes("http://base.example.org/part#a")[0][1] == 'café & "'
    ids = await printed(graph.path, "part:a")
    assert ids == {"part:a", "clash:p", "clash:q", "http://entity.example.org/b"}
    assert "hidden" not in json.loads(graph.meta("prefixes"))


def test_a_context_of_each_item_in_a_list_of_json_ld_gives_its_prefixes(tmp_path: Path) -> None:
    text = '[{"@context": {"one": "http://one.example.org/"}, "@id": "one:a", "one:p": 1}]'
    assert json.loads(loaded(tmp_path, {"g.jsonld": text}).meta("prefixes"))["one"] == "http://one.example.org/"


async def test_a_common_namespace_without_a_prefix_gets_one_that_every_answer_explains(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.nt": places(30)})
    settings = Settings(graphs={"g": GraphSettings(location=str(graph.path))})
    answer = await call("search", {"entity": "ns1:7", "direction": "outgoing"}, settings)
    assert "ns2:near|near|ns1:8" in answer
    assert "http" not in answer.rpartition("\n")[0]
    assert answer.endswith(
        "Prefixes: ns1: is http://places.example.org/place/, ns2: is http://rel.example.org/vocabulary#"
    )
    everywhere = (
        ("get_triples", {"entity": "ns1:7", "relations": ["ns2:near"]}),
        ("get_relations", {"entity": "ns1:7"}),
        ("describe_graph", {"name": "ns2:near"}),
        ("find_node", {"hint": "ns1:7"}),
    )
    for tool, arguments in everywhere:
        assert (await call(tool, arguments, settings)).count("Prefixes: ns") == 1, tool


async def test_an_answer_without_a_coined_prefix_explains_none_and_the_papers_format_never_does(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.nt": places(30) + "<http://x/a> <http://x/p> <http://x/b> .\n"})
    settings = Settings(graphs={"g": GraphSettings(location=str(graph.path))})
    assert "Prefixes" not in await call("search", {"entity": "http://x/a", "direction": "outgoing"}, settings)
    paper = Settings(graphs=settings.graphs, paper_format=True)
    assert "Prefixes" not in await call("search", {"entity": "ns1:7", "direction": "outgoing"}, paper)


def coined(graph: Loaded) -> dict[str, str]:
    known = json.loads(graph.meta("prefixes"))
    return {prefix: known[prefix] for prefix in json.loads(graph.meta("coined_prefixes"))}


def test_a_coined_prefix_is_none_that_is_taken_and_none_for_what_has_one(tmp_path: Path) -> None:
    turtle = "@prefix ns1: <http://taken.example.org/> . @prefix GO: <http://obo.example.org/obo/GO_> .\n"
    ids = "".join(f"<{PLACE}{n}> <{PLACE}p> <http://obo.example.org/obo/GO_{n}>, wd:Q{n} .\n" for n in range(40))
    graph = loaded(tmp_path, {"g.ttl": turtle + "@prefix wd: <http://www.wikidata.org/entity/> .\n" + ids})
    assert coined(graph) == {"ns2": PLACE}


def test_rare_short_and_odd_namespaces_get_no_prefix(tmp_path: Path) -> None:
    rare = places(5, "http://rare.example.org/thing/")
    short = "".join(f"<http://s/{n}> <http://s/p> <http://s/x{n}> .\n" for n in range(50))
    names = "".join(f"urn:thing:{n}\tis/was\tpath/to/{n}\n" for n in range(50))
    assert not coined(loaded(tmp_path, {"g.nt": rare + short, "t.tsv": names}))


def test_tables_of_iris_get_prefixes_too_the_well_known_ones_first(tmp_path: Path) -> None:
    rows = "".join(f"{PLACE}{n}\thttp://www.wikidata.org/prop/direct/P31\t{PLACE}x\n" for n in range(30))
    assert coined(loaded(tmp_path, {"g.tsv": rows})) == {"ns1": PLACE}


def test_coined_prefixes_go_by_use_and_are_the_same_at_every_load(tmp_path: Path) -> None:
    text = places(25, "http://b.example.org/place/") + places(25, "http://a.example.org/place/") + places(60)
    first = coined(loaded(tmp_path, {"g.nt": text}))
    assert list(first.values())[:2] == ["http://rel.example.org/vocabulary#", PLACE]
    assert list(first.values())[2:] == ["http://a.example.org/place/", "http://b.example.org/place/"]
    assert coined(loaded(tmp_path, {"g.nt": text})) == first


def test_a_namespace_of_one_node_that_everything_leads_to_gets_a_prefix(tmp_path: Path) -> None:
    rows = "".join(f"<http://x/{n}> <http://x/p> <http://editor.example.org/user/Ann> .\n" for n in range(100))
    assert coined(loaded(tmp_path, {"g.nt": rows})) == {"ns1": "http://editor.example.org/user/"}


def test_a_large_graph_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SAMPLE", 10)
    assert PLACE in coined(loaded(tmp_path, {"g.nt": places(500)})).values()


async def test_a_prefix_of_the_configuration_goes_before_a_coined_one(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.nt": places(30)})
    options: Mapping[str, object] = {"prefixes": {"place": PLACE}}
    assert "place:7" in await printed(graph.path, "ns1:7", options=options)
    async with open_adapter(str(graph.path), AdapterOptions(extra=options)) as adapter:
        assert set(adapter.generated_prefixes.values()) == {"http://rel.example.org/vocabulary#"}


async def test_a_graph_file_from_before_prefixes_were_coined_opens_as_ever(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b ."})
    with closing(sqlite3.connect(graph.path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key = 'coined_prefixes'")
    assert await printed(graph.path, ":a") == {":a", ":p", ":b"}
