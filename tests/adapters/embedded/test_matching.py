"""Rows found by their far ends: as reading and comparing them finds, without reading a hub."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.session import Row, Session
from kgnav_mcp.model import AnchoredPage, Direction, Entity, Link
from kgnav_mcp.port import AdapterOptions, FarEndFilter, FarEndKind, GraphAdapter, far_end_filters
from tests.adapters.embedded.loaded import PREFIXES
from tests.contract import toy

GUESTS = 400
NAMES = "Ada Stone", "Adam Rivers", "Zoë Lake", "Ünal Hill", "Old_Mill House"
WORDS = [
    "ada",
    "stone 7",
    "ZOE lake",
    "zoë",
    "unal",
    "mill house 3",
    "rivrs 11",
    "a",
    "ex guest7",
    "no such",
    "",
    "note 3",
]


def turtle() -> str:
    lines = [":hub a :Place ; rdfs:label 'The Hub'@en ."]
    for n in range(GUESTS):
        name = f"rdfs:label '{NAMES[n % len(NAMES)]} {n}'@en ; " if n % 7 else ""
        kind = ("Person", "Sailor", "Place")[n % 3]
        lines.append(
            f":guest{n} a :{kind} ; {name} skos:altLabel 'guest {n}' ; :visited :hub ; :knows :guest{n // 2} ."
        )
        if n % 2:
            lines.append(f":hub :hosts :guest{n} ; :note 'Note {n} of the hub' .")
        if n % 5 == 0:
            lines.append(f":hub :stay [ :who :guest{n} ; :year '{n}' ] .")
    return PREFIXES + "\n".join(lines)


@pytest.fixture(scope="module")
def hub_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matching")
    (folder / "g.ttl").write_text(turtle(), encoding="utf-8")
    load([folder / "g.ttl"], folder / "g.kg", LoadOptions(mediators="unnamed"))
    return folder / "g.kg"


@pytest.fixture
async def graph(hub_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(hub_file), AdapterOptions()) as adapter:
        yield adapter


AROUND = [
    ([":hub"], None, None),
    ([":hub"], Direction.INCOMING, [(":visited",)]),
    ([":guest3", ":hub", ":guest8", ":nobody", *(f":guest{n}" for n in range(40, 90))], None, None),
    ([":hub"], Direction.OUTGOING, [(":stay",), (":stay", ":who"), (":stay", ":year")]),
    ([f":guest{n}" for n in range(30)], Direction.INCOMING, [(":stay", ":who"), (":knows",)]),
]
FAR = [FarEndFilter(words=words) for words in WORDS] + [
    FarEndFilter(label="person", shown_labels=(":Person",)),
    FarEndFilter(label="Sailor", words="stone", shown_labels=(":Sailor",)),
    FarEndFilter(label="Nobody"),
    FarEndFilter(FarEndKind.LITERAL, words="12"),
    FarEndFilter(FarEndKind.ENTITY, words="1"),
]


@pytest.mark.parametrize("far", FAR, ids=str)
async def test_rows_that_match_are_those_that_reading_and_comparing_finds(graph: GraphAdapter, far: FarEndFilter):
    for ids, direction, relation_paths in AROUND:
        expected = await read_and_compared(graph, ids, direction, relation_paths, far)
        whole = await graph.matching(ids, direction, relation_paths=relation_paths, far=far, limit=10_000)
        assert whole == expected
        pages = [await graph.matching(ids, direction, relation_paths=relation_paths, far=far, limit=3)]
        while pages[-1].items and len(pages) < 4:
            after = pages[-1].positions[-1]
            pages.append(
                await graph.matching(ids, direction, relation_paths=relation_paths, far=far, limit=3, after=after)
            )
        paged = [link for page in pages for link in page.items]
        assert paged == list(expected.items[: len(paged)])
        assert len(paged) == min(len(expected.items), 3 * 4)


async def read_and_compared(
    graph: GraphAdapter, ids: Sequence[str], direction: Direction | None, relation_paths: Any, far: FarEndFilter
) -> AnchoredPage[Link]:
    return await far_end_filters.matching(
        graph, far_end_filters.MatchRequest(ids, direction, relation_paths, far, 10_000)
    )


@pytest.mark.parametrize(
    "far", [FarEndFilter(words="stone 35"), FarEndFilter(words="ston 35"), FarEndFilter(label="Harbour")]
)
async def test_of_a_hub_only_the_rows_that_match_are_read(graph: GraphAdapter, far: FarEndFilter):
    rows: list[int] = []

    def read(session: Session, query: str, *parameters: Any, **more: Any) -> list[Row]:
        found = actual(session, query, *parameters, **more)
        rows.append(0 if query == queries.entities.VOCABULARY else len(found))
        return found

    await graph.describe([":hub"])
    actual = Session._rows  # pyright: ignore[reportPrivateUsage]
    with patch.object(Session, "_rows", autospec=True, side_effect=read):
        page = await graph.matching([":hub"], Direction.INCOMING, far=far, limit=50)
    assert bool(page.items) is (far.label is None)
    assert sum(rows) < GUESTS / 10


async def test_names_are_compared_as_they_are_shown_in_the_languages_that_are_wanted(tmp_path: Path):
    lines = [f":n{n} rdfs:label 'Name {n}'@en, 'Nom {n}'@fr ; :of :hub ." for n in range(100)]
    (tmp_path / "g.ttl").write_text(PREFIXES + "\n".join(lines), encoding="utf-8")
    load([tmp_path / "g.ttl"], tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions(languages=("fr",))) as adapter:
        for words, found in (("nom 7", 11), ("name 7", 0), ("n", 100)):
            page = await adapter.matching([":hub"], Direction.INCOMING, far=FarEndFilter(words=words), limit=200)
            assert len(page.items) == found or page.note == far_end_filters.MISSPELT
            assert all(isinstance(link.far_end, Entity) and "Nom" in (link.far_end.label or "") for link in page.items)


async def test_the_hub_of_the_toy_graph_is_searched_as_it_is_read(toy_file: Path):
    async with open_adapter(str(toy_file), AdapterOptions()) as adapter:
        for far in (
            FarEndFilter(words="boat 7"),
            FarEndFilter(words="vistor number 7"),
            FarEndFilter(label="Person", words="a"),
        ):
            for ids in ([toy.HUB], [toy.HUB, toy.REGISTRY, "ada"]):
                found = await adapter.matching(ids, None, far=far, limit=10_000)
                assert found == await read_and_compared(adapter, ids, None, None, far)
                assert found.items or far.label
