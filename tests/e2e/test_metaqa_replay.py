"""The film graph of MetaQA, walked through a real server: gold paths, a hub, every neighbour of it, a typo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.datasets import dataset
from tests.sampling import extended

from kgnav_bench.client import BareClient, package_client, server_command
from kgnav_bench.metaqa import HOPS, graph_source, questions, sample, source_neighbours, source_triples
from kgnav_bench.planned import PLANS, PlanReplay
from kgnav_bench.replay import Replay
from kgnav_bench.tables import Table, parse
from kgnav_mcp.adapters.embedded.loading import load

QUESTIONS_PER_HOP = [25, extended(200)]
QUESTIONS_BY_PLAN = [15, extended(50)]
"""`kgnav-bench reach metaqa --plans --all` asks them all."""


@pytest.fixture(scope="session")
def metaqa() -> Path:
    """The folder with the film graph and its questions."""
    return dataset("metaqa")


@pytest.fixture(scope="session")
def films(metaqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The film graph as a graph file."""
    graph = tmp_path_factory.mktemp("films") / "films.kg"
    load([graph_source(metaqa)], graph)
    return graph


@pytest.fixture(scope="session")
def client(films: Path) -> Iterator[BareClient]:
    """A server of the film graph, started as a client starts it."""
    with BareClient(server_command(films)) as started:
        yield started


@pytest.fixture(scope="session")
def replay(client: BareClient, metaqa: Path) -> Replay:
    return Replay(client, source_neighbours(metaqa))


@pytest.mark.slow
@pytest.mark.parametrize("number", QUESTIONS_PER_HOP)
@pytest.mark.parametrize("hops", HOPS)
def test_every_gold_relation_is_offered_and_every_gold_answer_shown(
    replay: Replay, metaqa: Path, hops: int, number: int
) -> None:
    results = [replay.question(each) for each in sample(questions(metaqa, hops), number)]

    assert len(results) == number
    assert [result for result in results if result.missing_relations] == []
    assert [result for result in results if result.missing_answers] == []
    assert [result for result in results if result.surplus_answers] == []


@pytest.mark.slow
@pytest.mark.parametrize("number", QUESTIONS_BY_PLAN)
@pytest.mark.parametrize("hops", [extended(2), 3])
def test_one_plan_for_each_gold_path_shows_every_gold_answer(films: Path, metaqa: Path, hops: int, number: int) -> None:
    with BareClient([*server_command(films), *PLANS]) as client:
        results = [PlanReplay(client).question(each) for each in sample(questions(metaqa, hops), number)]

    assert len(results) == number
    assert [result for result in results if result.missing_answers] == []
    assert [result for result in results if result.surplus_answers] == []
    assert [result for result in results if result.calls != 1] == []


def test_a_hub_is_shown_as_its_relations_with_exact_counts_in_few_characters(client: BareClient, metaqa: Path) -> None:
    around = {place: ends for place, ends in source_neighbours(metaqa).items() if len(ends) > 1}
    entity, direction = max(around, key=lambda place: sum(map(len, around[place].values())))
    counts = {relation: len(ends) for relation, ends in around[entity, direction].items()}

    answer = client.call("search", {"entity": entity, "direction": direction})

    table = parse(answer)
    shown = dict(zip(table.column("property"), table.column("rows"), strict=True))
    assert shown == {relation: f"{count:,}" for relation, count in counts.items()}
    assert sum(counts.values()) > 50
    assert len(answer) < 3000


def test_a_hub_of_one_relation_is_shown_by_its_first_rows_and_their_number(client: BareClient) -> None:
    table = parse(client.call("search", {"entity": "Drama", "direction": "incoming"}))

    assert set(table.column("property")) == {"has_genre"}
    assert (table.total, len(table.rows)) == (4030, 50)
    assert table.cursor is not None


def test_every_neighbour_of_a_hub_is_reached_by_its_cursors_once(client: BareClient, metaqa: Path) -> None:
    heads = [head for head, relation, tail in source_triples(metaqa) if (relation, tail) == ("has_genre", "Drama")]

    pages = list(
        _pages(client, {"entity": "Drama", "direction": "incoming", "properties_to_filter_for": ["has_genre"]})
    )

    values = [value for page in pages for value in page.column("value")]
    assert len(pages) > 1
    assert sorted(values) == sorted(heads)
    assert [page.before for page in pages] == [sum(len(page.rows) for page in pages[:n]) for n in range(len(pages))]
    assert {page.total for page in pages} == {len(heads)}


def test_a_misspelt_name_finds_the_one_who_is_meant_first(client: BareClient) -> None:
    table = parse(client.call("find_node", {"hint": "Quentin Tarrantino"}))

    assert table.column("entity")[0] == "Quentin Tarantino"


async def test_the_mcp_client_is_given_the_same_answers(films: Path, client: BareClient) -> None:
    call = {"entity": "Drama", "direction": "incoming"}

    async with package_client(server_command(films)) as package:
        assert await package.call("search", call) == client.call("search", call)


def _pages(client: BareClient, arguments: dict[str, object]) -> Iterator[Table]:
    cursor: str | None = None
    while True:
        page = parse(client.call("search", arguments | ({"cursor": cursor} if cursor else {})))
        yield page
        cursor = page.cursor
        if cursor is None:
            return
