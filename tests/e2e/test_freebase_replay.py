"""Freebase on a live Virtuoso, walked through a real server: gold paths, every relation, two hubs, a crash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.datasets import dataset
from tests.services import Virtuoso

from kgnav_bench import freebase, freebase_reach
from kgnav_bench.client import BareClient, ToolFailedError
from kgnav_bench.metaqa import Neighbours
from kgnav_bench.tables import parse

pytestmark = pytest.mark.extended

GRAPH = "http://example.org/freebase"
NS = freebase.NAMESPACE
EVERY = 8
"""Of the relations one in so many is walked; `kgnav-bench reach freebase` walks them all."""

FAMILY = f"""\
<{NS}m.01> <{NS}type.object.name> "Ada"@en .
<{NS}m.02> <{NS}type.object.name> "Byron"@en .
<{NS}m.01> <{NS}people.person.parents> <{NS}m.02> .
"""


def at(service: Virtuoso) -> str:
    """The address of one graph of a Virtuoso: without its name a query reads all of them."""
    return f"{service.url}?default-graph-uri={quote(GRAPH, safe='')}"


@pytest.fixture(scope="session")
def fb15k237() -> Path:
    """The folder with the data set and its questions."""
    return dataset("fb15k237")


@pytest.fixture(scope="session")
def truth(fb15k237: Path) -> Neighbours:
    return freebase.source_neighbours(fb15k237)


@pytest.fixture(scope="session")
def loaded(virtuoso: Virtuoso, fb15k237: Path, tmp_path_factory: pytest.TempPathFactory) -> Virtuoso:
    """A Virtuoso with the data set in it."""
    source = tmp_path_factory.mktemp("freebase") / "freebase.nt.gz"
    freebase.convert(fb15k237, source)
    virtuoso.load(source, GRAPH)
    return virtuoso


@pytest.fixture(scope="session")
def client(loaded: Virtuoso) -> Iterator[BareClient]:
    """A server of that Virtuoso, started as a client starts it."""
    with BareClient(freebase_reach.endpoint_command(at(loaded))) as started:
        yield started


def test_every_gold_relation_is_offered_and_every_gold_answer_shown_by_search(
    client: BareClient, fb15k237: Path
) -> None:
    walked = freebase_reach.by_search(client, freebase_reach.gold_walks(fb15k237))

    assert len(walked) == 133
    assert [each for each in walked if not each.reached] == []


def test_every_gold_relation_is_offered_and_every_gold_answer_shown_by_graphwalkers_tools(
    client: BareClient, fb15k237: Path
) -> None:
    walked = freebase_reach.by_relations(client, freebase_reach.gold_walks(fb15k237))

    assert len(walked) == 133
    assert [each for each in walked if not each.reached] == []


@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_relations_are_walked_from_both_ends_through_mediators_or_not(
    client: BareClient, fb15k237: Path, direction: str
) -> None:
    walks = [walk for walk in freebase_reach.relation_walks(fb15k237) if walk.step.direction == direction]

    assert len(walks) == 234  # three more only tie entities to themselves
    some = walks[::EVERY]
    for walked in (freebase_reach.by_search(client, some), freebase_reach.by_relations(client, some)):
        assert [each for each in walked if not each.reached] == []


def test_two_hubs_are_paged_in_full_with_nothing_lost_or_twice(client: BareClient, truth: Neighbours) -> None:
    paged = freebase_reach.page_hubs(client, truth)

    assert [len(each.truth) for each in paged] == [3552, 3552, 954, 954]
    assert [each for each in paged if each.lost or each.surplus] == []


@pytest.mark.parametrize(
    "hub",
    [
        ("m.09c7w0", "incoming"),
        ("m.09c7w0", "outgoing"),
        ("m.09nqf", "incoming"),
        ("m.07ssc", "incoming"),
        ("m.02h40lc", "incoming"),
        ("m.07s9rl0", "incoming"),
    ],
)
def test_a_hub_is_shown_as_its_relations_with_exact_counts_and_named_examples(
    client: BareClient, truth: Neighbours, hub: tuple[str, str]
) -> None:
    entity, direction = hub
    table = parse(client.call("search", {"entity": entity, "direction": direction}))

    shown = dict(zip(table.column("property"), table.column("rows"), strict=True))
    examples = dict(zip(table.column("property"), table.column("examples"), strict=True))
    wanted = {relation: f"{len(ends):,}" for relation, ends in truth[entity, direction].items()}
    assert {relation: shown.get(relation) for relation in wanted} == wanted
    assert [relation for relation in wanted if not _named(examples[relation], truth[entity, direction][relation])] == []


def _named(examples: str, ends: Sequence[str]) -> bool:
    """Whether examples are two far ends, or the only one, each with its name."""
    shown = [example.removesuffix(")").rpartition(" (") for example in examples.split("; ")]
    return len(shown) == min(2, len(set(ends))) and all(name and end in ends for name, _, end in shown)


def test_a_crash_of_the_store_is_one_clear_error_and_then_all_is_as_before(
    own_virtuoso: Virtuoso, tmp_path: Path
) -> None:
    source = tmp_path / "family.nt"
    source.write_text(FAMILY, encoding="utf-8")
    own_virtuoso.start()
    own_virtuoso.load(source, GRAPH)
    asked = {"entity": "m.01", "direction": "outgoing"}
    with BareClient(freebase_reach.endpoint_command(at(own_virtuoso))) as client:
        before = client.call("search", asked)
        own_virtuoso.kill()
        with pytest.raises(ToolFailedError) as failed:
            client.call("search", asked)
        own_virtuoso.start()
        after = client.call("search", asked)

    assert "Byron" in before
    assert after == before
    assert own_virtuoso.url.removesuffix("/sparql") in str(failed.value)
    assert "Traceback" not in str(failed.value)
    assert len(str(failed.value)) < 500
