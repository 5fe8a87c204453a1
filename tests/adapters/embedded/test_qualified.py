"""An entity of a graph file that is in no triple is found as the value of a qualifier, exactly and within bounds."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import edges
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.render.table import RenderOptions, fit_to_budget
from kgnav_mcp.render.triples import neighbourhood_table
from tests.rows import triples_at

TURTLE = r"""
PREFIX : <http://x.example/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:ada rdfs:label "Ada" ; :wed :ben {| :witness :zoe , :zo ; :since 1835 |} .
:ada :age 36 {| :source :book , :zo |} ; :motto "zo" {| :note "http://x.example/note" |} .
:cyd :wed :dan {| :witness :zoe ; :place <http://x.example/caf\u00E9> |} .
:eve :wed :fay {| :witness :zoe |} .
<http://x.example/note> rdfs:label "Note" . :zoe rdfs:label "Zoe" .
"""


@pytest.fixture
async def weddings(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    (tmp_path / "g.ttl").write_text(TURTLE, encoding="utf-8")
    load([tmp_path / "g.ttl"], tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions()) as adapter:
        yield adapter


async def test_the_default_search_finds_a_qualifier_whose_types_the_rows_leave_out(tmp_path: Path):
    (tmp_path / "g.ttl").write_text(f"{TURTLE} :zoe a :Person .", encoding="utf-8")
    load([tmp_path / "g.ttl"], tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions()) as adapter:
        own = await adapter.triples_by_qualifier(":zoe", limit=5)
        assert len(own or ()) == 3
        assert set(await GraphAdapter.triples_by_qualifier(adapter, ":zoe", limit=5) or ()) == set(own or ())


@pytest.mark.parametrize(
    ("local", "heads"),
    [
        ("zo", ["ada wed", "ada age"]),
        ("zoe", ["ada wed", "cyd wed", "eve wed"]),
        ("book", ["ada age"]),
        ("café", ["cyd wed"]),
        ("note", []),
        ("ben", []),
        ("nobody", []),
    ],
)
async def test_the_triples_that_a_node_qualifies_are_found_by_its_whole_id(
    weddings: GraphAdapter, local: str, heads: list[str]
):
    triples = await weddings.triples_by_qualifier(f"http://x.example/{local}", limit=5)
    assert triples is not None
    assert [f"{_local(triple.head.id)} {_local(triple.relation.id)}" for triple in triples] == heads
    for triple in triples:
        page = await triples_at(weddings, [triple.head.id], Direction.OUTGOING, limit=50)
        assert triple in page.items, "it is the triple that the head shows"
    assert await weddings.triples_by_qualifier(f"http://x.example/{local}", limit=1) == triples[:1]


async def test_what_a_bounded_search_does_not_find_is_not_said_to_be_nowhere(
    weddings: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(edges, "MAX_QUALIFIED", 1)
    assert await weddings.triples_by_qualifier(":ben", limit=2) is None
    assert len(await weddings.triples_by_qualifier(":zoe", limit=2) or ()) == 1


async def test_search_says_what_an_entity_qualifies_and_the_next_call_shows_it(weddings: GraphAdapter):
    found = await search(weddings, ":zo", Direction.INCOMING, limits=Limits())
    said = (
        "zo (:zo) is only the value of a qualifier: witness (:witness) of [Ada (:ada), wed (:wed), ben (:ben)]; "
        "source (:source) of [Ada (:ada), age (:age), 36]. "
        'Next: search(entity=":ada", direction="outgoing", properties_to_filter_for=[":wed"])'
    )
    assert fit_to_budget(neighbourhood_table(found, 0), RenderOptions()).text == f"0 rows: {said}"
    there = await search(weddings, ":ada", Direction.OUTGOING, only=[":wed"], limits=Limits())
    assert there.rows is not None
    assert (there.rows.items[0],) == (found.qualified or ())[:1]


def _local(printed: str) -> str:
    return printed.rpartition(":")[2]
