"""Finding by name: through the Wikibase's search API, by meaning, and by labels where neither is there."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidStore, RateLimited, StoreTimeout, StoreUnavailable
from kgnav_mcp.model import Count, Stop
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.stub import Exchange, Handler, Stub, always, serving
from tests.adapters.wikidata.stubbed import BASE, iri, literal, number, opened, query_of, rows, wikibase

_JSON = "application/json"
ADAMS = {"id": "Q42", "label": "Douglas Adams", "match": {"type": "label", "text": "Douglas Adams"}}
BOOK = {"id": "Q3107329", "label": "The Guide", "match": {"type": "alias", "text": "Douglas Adams"}}


def entity(local: str) -> str:
    return f"{BASE}/entity/{local}"


async def _described(exchange: Exchange) -> None:
    """Labels, classes and sitelinks of the two."""
    query = query_of(exchange)
    if "rdfs:label" in query:
        labels = (("Q42", "Douglas Adams"), ("Q3107329", "The Guide"), ("Q5", "human"))
        found = [{"s": iri(entity(local)), "o": literal(text, "en")} for local, text in labels]
    elif "schema:description" in query:
        found = [{"s": iri(entity("Q42")), "o": literal("an author", "en")}]
    elif "owl:sameAs" in query:
        found = [{"s": iri(entity("Q42")), "p": literal("type"), "o": iri(entity("Q5"))}]
    elif "wikibase:sitelinks" in query:
        found = [
            {"s": iri(entity("Q42")), "p": literal("sitelinks"), "o": number(122)},
            {"s": iri(entity("Q42")), "p": literal("statements"), "o": number(307)},
        ]
    else:
        found = []
    await exchange.answer(rows(*found))


@asynccontextmanager
async def searching(
    api: Handler, *, languages: Sequence[str] = ("en",), vectors: Handler | None = None
) -> AsyncGenerator[tuple[GraphAdapter, Stub]]:
    async with serving(wikibase(_described)) as store, serving(api) as search, serving(vectors or api) as meaning:
        extra: dict[str, object] = {"base": BASE, "search": search.url}
        if vectors is not None:
            extra |= {"vectors": meaning.url, "vector_search": True}
        options = AdapterOptions(languages=tuple(languages), timeout=5, contact="ann@lab.example", extra=extra)
        async with open_adapter(f"wikidata+{store.url}", options) as graph:
            yield graph, search


def found(*entries: object) -> Handler:
    return always(json.dumps({"search": entries, "success": 1}), kind=_JSON)


async def test_candidates_come_from_the_search_with_description_classes_and_sitelinks():
    async with searching(found(ADAMS, BOOK)) as (graph, api):
        page = await graph.find("douglas adams", limit=5)
    best, other = page.items
    assert (best.entity.id, best.entity.label, best.entity.types) == ("wd:Q42", "Douglas Adams", ("human",))
    assert (best.entity.description, best.sitelinks, best.degree.value, best.score) == ("an author", 122, 307, 0.99)
    assert (other.entity.id, other.score, other.sitelinks) == ("wd:Q3107329", 0.97, None)
    asked = parse_qs(urlsplit(api.requests[0].line.split()[1]).query)
    assert (asked["action"], asked["search"], asked["language"]) == (["wbsearchentities"], ["douglas adams"], ["en"])
    assert "(ann@lab.example)" in api.requests[0].headers["user-agent"]


async def test_a_name_is_the_label_in_any_case_and_an_alias_where_no_label_is():
    async with searching(found(ADAMS, BOOK)) as (graph, _):
        assert [each.entity.id for each in (await graph.find_by_name("DOUGLAS ADAMS", limit=5)).items] == ["wd:Q42"]
        assert (await graph.find_by_name("Douglas", limit=5)).items == ()
    async with searching(found(BOOK)) as (graph, _):
        assert [each.entity.id for each in (await graph.find_by_name("Douglas Adams", limit=5)).items] == [
            "wd:Q3107329"
        ]


async def test_each_wanted_language_is_searched():
    async with searching(found(ADAMS), languages=("fr", "de")) as (graph, api):
        await graph.find("Adams", limit=5)
    asked = [parse_qs(urlsplit(request.line.split()[1]).query)["language"][0] for request in api.requests]
    assert sorted(asked) == ["de", "fr"]


async def test_a_search_by_meaning_adds_what_no_name_is_like():
    vectors = always(json.dumps([{"QID": "Q3107329", "similarity_score": 0.8}, {"QID": "no id"}]), kind=_JSON)
    async with searching(found(ADAMS), vectors=vectors) as (graph, _):
        page = await graph.find("the man who wrote about towels", limit=5)
    assert [each.entity.id for each in page.items if each.score == 0.5] == ["wd:Q3107329"]


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        (always("", "Retry-After: 300", status="429 X"), RateLimited),
        (always("<html>", kind="text/html"), InvalidStore),
        (always(json.dumps({"error": {"code": "maxlag"}}), kind=_JSON), StoreUnavailable),
        (always("", status="503 X"), StoreUnavailable),
    ],
)
async def test_a_search_that_fails_says_so_and_finds_nothing_else(api: Handler, kind: type[Exception]):
    async with searching(api) as (graph, _):
        with pytest.raises(kind):
            await graph.find("Douglas Adams", limit=5)
        with pytest.raises(kind):
            await graph.find_by_name("Douglas Adams", limit=5)


async def test_entries_that_are_not_as_they_should_be_are_left_out():
    async with searching(found(ADAMS, None, {"id": 3}, {"id": "L99"}, {"id": "Q1|Q2", "label": "x"})) as (graph, _):
        assert [each.entity.id for each in (await graph.find("Adams", limit=9)).items] == ["wd:Q42", "wd:L99"]


async def test_without_a_search_the_very_label_is_found_by_index_and_other_ways_to_write_it_are_not_read_through():
    async def answer(exchange: Exchange) -> None:
        query = query_of(exchange)
        assert "CONTAINS" not in query
        if "skos:altLabel" in query and '"Douglas Adams"@en' in query:
            label = {"s": iri(entity("Q42")), "p": iri("http://www.w3.org/2000/01/rdf-schema#label")}
            await exchange.answer(rows({**label, "o": literal("Douglas Adams", "en")}))
        elif "skos:altLabel" in query:
            await exchange.answer(rows())
        else:
            await _described(exchange)

    async with serving(wikibase(answer)) as store:
        options = AdapterOptions(extra={"base": BASE, "preset": "qlever", "search": ""})
        async with open_adapter(f"wikidata+{store.url}", options) as graph:
            assert [each.entity.id for each in (await graph.find_by_name("douglas adams", limit=5)).items] == ["wd:Q42"]
            assert (await graph.find("Dougals", limit=5)).items == ()


async def test_labels_that_cannot_all_be_read_in_time_are_a_time_out_with_other_ways_to_ask():
    async def answer(exchange: Exchange) -> None:
        slow = "CONTAINS" in query_of(exchange)
        await (always("TimeoutException", status="500 X") if slow else always(rows()))(exchange)

    async with opened(wikibase(answer)) as (graph, _):
        with pytest.raises(StoreTimeout) as caught:
            await graph.find("Nobody", limit=5)
    assert "option search" in caught.value.next_step


async def test_as_many_candidates_as_the_search_gives_are_not_said_to_be_all():
    entries = [{**ADAMS, "id": f"Q{n}"} for n in range(1, 11)]
    async with searching(found(*entries)) as (graph, _):
        page = await graph.find("Douglas Adams", limit=5)
    assert (len(page.items), page.stop) == (5, Stop.LIMIT)


@pytest.mark.parametrize(
    ("given", "total", "stop"), [(49, Count(1), Stop.COMPLETE), (50, Count.at_least(1), Stop.LIMIT)]
)
async def test_namesakes_out_of_a_full_list_of_the_search_are_not_said_to_be_all(given: int, total: Count, stop: Stop):
    others = [{"id": f"Q{n}", "label": f"Douglas Adams {n}"} for n in range(100, 99 + given)]
    async with searching(found(ADAMS, *others)) as (graph, _):
        named, labelled = (
            await graph.find_by_name("Douglas Adams", limit=5),
            await graph.nodes(None, "label", "Douglas Adams", limit=5),
        )
        assert ([each.entity.id for each in named.items], named.total, named.stop) == (["wd:Q42"], total, stop)
        assert ([each.id for each in labelled.items], labelled.total, labelled.stop) == (["wd:Q42"], total, stop)
        page = await graph.nodes(None, "country", "Douglas Adams", limit=5)
        assert (page.total.certainty, page.stop) == (total.certainty, stop)


async def test_candidates_are_not_said_to_be_all_where_more_are_wanted_than_the_search_gives():
    entries = [{**ADAMS, "id": f"Q{n}"} for n in range(1, 51)]
    async with searching(found(*entries)) as (graph, _):
        page = await graph.find("Douglas Adams", limit=60)
    assert (len(page.items), page.total, page.stop) == (50, Count.at_least(50), Stop.LIMIT)


async def test_lists_of_several_languages_are_full_one_by_one():
    entries = [{**ADAMS, "id": f"Q{n}"} for n in range(1, 13)]
    async with searching(found(*entries), languages=("en", "de")) as (graph, _):
        page = await graph.find("Douglas Adams", limit=20)
    assert (len(page.items), page.total, page.stop) == (12, Count(12), Stop.COMPLETE)
