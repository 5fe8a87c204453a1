"""Douglas Adams as Wikidata itself writes him (Q42): qualifiers, ranks, what is unknown or not there, in words."""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_bench import wikidata
from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Direction, Entity, Neighbourhood, Stop, Triple
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.render.columns import row_texts
from kgnav_mcp.render.table import RenderOptions, fit_to_budget
from kgnav_mcp.render.triples import neighbourhood_table
from tests.datasets import dataset
from tests.rows import triples_at
from tests.services import Oxigraph

GRAPH = "http://toy.example/items"
STATEMENTS, IDENTIFIERS = 307, 234
"""As many the item itself counts (wikibase:statements, wikibase:identifiers)."""


@pytest.fixture(scope="module")
def data() -> Path:
    return dataset("wikidata")


@pytest.fixture(scope="module")
def location(oxigraph: Oxigraph, data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Q42 as it is, and beside it what its file does not have: the properties, and a statement of no value."""
    folder = tmp_path_factory.mktemp("items")
    for item in ("Q42", "Q513"):
        oxigraph.load(data / f"{item}.ttl.gz", GRAPH)
    wikibase, labels = Wikibase(), wikidata.labels(data)
    lines: list[str] = []
    for local, kind in wikidata.datatypes(data).items():
        lines += wikibase.property(local, kind, [(labels[local], "en")] if local in labels else ())
    for local in ("Q84", "Q145", "Q36180", "Q11573"):
        lines += wikibase.item(local, [(labels.get(local, "metre"), "en")])
    lines += wikibase.statement("Q42", "P1038", Value("novalue"), number=1)
    (folder / "more.nt.gz").write_bytes(gzip.compress("".join(lines).encode()))
    oxigraph.load(folder / "more.nt.gz", GRAPH)
    return f"wikidata+{oxigraph.url}?default-graph-uri={GRAPH}"


@pytest.fixture
async def graph(location: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(location, AdapterOptions()) as opened:
        yield opened


async def _said(graph: GraphAdapter, name: str, item: str = "Q42") -> list[str]:
    """The rows of a property as they are printed: value, label and qualifiers."""
    page = await triples_at(graph, [item], Direction.OUTGOING, relation_paths=[(name,)], limit=50)
    found = Neighbourhood((Entity(f"wd:{item}", item),), Direction.OUTGOING, rows=page)
    table = fit_to_budget(neighbourhood_table(found, 0), RenderOptions())
    names = [name for column in table.columns for name in column.headings]
    rows = [dict(zip(names, row_texts(table.columns, row, table.limit), strict=True)) for row in table.rows]
    return ["|".join(row.get(column, "") for column in ("value", "valueLabel", "qualifiers")) for row in rows]


async def test_he_is_described_as_on_his_page(graph: GraphAdapter):
    him = (await graph.describe(["Q42"]))["Q42"]
    assert (him.id, him.label) == ("wd:Q42", "Douglas Adams")
    assert him.description is not None
    assert him.description.startswith("English author and humourist")


async def test_dates_places_and_heights_are_readable_with_their_references_counted(graph: GraphAdapter):
    assert await _said(graph, "P569") == ["1952-03-11||references: 14"]
    assert await _said(graph, "P570") == ["2001-05-11||references: 17"]
    assert await _said(graph, "P2048") == ["1.96 metre||references: 1"]
    (burial,) = await _said(graph, "P119")
    assert burial.endswith("references: 2; P625: 51.5665°N, 0.145444°W")


async def test_qualifiers_stand_beside_the_education_they_are_said_of(graph: GraphAdapter):
    college, school = sorted(await _said(graph, "P69"), key=len, reverse=True)
    assert "P580: 1971; P582: 1974" in college
    assert "P580: 1959; P582: 1970" in school


async def test_the_preferred_residences_are_shown_and_the_others_where_every_rank_is_wanted(
    graph: GraphAdapter, location: str
):
    assert await _said(graph, "P551") == [
        "wd:Q84|London|rank: preferred",
        "wd:Q909993|(unnamed)|P580: 1957; rank: preferred",
    ]
    async with open_adapter(location, AdapterOptions(extra={"statements": "all"})) as every:
        residences = await _said(every, "P551")
        (erdos,) = await _said(every, "P2021")
    assert len(residences) == 3
    assert any("P582: 2001-05-11" in row for row in residences)
    assert erdos == "10||references: 1; P3680: unknown value; P585: 2017-04-13; rank: deprecated"


async def test_a_mountain_has_its_place_and_its_height(graph: GraphAdapter):
    assert (await graph.describe(["Q513"]))["Q513"].label == "Mount Everest"
    (place,) = await _said(graph, "P625", "Q513")
    assert place.startswith("27.9881°N, 86.9253°E|")
    (height,) = await _said(graph, "P2044", "Q513")
    assert height.startswith("8848 ")


async def test_what_he_has_none_of_is_said_in_words(graph: GraphAdapter):
    assert await _said(graph, "P1038") == ["no value||"]


async def test_his_identifiers_are_counted_and_not_shown(location: str):
    rows: list[Triple] = []
    after: str | None = None
    async with open_adapter(location, AdapterOptions(extra={"statements": "all"})) as graph:
        while True:
            page = await triples_at(graph, ["Q42"], Direction.OUTGOING, limit=40, after=after)
            rows += page.items
            assert page.note.startswith(f"{IDENTIFIERS} identifiers of other databases are hidden")
            if page.stop is Stop.COMPLETE:
                break
            after = page.positions[-1]
        facts = await graph.relations(["Q42"], Direction.OUTGOING, limit=500)
    assert len(rows) == page.total.value == STATEMENTS - IDENTIFIERS + 1
    assert sum(each.count.value for each in facts.items if each.hidden) == IDENTIFIERS
