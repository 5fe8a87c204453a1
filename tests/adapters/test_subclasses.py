"""Instances of subclasses, where a store has classes above others."""

from __future__ import annotations

from pathlib import Path

from rdflib import RDFS

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.navigation.plans.writing import rows
from tests.services import Oxigraph

TURTLE = """
@prefix ex: <http://ex.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Kayak rdfs:subClassOf ex:Canoe .
ex:Canoe rdfs:subClassOf ex:Boat .
ex:one a ex:Boat . ex:two a ex:Kayak . ex:three a ex:Stone .
"""
WIKIDATA = "http://www.wikidata.org"
STATED = (
    ("Q1", "P31", "Q11"),
    ("Q2", "P31", "Q13"),
    ("Q3", "P31", "Q14"),
    ("Q13", "P279", "Q12"),
    ("Q12", "P279", "Q11"),
)


async def above(location: str) -> frozenset[str]:
    async with open_adapter(location, AdapterOptions()) as graph:
        return graph.subclass_relations


async def instances(location: str, label: str) -> list[object]:
    """The ids of the nodes of a class, or of one below it."""
    async with open_adapter(location, AdapterOptions()) as graph:
        runner, written = PlanRunner(graph), parse_plan(f"MATCH (n:`{label}`*) RETURN n")
        found = await runner.check(written.plan)
        assert not found.problems
        return [row[0] for row in rows(await runner.run(found.plan, limit=9))]


async def test_classes_of_a_graph_file_are_above_others_where_it_says_so(tmp_path: Path):
    source = tmp_path / "boats.ttl"
    source.write_text(TURTLE, encoding="utf-8")
    load([source], tmp_path / "boats.kg")
    assert await above(str(tmp_path / "boats.kg")) == {"rdfs:subClassOf"}
    assert await instances(str(tmp_path / "boats.kg"), "ex:Boat") == ["ex:one", "ex:two"]

    source.write_text("<http://ex.example/one> a <http://ex.example/Boat> .", encoding="utf-8")
    load([source], tmp_path / "flat.kg")
    assert await above(str(tmp_path / "flat.kg")) == frozenset()


async def test_classes_of_an_endpoint_are_above_others(oxigraph: Oxigraph, tmp_path: Path):
    source, graph = tmp_path / "boats.ttl", "http://ex.example/boats"
    source.write_text(TURTLE, encoding="utf-8")
    oxigraph.load(source, graph)
    location = f"sparql+{oxigraph.url}?default-graph-uri={graph}#prefix.ex=http://ex.example/"
    assert await above(location) == {"rdfs:subClassOf"}
    assert await instances(location, "ex:Boat") == ["ex:one", "ex:two"]


async def test_classes_of_wikidata_are_above_others(oxigraph: Oxigraph, tmp_path: Path):
    source, graph = tmp_path / "boats.nt", "http://toy.example/boats"
    lines = [f"<{WIKIDATA}/entity/{s}> <{WIKIDATA}/prop/direct/{p}> <{WIKIDATA}/entity/{o}> .\n" for s, p, o in STATED]
    lines += (f'<{WIKIDATA}/entity/{s}> <{RDFS.label}> "{s} (en)"@en .\n' for s in ("Q11", "Q12", "Q13"))
    source.write_text("".join(lines), encoding="utf-8")
    oxigraph.load(source, graph)
    location = f"wikidata+{oxigraph.url}?default-graph-uri={graph}"
    assert await above(location) == {"wdt:P279"}
    assert await instances(location, "wd:Q11") == ["wd:Q1", "wd:Q2"]
