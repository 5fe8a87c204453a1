"""Values come back from every format as they were given: empty texts, line breaks, zero, false, NaN, arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kgnav_mcp.adapters.embedded.loading import LoadOptions, LoadReport, load
from kgnav_mcp.config import Settings
from tests.server.clients import client
from tests.server.processes import on_http, on_stdio

LINES = "one\ntwo"
SCALARS = {"empty": "", "lines": LINES, "zero": 0, "no": False, "nan": "NaN", "inf": "-Infinity"}
"""Values by property as structured content has them. JSON has no NaN, so it is a text there."""
ARRAYS = {"numbers": [2, -2, 2], "one": ["red"], "texts": ["a", "", "b"]}

HEADER = (
    "empty,absent,lines,zero:int,no:boolean,nan:double,inf:double,"
    "numbers:int[],one:string[],texts:string[],none:string[]"
)
ROW = f'"",,"{LINES}",0,false,NaN,-Infinity,2;-2;2,red,a;;b,'
ADMIN = {
    "nodes.csv": f"id:ID,name,{HEADER}\na,Ada,{ROW}\nb,Bob{',' * 11}\n",
    "edges.csv": f":START_ID,:END_ID,:TYPE,{HEADER}\na,b,knows,{ROW}\n",
}
NEPTUNE_ROW = f'"{LINES}",0,false,NaN,-Infinity'
NEPTUNE_HEADER = "lines:String,zero:Int,no:Bool,nan:Double,inf:Double"
NEPTUNE = {
    "nodes.csv": f"~id,~label,name:String,empty:String,{NEPTUNE_HEADER},numbers:Int[],one:String[],texts:String[]\n"
    f'a,Person,Ada,"",{NEPTUNE_ROW},2;-2;2,red,a;;b\nb,Person,Bob{"," * 9}\n',
    "edges.csv": f'~id,~from,~to,~label,empty:String,{NEPTUNE_HEADER}\ne,a,b,knows,"",{NEPTUNE_ROW}\n',
}
OWN_ROW = f'"",,"{LINES}",0,false,NaN,-Infinity'
OWN = {
    "nodes.csv": f"id,name,empty,absent,lines,zero,no,nan,inf\na,Ada,{OWN_ROW}\nb,Bob,,,,1,true,1.5,2\n",
    "edges.csv": f"source,target,type,empty,absent,lines,zero,no,nan,inf\na,b,knows,{OWN_ROW}\nb,a,likes,,,,,,1.5,2\n",
}
JSON_VALUES = {**SCALARS, **ARRAYS, "nan": float("nan"), "inf": float("-inf"), "none": [], "absent": None}
APOC = "\n".join(
    json.dumps(line)
    for line in (
        {"type": "node", "id": "a", "labels": ["Person"], "properties": {"name": "Ada", **JSON_VALUES}},
        {"type": "node", "id": "b", "labels": ["Person"], "properties": {"name": "Bob"}},
        {
            "type": "relationship",
            "id": "0",
            "label": "knows",
            "start": {"id": "a"},
            "end": {"id": "b"},
            "properties": JSON_VALUES,
        },
    )
)
NETWORKX = "a b {'empty': '', 'lines': 'one\\ntwo', 'zero': 0, 'no': False, 'numbers': [2, -2, 2], 'one': ['red'], " \
    "'texts': ['a', '', 'b'], 'none': []}\n"  # fmt: skip

XSD = "http://www.w3.org/2001/XMLSchema#"
TYPED = {"zero": ("0", "integer"), "no": ("false", "boolean"), "nan": ("NaN", "double"), "inf": ("-INF", "double")}
NTRIPLES = "".join(
    f"<http://x/a> <http://x/{name}> {value} .\n"
    for name, value in (
        ("knows", "<http://x/b>"),
        ("empty", '""'),
        ("lines", '"one\\ntwo"'),
        *((name, f'"{text}"^^<{XSD}{kind}>') for name, (text, kind) in TYPED.items()),
    )
)
TURTLE = f"""@prefix : <http://x/> . @prefix xsd: <{XSD}> .
:a :knows :b ; :empty "" ; :zero 0 ; :no false ; :nan "NaN"^^xsd:double ; :inf "-INF"^^xsd:double ;
   :lines \"\"\"{LINES}\"\"\" .
"""
RDF_XML = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">
<rdf:Description rdf:about="http://x/a"><x:knows rdf:resource="http://x/b"/><x:empty/><x:lines>{LINES}</x:lines>
{"".join(f'<x:{name} rdf:datatype="{XSD}{kind}">{text}</x:{name}>' for name, (text, kind) in TYPED.items())}
</rdf:Description></rdf:RDF>"""
JSON_LD = json.dumps(
    {
        "@context": {"@vocab": "http://x/", "knows": {"@type": "@id"}},
        "@id": "http://x/a",
        "knows": "http://x/b",
        "empty": "",
        "lines": LINES,
        "zero": 0,
        "no": False,
        **{name: {"@value": TYPED[name][0], "@type": XSD + "double"} for name in ("nan", "inf")},
    }
)
PROPERTY_GRAPHS = {
    "Neo4j's import files": ADMIN,
    "Neo4j's import files with tabs": {
        name.replace("csv", "tsv"): text.replace(",", "\t") for name, text in ADMIN.items()
    },
    "an export of APOC": {"graph.jsonl": APOC},
    "an export of APOC named .json": {"graph.json": APOC},
}
RDF = {
    **dict.fromkeys(("nt", "nq"), NTRIPLES),
    **dict.fromkeys(("ttl", "n3", "trig"), TURTLE),
    "rdf": RDF_XML,
    "jsonld": JSON_LD,
}


OF_EDGES = {"entity_name": "*", "entity_type": "relationship"}


def loaded(folder: Path, files: dict[str, str]) -> tuple[Settings, LoadReport]:
    """Settings that serve the graph of these files with structured answers, and the report of its load."""
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    report = load([folder / name for name in files], folder / "graph.kg", LoadOptions())
    return Settings.model_validate(
        {"graphs": {"g": {"location": str(folder / "graph.kg")}}, "structured": True}
    ), report


async def rows(settings: Settings, tool: str, arguments: dict[str, object]) -> list[dict[str, Any]]:
    """The rows of a call's answer."""
    async with client(settings) as connected:
        result = await connected.call_tool(tool, arguments)
    assert result.structured_content is not None, result.content
    found: Any = result.structured_content["rows"]
    return found


async def values(settings: Settings, variable: str, names: list[str]) -> dict[str, Any]:
    """The values of the properties of the edge `knows`, or of its head `n`."""
    columns = ", ".join(f"{variable}.{name} AS {name}" for name in names)
    [row] = await rows(settings, "run_plan", {"plan": f"MATCH (n)-[r]->() WHERE type(r) <> 'likes' RETURN {columns}"})
    return row


@pytest.mark.parametrize("files", PROPERTY_GRAPHS.values(), ids=PROPERTY_GRAPHS)
@pytest.mark.parametrize("variable", ["n", "r"])
async def test_a_property_graph_keeps_every_value(files: dict[str, str], variable: str, tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, files)
    expected = {**SCALARS, **ARRAYS}
    assert await values(settings, variable, [*expected]) == expected


@pytest.mark.parametrize("suffix", RDF)
async def test_rdf_keeps_every_value(suffix: str, tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, {f"graph.{suffix}": RDF[suffix]})
    assert await values(settings, "n", [*SCALARS]) == SCALARS


async def test_an_array_without_items_has_no_value_and_the_load_says_so(tmp_path: Path) -> None:
    _, report = loaded(tmp_path, {"graph.jsonl": APOC})
    assert report.notes == ("an empty array has no values, so the property is missing there: none (2 times)",)


@pytest.mark.parametrize("variable", ["n", "r"])
async def test_a_table_keeps_every_value_as_number_or_text(variable: str, tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, OWN)
    expected = {**SCALARS, "no": "false"}
    assert await values(settings, variable, [*expected]) == expected


async def test_an_empty_text_in_neptunes_files_is_no_value_as_for_its_loader(tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, NEPTUNE)
    expected = {name: value for name, value in SCALARS.items() if name != "empty"}
    assert await values(settings, "n", [*expected, *ARRAYS]) == {**expected, **ARRAYS}
    assert await values(settings, "r", [*expected]) == expected
    assert "empty" not in str(await rows(settings, "describe_graph", {}))


async def test_an_edge_list_keeps_every_value(tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, {"graph.edgelist": NETWORKX})
    expected = {name: value for name, value in SCALARS.items() if name not in {"nan", "inf"}} | ARRAYS
    assert await values(settings, "r", [*expected]) == expected


async def test_an_empty_text_is_found_and_listed_as_any_other_value(tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, ADMIN)
    nodes = await rows(settings, "get_node_by_property", {"label": "*", "property_name": "empty", "property_value": ""})
    assert [row["node"]["id"] for row in nodes] == ["a"]
    listed = await rows(settings, "get_unique_property_values", {"property_name": "texts", **OF_EDGES})
    assert [row["value"] for row in listed] == ["", "a", "b"]


@pytest.mark.parametrize(
    "files",
    [
        {"graph.nt": '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> " " .\n'},
        {"nodes.csv": 'id:ID,label\nhttp://x/a," "\n'},
    ],
    ids=["RDF", "CSV"],
)
async def test_a_blank_text_is_a_value_but_no_name(files: dict[str, str], tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, files)
    [row] = await rows(settings, "run_plan", {"plan": "MATCH (n) RETURN n, n.label AS label"})
    assert (row["n"].get("label"), row["label"]) in {(None, " "), ("a", " ")}


async def test_a_value_that_an_array_has_twice_counts_its_edge_once(tmp_path: Path) -> None:
    settings, _ = loaded(tmp_path, ADMIN)
    listed = await rows(settings, "get_unique_property_values", {"property_name": "numbers", **OF_EDGES})
    assert [(row["value"], row["relationships"]) for row in listed] == [(-2, 1), (2, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "HTTP"])
async def test_structured_answers_carry_values_unchanged(transport: str, tmp_path: Path) -> None:
    text = "Foo\nFoo\t| \\ \r\n"
    nodes = json.dumps({"type": "node", "id": "a", "labels": [], "properties": {"name": "Foo\nFoo", "text": text}})
    loaded(tmp_path, {"graph.jsonl": nodes})
    graph = ("--graph", str(tmp_path / "graph.kg"))
    plan = {"plan": "MATCH (n) RETURN n, n.text AS text"}
    if transport == "stdio":
        async with Client(on_stdio(tmp_path, *graph, "--structured")) as script:
            answer = await script.call_tool("run_plan", plan)
    else:
        with on_http(tmp_path, *graph) as server:
            async with Client(f"{server.url}/structured") as script:
                answer = await script.call_tool("run_plan", plan)
    assert (answer.structured_content or {})["rows"] == [{"n": {"id": "a", "label": "Foo\nFoo"}, "text": text}]
