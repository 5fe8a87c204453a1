"""An entity is its id, or a name that only it has; nothing is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock, patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import AmbiguousEntity, InvalidArgument, UnknownEntity, UnknownRelation, Unsupported
from kgnav_mcp.model import Direction, Namesake, Page, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.references import NameIndex, resolve_entity
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.navigation.sample_walks import sample_walk
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.render.text import printable_id, table_cell
from tests.contract import toy


@pytest.mark.parametrize(
    "reference", ["ada", "Ada Stone", "ada stone", "Ada Stein", "Эйда Стоун", "эйда стоун", "The Clockmaker", " ada "]
)
async def test_an_id_or_a_unique_name_in_any_language_is_enough(graph: GraphAdapter, reference: str) -> None:
    assert (await resolve_entity(graph, reference)).id == "ada"


async def test_an_ambiguous_name_gives_all_candidates_and_picks_none(graph: GraphAdapter) -> None:
    with pytest.raises(AmbiguousEntity) as caught:
        await resolve_entity(graph, "Mercury")
    assert {entity.id for entity in caught.value.candidates} == {"mercury_planet", "mercury_metal"}


@pytest.mark.parametrize("name", ["Ada Stone", "Zzqqxx"])
async def test_a_name_is_refused_if_the_store_returned_only_some_of_its_entities(
    graph: GraphAdapter, name: str
) -> None:
    read = graph.find_by_names

    async def partial(names: Sequence[str], *, limit: int) -> dict[str, Page[Namesake]]:
        return {each: replace(page, stop=Stop.ROW_CAP) for each, page in (await read(names, limit=limit)).items()}

    with (
        patch.object(graph, "find_by_names", partial),
        pytest.raises(Unsupported, match=f"did not return every entity with the name '{name}'"),
    ):
        await resolve_entity(graph, name)


async def test_an_unknown_name_gives_the_nearest(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity) as caught:
        await resolve_entity(graph, "Ada Stne")
    assert caught.value.nearest[0].id == "ada"


async def test_a_name_that_is_like_no_other_offers_no_ids(graph: GraphAdapter) -> None:
    with pytest.raises(UnknownEntity) as caught:
        await resolve_entity(graph, "zzqqxx")
    assert not caught.value.nearest
    assert caught.value.next_step.startswith("There is no similar name")


async def test_an_id_is_accepted_as_a_table_printed_it(graph: GraphAdapter) -> None:
    assert table_cell(printable_id(toy.HOSTILE_ID)) != toy.HOSTILE_ID
    assert (await resolve_entity(graph, table_cell(printable_id(toy.HOSTILE_ID)))).id == toy.HOSTILE_ID


async def test_blanks_and_unseen_characters_of_an_id_can_be_copied(tmp_path: Path) -> None:
    ids = [" blanks ", "zero\u200bwidth", "back\\slash\\", "pi|pe", "pi\\|pe"]
    source = tmp_path / "odd.tsv"
    source.write_text("".join(f"{odd}\tknows\tada\n" for odd in ids), encoding="utf-8")
    load([source], tmp_path / "odd.kg")
    async with open_adapter(str(tmp_path / "odd.kg"), AdapterOptions()) as graph:
        for odd in ids:
            assert (await resolve_entity(graph, odd)).id == odd
            assert (await resolve_entity(graph, table_cell(printable_id(odd)))).id == odd


@pytest.mark.parametrize("nothing", ["", "  \n"])
async def test_an_empty_reference_is_refused(graph: GraphAdapter, nothing: str) -> None:
    with pytest.raises(InvalidArgument, match="empty"):
        await resolve_entity(graph, nothing)


@pytest.mark.parametrize("text", toy.HOSTILE_TEXTS)
async def test_a_hostile_name_finds_its_node_or_none(graph: GraphAdapter, text: str) -> None:
    assert (await resolve_entity(graph, text)).types == ("Hostile",)


async def test_a_sample_walk_is_made_of_triples_of_the_graph_and_is_the_same_each_time(graph: GraphAdapter) -> None:
    walk = await sample_walk(graph)
    assert walk is not None
    assert walk == await sample_walk(graph)
    assert walk.steps[0].head.id == walk.start.id
    assert len(walk.steps) == 2
    assert walk.steps[1].head == walk.steps[0].tail


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("NCIT:R108", ["NCIT:R108"]),
        ("R108", ["NCIT:R108"]),
        ("r108", ["NCIT:R108"]),
        ("WD:R108", []),
        ("0002202", []),
        ("RO_0002202", ["RO:0002202"]),
        ("P31", ["wdt:P31"]),
    ],
)
def test_a_relation_is_found_by_its_code_alone_but_not_by_a_number_alone(name: str, found: list[str]) -> None:
    ids = ["NCIT:R108", "RO:0002202", "wdt:P31"]
    assert NameIndex(ids, lambda identity: (identity, "")).find(name) == found


async def test_a_relation_is_called_unknown_only_among_those_that_the_store_listed(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await graph.relations(["ada"], Direction.OUTGOING, limit=100)
    matcher = RelationMatcher(graph, Direction.OUTGOING, Limits())
    entities = [await resolve_entity(graph, "ada")]
    for items in (page.items[:1], ()):
        part = replace(page, items=items, positions=page.positions[: len(items)], stop=Stop.TIME_OUT)
        monkeypatch.setattr(graph, "relations", AsyncMock(return_value=part))
        with pytest.raises(UnknownRelation, match="among those that the store could list") as caught:
            await matcher.require(entities, ["no_such_relation"])
        assert "has no relations" not in caught.value.next_step
