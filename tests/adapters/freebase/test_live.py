"""What Freebase on a live Virtuoso does beyond the contract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.freebase.adapter import FreebaseAdapter
from kgnav_mcp.cli import main
from kgnav_mcp.errors import ConfigurationError, InvalidStore, StoreUnavailable, UnknownName, Unsupported
from kgnav_mcp.model import Count, Direction, Entity, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.relations import get_relations, get_triples
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.adapters.freebase.graph import FANS, GRAPH, NS
from tests.contract.suite.base import every
from tests.rows import triples_at
from tests.sampling import extended
from tests.services import Virtuoso

TWO_HOPS = "film.actor.film.film.performance.film"


async def _entity(graph: GraphAdapter, reference: str) -> Entity:
    return (await graph.describe([reference]))[reference]


@pytest.mark.parametrize("reference", ["m.film", "/m/film", "ns:m.film", "fb:m.film", f"{NS}m.film"])
async def test_every_form_of_an_id_is_accepted_and_the_short_one_printed(graph: GraphAdapter, reference: str):
    assert (await _entity(graph, reference)).id == "m.film"


async def test_only_texts_with_the_form_of_an_id_have_a_printed_form(graph: GraphAdapter):
    assert isinstance(graph, FreebaseAdapter)
    blank_node = "_:m.film>film.film.starring>0123abcd"
    assert graph.printed_ids(["A Film", "/m/film", blank_node]) == {"/m/film": "m.film"}
    assert await graph.describe([blank_node]) == {}


@pytest.mark.parametrize("option", ["name", "alias", "description", "type"])
async def test_an_option_that_names_a_relation_no_triple_has_is_refused_with_the_nearest(freebase: str, option: str):
    with pytest.raises(ConfigurationError, match=f"no relation 'type.object.nam' of the option '{option}'") as told:
        await open_adapter(freebase, AdapterOptions(extra={option: "type.object.nam"})).open()
    assert told.value.next_step.startswith("Use one of the nearest: type.object.name")


async def test_relations_show_the_names_that_the_graph_gives_them(graph: GraphAdapter):
    page = await graph.relations(["m.actor"], Direction.OUTGOING, limit=50)
    labels = {facts.relation.id: facts.relation.label for facts in page.items}
    assert labels == {"film.actor.film": "Film performances", "type.object.name": "name"}


async def test_relations_of_other_namespaces_are_hidden_until_they_are_requested(freebase: str, graph: GraphAdapter):
    async def seen(adapter: GraphAdapter) -> set[str]:
        return {facts.relation.id for facts in (await adapter.relations(["m.film"], Direction.OUTGOING, limit=9)).items}

    same_as = "http://www.w3.org/2002/07/owl#sameAs"
    assert await seen(graph) == {"film.film.starring", "film.film.site", "type.object.name"}
    async with open_adapter(freebase, AdapterOptions(extra={"namespaces": ["*"]})) as wide:
        assert same_as in await seen(wide)


async def test_ids_outside_the_namespace_are_printed_whole(graph: GraphAdapter):
    page = await triples_at(graph, ["m.film"], Direction.OUTGOING, relation_paths=[("film.film.site",)], limit=5)
    assert [triple.tail for triple in page.items] == [Entity("http://films.example/1")]


async def test_two_hop_relations_are_offered_accepted_and_keep_sibling_roles_together(graph: GraphAdapter):
    actor = await _entity(graph, "m.actor")
    offered = (await get_relations(graph, actor, limits=Limits())).page
    assert TWO_HOPS in [facts.relation.id for facts in offered.items]
    (link,) = (await get_triples(graph, actor, [TWO_HOPS], limits=Limits())).page.items
    _is_the_performance(link.triple)
    filtered = await search(graph, actor, Direction.OUTGOING, only=[TWO_HOPS], limits=Limits())
    assert filtered.rows is not None
    (triple,) = filtered.rows.items
    _is_the_performance(triple)


def _is_the_performance(triple: Triple) -> None:
    assert (triple.head.label, triple.relation.id) == ("Ann Actor", TWO_HOPS)
    assert isinstance(triple.tail, Entity)
    assert triple.tail.label == "A Film"
    roles = {qualifier.relation.id: qualifier.value for qualifier in triple.qualifiers}
    assert set(roles) == {"film.performance.role", "film.performance.character_note"}


@pytest.mark.parametrize("size", [1_000, extended(20_000)])
async def test_a_hub_above_the_row_cap_is_paged_whole_without_gaps_or_repeats(graph: GraphAdapter, size: int):
    read = await every(lambda after: triples_at(graph, ["m.star"], Direction.INCOMING, limit=size, after=after))
    assert sorted(triple.head.id for triple in read) == [f"m.fan{n:05}" for n in range(FANS)]
    assert {triple.head.label for triple in read} == {f"Fan {n}" for n in range(FANS)}


async def test_a_hub_collapses_to_exact_counts_and_examples(graph: GraphAdapter):
    seen = await search(graph, await _entity(graph, "m.star"), Direction.INCOMING, limits=Limits(collapse_single=True))
    assert seen.relations is not None
    (facts,) = seen.relations.items
    assert (facts.relation.id, facts.count) == ("people.person.fan_of", Count(FANS))
    assert [example.label for example in facts.examples if isinstance(example, Entity)] != []


async def test_roles_of_mediators_are_the_properties_of_relationships(graph: GraphAdapter):
    async def notes(owner: str | None) -> Sequence[str]:
        page = await graph.values("film.performance.character_note", owner, ValueOwner.RELATIONSHIP, limit=5)
        return [literal.value.text for literal in page.items]

    assert await notes("film.actor.film") == ["uncredited"]
    for owner in ("people.person.fan_of", None):
        with pytest.raises(Unsupported):
            await notes(owner)
    with pytest.raises(UnknownName):
        await notes("film.no_such_relation")


async def test_namesakes_are_ranked_by_their_number_of_types(graph: GraphAdapter):
    assert [one.entity.id for one in (await graph.find_by_name("twin", limit=5)).items] == ["m.twin1", "m.twin0"]


async def test_names_that_differ_in_letter_case_alone_are_looked_up_by_one_text(graph: GraphAdapter, asked: list[str]):
    found = await graph.find_by_names(["A Film", "a film"], limit=5)
    assert [[one.entity.id for one in page.items] for page in found.values()] == [["m.film"], ["m.film"]]
    looked_up = next(query for query in asked if '"A Film"@en' in query)
    assert looked_up.partition(" UNION ")[0].count('"A Film"@en') == 1  # of a text listed twice, Virtuoso finds nothing


async def test_a_longer_list_of_nodes_than_the_row_cap_is_paged_whole(graph: GraphAdapter):
    read = await every(
        lambda after: graph.nodes(None, "people.person.fan_of", "m.star", limit=4_000, after=after), pages=10
    )
    assert len({entity.id for entity in read}) == len(read) == FANS


async def test_no_graph_named_among_several_is_said_with_their_names(freebase: str, virtuoso: Virtuoso, tmp_path: Path):
    other = tmp_path / "other.nt"
    other.write_text(f'<{NS}m.x> <{NS}type.object.name> "X"@en .\n', encoding="utf-8")
    virtuoso.load(other, "http://toy.example/other")
    with pytest.raises(InvalidStore) as caught:
        await open_adapter(freebase.partition("?")[0], AdapterOptions()).open()
    assert GRAPH in caught.value.message
    assert "default-graph-uri" in caught.value.next_step


async def test_the_revision_changes_with_the_graph(virtuoso: Virtuoso, tmp_path: Path):
    graph = "http://toy.example/growing"
    location = f"freebase+{virtuoso.url}?default-graph-uri={graph}"
    seen: list[str] = []
    for n in range(2):
        path = tmp_path / f"part{n}.nt"
        path.write_text(f'<{NS}m.x> <{NS}type.object.name> "X{n}"@en .\n', encoding="utf-8")
        virtuoso.load(path, graph)
        async with open_adapter(location, AdapterOptions()) as adapter:
            seen.append(adapter.revision)
    assert len(set(seen)) == 2


@pytest.mark.slow
async def test_a_killed_server_is_one_clear_error_and_then_answers_again(own_virtuoso: Virtuoso, tmp_path: Path):
    path = tmp_path / "one.nt"
    path.write_text(f'<{NS}m.x> <{NS}type.object.name> "X"@en .\n', encoding="utf-8")
    own_virtuoso.start()
    own_virtuoso.load(path, GRAPH)
    async with open_adapter(f"freebase+{own_virtuoso.url}", AdapterOptions()) as adapter:
        before = await adapter.describe(["m.x"])
        own_virtuoso.kill()
        with pytest.raises(StoreUnavailable) as caught:  # who waits for it gets a time-out
            await adapter.describe(["m.y"])
        assert caught.value.next_step
        own_virtuoso.start()
        assert await adapter.describe(["m.x", "m.y"]) == before


def test_the_papers_own_table_is_made_from_freebase(freebase: str):
    asked = ["entity=Ann Actor", "direction=outgoing", "--graph", f"fb={freebase}", "--paper-format"]
    answer = CliRunner().invoke(main, ["call", "search", *asked], prog_name="kgnav")
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[1:3] == ["property|propertyLabel|value|valueLabel", "--|--|--|--"]
    assert "film.actor.film|Film performances|m.performance|" in answer.stdout.splitlines()


@pytest.mark.parametrize(
    ("hint", "found"),
    [
        ("Capitol", ["m.capital"]),
        ("Strangger", ["m.role"]),
        ("Strangle", ["m.role"]),
        ("Ann Aktor", ["m.actor"]),
        ("Strand", []),
        ("Kapital", []),
    ],
)
async def test_a_word_that_is_misspelt_behind_its_fourth_letter_finds_what_is_much_like_it(
    graph: GraphAdapter, hint: str, found: list[str]
):
    page = await graph.find(hint, limit=5)
    assert [candidate.entity.id for candidate in page.items] == found
    assert all(0.5 < candidate.score < 1 for candidate in page.items)
