"""The property catalogue: read once, kept on disk, refreshed when it is old, done without when it cannot be read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.stub import Exchange, Handler, Stub, always, serving
from tests.adapters.wikidata.stubbed import BASE, Endpoint, iri, number, opened, query_of, rows, wikibase

T = TypeVar("T")


def options(folder: Path | None, **extra: object) -> AdapterOptions:
    return AdapterOptions(timeout=5, cache=folder, extra={"base": BASE, **extra})


async def _one_relation(exchange: Exchange) -> None:
    counted = "GROUP BY" in query_of(exchange)
    row = {"s": iri(f"{BASE}/entity/Q42"), "p": iri(f"{BASE}/prop/P31"), "n": number(1)}
    await exchange.answer(rows(row) if counted else rows())


async def label(graph: GraphAdapter) -> str:
    page = await graph.relations(["Q42"], Direction.OUTGOING, limit=5)
    return page.items[0].relation.label


async def until(ask: Callable[[], Awaitable[T]], fits: Callable[[T], bool]) -> bool:
    """Whether an answer fits at last, within ten seconds."""
    for _ in range(100):
        if fits(await ask()):
            return True
        await asyncio.sleep(0.1)
    return False


def catalogue_requests(stub: Stub) -> int:
    return sum("propertyType" in request.body for request in stub.requests)


def renamed(text: str) -> Handler:
    return wikibase(_one_relation, {"P31": ("WikibaseItem", text)})


def age(folder: Path, hours: float) -> None:
    """Make the kept catalogue older."""
    (file,) = folder.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["read"] -= hours * 3600
    file.write_text(json.dumps(content), encoding="utf-8")


async def test_it_is_read_once_and_then_taken_from_disk(tmp_path: Path):
    async with serving(renamed("instance of")) as stub:
        for _ in range(3):
            async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
                assert await label(graph) == "instance of"
        assert catalogue_requests(stub) == 1
    assert len(list(tmp_path.iterdir())) == 1


async def test_an_old_one_answers_at_once_and_is_read_anew_meanwhile(tmp_path: Path):
    handler = renamed("old name")

    async def answer(exchange: Exchange) -> None:
        await handler(exchange)

    async with serving(answer) as stub:
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            await label(graph)
        age(tmp_path, hours=25)
        handler = renamed("new name")
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await until(lambda: label(graph), lambda name: name == "new name")
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await label(graph) == "new name"
        assert catalogue_requests(stub) == 2


async def test_how_old_it_may_get_is_an_option(tmp_path: Path):
    async with serving(renamed("instance of")) as stub:
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            await label(graph)
        age(tmp_path, hours=25)
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path, cache_hours=48)) as graph:
            await label(graph)
            await asyncio.sleep(0.05)
        assert catalogue_requests(stub) == 1


async def test_an_old_one_that_cannot_be_read_anew_goes_on_and_doctor_is_told(tmp_path: Path):
    down = False

    async def answer(exchange: Exchange) -> None:
        lost = down and "directClaim" in exchange.request.body
        await (always("", status="500 X") if lost else renamed("instance of"))(exchange)

    async with serving(answer) as stub:
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            await label(graph)
        age(tmp_path, hours=25)
        down = True
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await label(graph) == "instance of"
            assert await until(
                graph.health, lambda health: any("could not be refreshed" in each for each in health.advice)
            )


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 0}', '{"format": 1, "base": "x", "read": 0}', "\x00"])
async def test_a_damaged_file_is_read_anew_from_the_endpoint(tmp_path: Path, content: str):
    async with serving(renamed("instance of")) as stub:
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            await label(graph)
        (file,) = tmp_path.glob("*.json")
        file.write_text(content, encoding="utf-8")
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await label(graph) == "instance of"
        assert catalogue_requests(stub) == 2


async def test_endpoints_and_languages_have_a_file_each(tmp_path: Path):
    async with serving(renamed("instance of")) as stub:
        for languages in (("en",), ("de",)):
            given = AdapterOptions(languages=languages, cache=tmp_path, extra={"base": BASE})
            async with open_adapter(f"wikidata+{stub.url}", given):
                pass
    assert len(list(tmp_path.glob("*.json"))) == 2


async def test_a_folder_whose_place_is_taken_costs_nothing_but_time(tmp_path: Path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    given = options(tmp_path / "taken")
    async with serving(renamed("instance of")) as stub, open_adapter(f"wikidata+{stub.url}", given) as graph:
        assert await label(graph) == "instance of"


async def test_labels_that_take_too_long_leave_the_datatypes_and_are_requested_again(tmp_path: Path):
    slow = True
    known = renamed("instance of")

    async def answer(exchange: Exchange) -> None:
        late = slow and "directClaim ?direct ; rdfs:label" in query_of(exchange)
        await (always("TimeoutException", status="500 X") if late else known)(exchange)

    async with serving(answer) as stub:
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await label(graph) == "P31"
            assert any("labels of its properties could not be listed" in each for each in (await graph.health()).advice)
        slow = False
        async with open_adapter(f"wikidata+{stub.url}", options(tmp_path)) as graph:
            assert await label(graph) == "instance of"


async def test_a_password_in_the_address_is_in_no_text_of_the_graph(tmp_path: Path):
    async with serving(renamed("instance of")) as stub:
        location = f"wikidata+{stub.url.replace('//', '//ann:secret@')}"
        async with open_adapter(location, options(tmp_path)) as graph:
            health = await graph.health()
            assert "secret" not in f"{graph.revision} {health.store} {health.advice}"
    assert "secret" not in "".join(file.read_text(encoding="utf-8") for file in tmp_path.iterdir())


async def test_what_a_schema_was_read_for_is_not_read_again():
    uses = [{"p": iri(f"{BASE}/prop/P31"), "n": number(7)}]
    async with opened(wikibase(Endpoint((r"WHERE { \?s \?p \?st", uses)))) as (graph, stub):
        whole, part = await graph.schema(limit=5), await graph.schema("country", limit=5)
        asked = len(stub.requests)
        assert (await graph.schema(limit=5), await graph.schema("country", limit=5)) == (whole, part)
        assert len(stub.requests) == asked
