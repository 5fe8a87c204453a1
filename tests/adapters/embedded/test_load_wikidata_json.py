"""Wikidata's JSON gives what the RDF of the same entity gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import Loaded, loaded, write

RDF = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix v: <http://www.wikidata.org/value/> .
@prefix ref: <http://www.wikidata.org/reference/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wdno: <http://www.wikidata.org/prop/novalue/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
wd:Q42 rdfs:label "Douglas Adams"@en ; schema:description "writer"@en ;
    skos:altLabel "DNA"@en, "Douglas Noel Adams"@en ;
    p:P31 s:Q42-a ; p:P569 s:Q42-b ; p:P2048 s:Q42-c ; p:P40 s:Q42-d ; p:P22 s:Q42-e ; p:P69 s:Q42-f, s:Q42-g ;
    p:P213 s:Q42-h ; p:P1477 s:Q42-i ; p:P856 s:Q42-j ; p:P570 s:Q42-k ; p:P625 s:Q42-l .
wd:Q5 rdfs:label "human"@en .
wd:Q691283 rdfs:label "St John's College"@en .
wd:P31 a wikibase:Property ; wikibase:propertyType wikibase:WikibaseItem ; wikibase:directClaim wdt:P31 ;
    rdfs:label "instance of"@en .
wd:P213 a wikibase:Property ; wikibase:propertyType wikibase:ExternalId ; wikibase:directClaim wdt:P213 ;
    rdfs:label "ISNI"@en .
s:Q42-a a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P31 wd:Q5 ;
    prov:wasDerivedFrom ref:1, ref:2 .
s:Q42-b a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P569 "1952-03-11T00:00:00Z"^^xsd:dateTime ; psv:P569 v:b .
v:b wikibase:timeValue "1952-03-11T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision "11"^^xsd:integer ;
    wikibase:timeCalendarModel wd:Q1985727 .
s:Q42-c a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P2048 "+1.96"^^xsd:decimal ; psv:P2048 v:c .
v:c wikibase:quantityAmount "+1.96"^^xsd:decimal ; wikibase:quantityUnit wd:Q11573 .
s:Q42-d a wikibase:Statement, wikibase:BestRank, wdno:P40 ; wikibase:rank wikibase:NormalRank .
s:Q42-e a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P22 <http://www.wikidata.org/.well-known/genid/1> .
s:Q42-f a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:PreferredRank ; ps:P69 wd:Q691283 ;
    pq:P580 "1971-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P580 v:f ; pq:P812 wd:Q5 .
v:f wikibase:timeValue "1971-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision "9"^^xsd:integer ;
    wikibase:timeCalendarModel wd:Q1985727 .
s:Q42-g a wikibase:Statement ; wikibase:rank wikibase:NormalRank ; ps:P69 wd:Q5 .
s:Q42-h a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P213 "0000000080455314" .
s:Q42-i a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P1477 "Douglas Noël Adams"@en .
s:Q42-j a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P856 <http://douglasadams.com> .
s:Q42-k a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P570 "1643-01-04T00:00:00Z"^^xsd:dateTime ; psv:P570 v:k .
v:k wikibase:timeValue "1643-01-04T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision "11"^^xsd:integer ;
    wikibase:timeCalendarModel wd:Q1985786 .
s:Q42-l a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
    ps:P625 "Point(86.925 27.988)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .
"""


def value(kind: str, content: Any, datatype: str = "string", **more: str) -> dict[str, Any]:
    return {"snaktype": "value", "datatype": datatype, "datavalue": {"type": kind, "value": content}, **more}


def item(id_: str) -> dict[str, Any]:
    return value("wikibase-entityid", {"entity-type": "item", "numeric-id": int(id_[1:]), "id": id_}, "wikibase-item")


def time(text: str, precision: int, calendar: str = "Q1985727") -> dict[str, Any]:
    model = f"http://www.wikidata.org/entity/{calendar}"
    return value("time", {"time": text, "precision": precision, "timezone": 0, "calendarmodel": model}, "time")


def statement(letter: str, name: str, snak: dict[str, Any], rank: str = "normal", **more: Any) -> dict[str, Any]:
    return {"id": f"Q42${letter}", "type": "statement", "rank": rank, "mainsnak": {**snak, "property": name}, **more}


STATEMENTS = [
    statement("a", "P31", item("Q5"), references=[{"hash": "1", "snaks": {}}, {"hash": "2", "snaks": {}}]),
    statement("b", "P569", time("+1952-03-11T00:00:00Z", 11)),
    statement(
        "c",
        "P2048",
        value("quantity", {"amount": "+1.96", "unit": "http://www.wikidata.org/entity/Q11573"}, "quantity"),
    ),
    statement("d", "P40", {"snaktype": "novalue", "datatype": "wikibase-item"}),
    statement("e", "P22", {"snaktype": "somevalue", "datatype": "wikibase-item"}),
    statement(
        "f",
        "P69",
        item("Q691283"),
        "preferred",
        qualifiers={
            "P580": [{**time("+1971-00-00T00:00:00Z", 9), "property": "P580"}],
            "P812": [{**item("Q5"), "property": "P812"}],
        },
    ),
    statement("g", "P69", item("Q5")),
    statement("h", "P213", value("string", "0000000080455314", "external-id")),
    statement(
        "i", "P1477", value("monolingualtext", {"text": "Douglas Noël Adams", "language": "en"}, "monolingualtext")
    ),
    statement("j", "P856", value("string", "http://douglasadams.com", "url")),
    statement("k", "P570", time("+1642-12-25T00:00:00Z", 11, "Q1985786")),
    statement(
        "l",
        "P625",
        value(
            "globecoordinate",
            {"latitude": 27.988, "longitude": 86.925, "globe": "http://www.wikidata.org/entity/Q2"},
            "globe-coordinate",
        ),
    ),
]


def named(id_: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": "item", "id": id_, "labels": {"en": {"language": "en", "value": name}}, "claims": [], **more}


def entities() -> list[dict[str, Any]]:
    claims: dict[str, list[Any]] = {}
    for one in STATEMENTS:
        claims.setdefault(one["mainsnak"]["property"], []).append(one)
    aliases = {"en": [{"language": "en", "value": "DNA"}, {"language": "en", "value": "Douglas Noel Adams"}]}
    return [
        named(
            "Q42",
            "Douglas Adams",
            descriptions={"en": {"language": "en", "value": "writer"}},
            aliases=aliases,
            claims=claims,
            sitelinks={"enwiki": {"site": "enwiki", "title": "Douglas Adams"}},
        ),
        named("Q5", "human", descriptions=[], aliases=[]),
        named("Q691283", "St John's College"),
        named("P31", "instance of", type="property", datatype="wikibase-item"),
        named("P213", "ISNI", type="property", datatype="external-id"),
    ]


def dump(separator: str = ",\n") -> str:
    return "[\n" + separator.join(json.dumps(entity) for entity in entities()) + "\n]\n"


def content(graph: Loaded) -> dict[str, object]:
    """What a graph has, without the random numbers of unknown values."""
    nodes = sorted(key for key in graph.nodes() if "genid" not in key)
    return {
        "edges": graph.qualified_edges(),
        "nodes": nodes,
        "names": {key: sorted(graph.names(key), key=str) for key in nodes},
        "values": {key: graph.attributes(key) for key in nodes},
        "relations": graph.rows("SELECT key, label FROM relation ORDER BY key"),
        "types": graph.meta("type_relations"),
    }


@pytest.mark.parametrize("statements", ["truthy", "all"])
@pytest.mark.parametrize("name", ["dump.json.gz", "dump.json.bz2", "page.json", "pretty.json"])
def test_the_dump_and_a_page_give_what_the_rdf_gives(tmp_path: Path, name: str, statements: Any) -> None:
    options = LoadOptions(statements=statements)
    folder = tmp_path / "rdf"
    folder.mkdir()
    expected = content(loaded(folder, {"q42.ttl": RDF}, options))
    page = {"entities": {one["id"]: one for one in entities()}}
    text = dump() if "dump" in name else json.dumps(page, indent=2 if "pretty" in name else None)
    source = write(tmp_path, name, text)
    found = content(Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg", options)))
    assert found == expected
    assert len(cast("list[object]", found["edges"])) == (2 if statements == "truthy" else 3)


def test_a_malformed_entity_is_a_bad_line_that_may_be_skipped(tmp_path: Path) -> None:
    source = write(tmp_path, "dump.json", dump().replace('"id": "Q5", "labels"', '"labels"'))
    with pytest.raises(BadLine, match="not an entity in Wikidata's JSON") as caught:
        load([source], tmp_path / "g.kg")
    assert caught.value.line == 3
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert report.bad_lines == 1
