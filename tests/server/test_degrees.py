"""The tool `get_degree`: exact numbers of triples, lower bounds marked as such, and errors that say what to ask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter
from kgnav_mcp.config import Settings
from kgnav_mcp.model import AnchoredPage, Count, RelationFacts, Stop
from tests.server.clients import call, client, refused

COUNTS = Settings(toolsets=("counts",))
HEADING = "entity|entityLabel|direction|triples\n--|--|--|--\n"


async def degree(**arguments: object) -> str:
    return await call("get_degree", arguments, COUNTS)


async def total(entity: str, direction: str, **more: object) -> int:
    """The number of rows of `search`, which reads them."""
    settings = Settings(structured=True, paper_format=False, hub_threshold=100_000)
    async with client(settings) as connected:
        arguments = {"entity": entity, "direction": direction, **more}
        facts: Any = (await connected.call_tool("search", arguments)).structured_content
    return facts["completeness"]["total"]


async def test_both_directions_are_counted_at_a_hub_too_as_search_reads_them() -> None:
    outgoing, incoming = await total("the_netherlands", "outgoing"), await total("the_netherlands", "incoming")
    assert outgoing > 50 < incoming
    assert await degree(entity="the_netherlands") == (
        f"2 counts\n{HEADING}the_netherlands|The Netherlands|outgoing|{outgoing}\n"
        f"the_netherlands|The Netherlands|incoming|{incoming}"
    )


async def test_a_relation_is_counted_alone_also_by_its_label_and_is_zero_where_it_is_absent() -> None:
    number = await total("the_netherlands", "outgoing", properties_to_filter_for=["contains"])
    text = await degree(entity=["the_netherlands", "zundert"], relation="contains", direction="outgoing")
    assert text.splitlines()[1:] == [
        "entity|entityLabel|relation|direction|triples",
        "--|--|--|--|--",
        f"the_netherlands|The Netherlands|contains|outgoing|{number}",
        "zundert|Zundert|contains|outgoing|0",
    ]
    [*_, last] = (await degree(entity="Vincent van Gogh", relation="lived in", direction="outgoing")).splitlines()
    assert last.startswith("vincent_van_gogh|Vincent van Gogh|lived_in|outgoing|")


async def test_unknown_names_are_refused_with_a_call_that_works() -> None:
    assert "no entity has the id or name 'nobody'" in await refused("get_degree", {"entity": "nobody"}, COUNTS)
    unknown = await refused("get_degree", {"entity": "zundert", "relation": "located"}, COUNTS)
    assert "'zundert' has no relation 'located'" in unknown
    assert 'get_degree(entity="zundert", relation="located_in")' in unknown
    turned = await refused("get_degree", {"entity": "zundert", "relation": "contains", "direction": "outgoing"}, COUNTS)
    assert "repeat the call with direction=incoming" in turned


async def test_the_counts_of_many_entities_go_on_behind_a_cursor() -> None:
    many = ["the_netherlands", "zundert", "paris", "amsterdam", "vincent_van_gogh", "leiden"]
    settings = COUNTS.model_copy(update={"budget": 500})
    seen, pages = list[str](), 0
    cursor: str | None = None
    async with client(settings.model_copy(update={"structured": True})) as connected:
        while cursor is not None or not seen:
            given = {"entity": many, **({"cursor": cursor} if cursor else {})}
            facts: Any = (await connected.call_tool("get_degree", given)).structured_content
            assert facts["completeness"]["total"] == 2 * len(many)
            seen += [row["entity"]["id"] for row in facts["rows"]]
            cursor, pages = facts["completeness"]["cursor"], pages + 1
    assert pages > 1
    assert seen == [one for one in many for _ in range(2)]


@pytest.mark.parametrize("stop", [Stop.TIME_OUT, Stop.LIMIT])
async def test_a_count_of_a_store_that_did_not_list_all_relations_is_a_lower_bound(
    monkeypatch: pytest.MonkeyPatch, stop: Stop
) -> None:
    read = EmbeddedAdapter.relations

    async def cut(self: EmbeddedAdapter, *given: Any, **named: Any) -> AnchoredPage[RelationFacts]:
        return replace(await read(self, *given, **named), stop=stop)

    monkeypatch.setattr(EmbeddedAdapter, "relations", cut)
    text = await degree(entity="zundert", direction="incoming")
    assert text.splitlines()[-2:] == [
        f"zundert|Zundert|incoming|{await total('zundert', 'incoming')}+",
        "A number with + is a lower bound: the store did not count all triples.",
    ]


async def test_a_count_that_the_store_marks_as_a_lower_bound_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    read = EmbeddedAdapter.relations

    async def least(self: EmbeddedAdapter, *given: Any, **named: Any) -> AnchoredPage[RelationFacts]:
        page = await read(self, *given, **named)
        return replace(page, items=tuple(replace(one, count=Count.at_least(one.count.value)) for one in page.items))

    monkeypatch.setattr(EmbeddedAdapter, "relations", least)
    assert "incoming|5+\n" in await degree(entity="zundert")
