"""Endpoints without the statements of a Wikibase: truthy dumps, and graphs of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_bench.wikibase import Wikibase
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidStore
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import AdapterOptions
from tests.services import Oxigraph

WITHOUT_STATEMENTS = "http://toy.example/without-statements"
NOTHING = "http://toy.example/nothing-of-wikibase"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def location(oxigraph: Oxigraph, graph: str) -> str:
    return f"wikidata+{oxigraph.url}?default-graph-uri={graph}"


@pytest.mark.parametrize("properties", [True, False])
async def test_a_truthy_dump_names_the_adapter_that_walks_its_values(
    oxigraph: Oxigraph, tmp_path: Path, properties: bool
):
    lines = [
        "<http://www.wikidata.org/entity/Q42> <http://www.wikidata.org/prop/direct/P31> "
        "<http://www.wikidata.org/entity/Q5> .\n"
    ]
    if properties:
        lines += Wikibase().property("P31", "item", [("instance of", "en")])
    source = tmp_path / "truthy.nt"
    source.write_text("".join(lines), encoding="utf-8")
    graph = f"{WITHOUT_STATEMENTS}-{properties}"
    oxigraph.load(source, graph)
    with pytest.raises(InvalidStore, match="values but no statements") as caught:
        await open_adapter(location(oxigraph, graph), AdapterOptions()).open()
    named = caught.value.next_step.split()[3]
    async with open_adapter(named, AdapterOptions()) as values:
        page = await values.neighbours(["wd:Q42"], Direction.OUTGOING, limit=5)
    (triple,) = page.items
    assert isinstance(triple.tail, Entity)
    assert (triple.relation.id, triple.tail.id) == ("wdt:P31", "wd:Q5")


async def test_an_endpoint_with_nothing_of_a_wikibase_says_so(oxigraph: Oxigraph, tmp_path: Path):
    source = tmp_path / "cats.nt"
    source.write_text(f'<http://cats.example/tom> <{LABEL}> "Tom" .\n', encoding="utf-8")
    oxigraph.load(source, NOTHING)
    with pytest.raises(InvalidStore, match="has no Wikibase in it") as caught:
        await open_adapter(location(oxigraph, NOTHING), AdapterOptions()).open()
    assert "option graph" in caught.value.next_step
