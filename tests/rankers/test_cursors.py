"""A ranked list is gone on with only in the order it began in."""

from __future__ import annotations

import re

import pytest

from kgnav_mcp.config import GraphSettings, Settings
from tests.rankers.stub_endpoint import StubEndpoint
from tests.server.clients import call, refused

QUESTION = {"entity": "ada", "question": "Who is at odds with her?"}


def cursor_in(answer: str) -> str:
    found = re.search(r'next: cursor "([^"]+)"', answer)
    assert found, answer
    return found[1]


def relations_in(answer: str) -> list[str]:
    lines = answer.splitlines()
    rows = lines[lines.index("--|--|--|--") + 1 :]
    return ["|".join(row.split("|")[0:3:2]) for row in rows if "|" in row]


@pytest.fixture
def settings(toy_graph: GraphSettings, endpoint: StubEndpoint) -> Settings:
    return Settings(graphs={"toy": toy_graph}, ranker="llm", llm=endpoint.settings(), top_k=4)


async def test_the_pages_of_a_ranking_show_every_relation_once(settings: Settings, endpoint: StubEndpoint) -> None:
    endpoint.chooses("dislikes", "lives_at")
    whole = relations_in(await call("get_relations", {"entity": "ada"}, settings))
    page = await call("get_relations", QUESTION, settings)
    paged = relations_in(page)
    while "next: cursor" in page:
        page = await call("get_relations", {**QUESTION, "cursor": cursor_in(page)}, settings)
        paged += relations_in(page)
    assert sorted(paged) == sorted(whole)


async def test_a_cursor_of_an_order_that_is_no_more_is_refused(settings: Settings, endpoint: StubEndpoint) -> None:
    endpoint.chooses("dislikes")
    page = await call("get_relations", QUESTION, settings)
    endpoint.chooses("lives_at")
    text = await refused("get_relations", {**QUESTION, "cursor": cursor_in(page)}, settings)
    assert "the order of the relations has changed" in text
    assert "without the cursor" in text
