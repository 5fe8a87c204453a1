"""Trails as resources: a transcript, JSON, a flowchart and a picture, for those whose trails they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from xml.etree import ElementTree

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.server.auth.provider import AccessToken
from mcp_types import INVALID_PARAMS, TextResourceContents

from kgnav_mcp import app as app_module
from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
from kgnav_mcp.errors import TrailFull
from kgnav_mcp.model import Entity, Literal, Qualifier, Relation, TrailStep, Triple
from kgnav_mcp.render.text import count_tokens
from kgnav_mcp.server import build_server, trail_recorder
from kgnav_mcp.trails import TrailLimits, trail_schema
from kgnav_mcp.trails.trail_keeper import PAGE_SIZE
from tests.sampling import extended
from tests.server.test_trails import Walker, walking


async def read(walker: Walker, kind: str = "", handle: str = "") -> TextResourceContents:
    (content,) = (await walker.connected.read_resource(f"kg://trail/{handle or walker.trail}{kind}")).contents
    assert isinstance(content, TextResourceContents)
    return content


async def test_a_trail_is_read_in_each_format_with_its_mime_type() -> None:
    async with walking() as walker:
        await walker.search()
        await walker.verdicts("Delft")
        transcript = await read(walker)
        assert transcript.mime_type == "text/markdown"
        assert transcript.text == await walker.answer("show_trail", trail=walker.trail)
        exported = await read(walker, "/json")
        assert exported.mime_type == "application/json"
        jsonschema.validate(json.loads(exported.text), trail_schema())
        assert [step["tool"] for step in json.loads(exported.text)["steps"]] == ["search", "check_answer"]
        chart = await read(walker, "/mermaid")
        assert (chart.mime_type, chart.text.splitlines()[0]) == ("text/vnd.mermaid", "flowchart LR")
        assert '{{"Delft"}}' in chart.text
        picture = await read(walker, "/svg")
        assert picture.mime_type == "image/svg+xml"
        assert ElementTree.fromstring(picture.text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own


@pytest.mark.parametrize("kind", ["", "/json", "/mermaid", "/svg"])
async def test_an_unknown_handle_is_not_found_and_says_what_to_do(kind: str) -> None:
    async with walking() as walker:
        with pytest.raises(
            MCPError, match=r"^Not found: no trail has the handle 'trail-x'.*\nNext: start_trail"
        ) as said:
            await read(walker, kind, "trail-x")
        assert said.value.error.code == INVALID_PARAMS


def same_text(number: int) -> TrailStep:
    """A step whose every text is one letter, often."""
    return repeated("x" * 20_000, number)


def long_texts(number: int) -> TrailStep:
    """A step whose every text is long."""
    return repeated(" ".join(f"word{word}" for word in range(2_000)), number)


async def fill(walker: Walker, step: Callable[[int], TrailStep]) -> None:
    """Add steps until the trail takes no more."""
    for number in count(1):
        try:
            await walker.app.trails.add(walker.trail, step(number))
        except TrailFull:
            return


def repeated(text: str, number: int) -> TrailStep:
    entity = Entity(f"ex:{text[:500]}{number}", text, (text,), text)
    edge = Triple(entity, Relation(text, text), Literal(text), (Qualifier(Relation(text, text), Literal(text)),))
    return TrailStep("search", {"entity": [text]}, float(number), text, False, (entity.id,), (entity,), (edge,))


def many_rows(number: int) -> TrailStep:
    """A step with as many rows as a summary has at most."""
    hub, relation = Entity(f"ex:{number}", f"Hub {number}"), Relation("ex:r", "r")
    edges = tuple(Triple(hub, relation, Entity(f"ex:{number}-{row}", f"Row {row}")) for row in range(1_000))
    return TrailStep("search", {"entity": [hub.id]}, float(number), "1000 rows", False, (hub.id,), (hub,), edges)


@pytest.mark.parametrize("step", [same_text, long_texts, extended(many_rows)])
async def test_every_output_of_a_full_trail_is_bounded_and_says_where_the_rest_is(
    step: Callable[[int], TrailStep], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "TrailLimits", partial(TrailLimits, trail_size=500_000))
    async with walking() as walker:
        await fill(walker, step)
        transcript = await walker.answer("show_trail", trail=walker.trail)
        assert count_tokens(transcript) <= walker.app.settings.budget
        rest = f"are summarised: kg://trail/{walker.trail}/json has them all."
        assert transcript.endswith(rest) == ("\n1 to " in transcript)
        assert transcript.endswith(rest) or step is not many_rows
        assert (await read(walker)).text == transcript
        first = json.loads((await read(walker, "/json")).text)
        assert (
            f"Next: kg://trail/{walker.trail}/json?page=2, or kgnav trail {walker.trail} --format json --page 2"
            in (first["note"])
        )
        for page in (1, 2, first["pages"]):
            assert len((await read(walker, f"/json?page={page}")).text.encode()) <= PAGE_SIZE
        for kind in ("/svg", "/mermaid"):
            picture = (await read(walker, kind)).text
            assert len(picture.encode()) <= 200_000
            assert ("Omitted: " in picture) == (step is many_rows)


@pytest.mark.parametrize("page", ["0", "2", "x", "-1", "9" * 400])
async def test_a_page_that_is_not_there_is_named_with_those_that_are(page: str) -> None:
    async with walking() as walker:
        with pytest.raises(MCPError, match="Its pages are 1 to 1") as said:
            await read(walker, f"/json?page={page}")
        assert said.value.error.code == INVALID_PARAMS


async def test_a_trail_is_read_by_the_caller_alone_who_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with walking() as walker:
        token = AccessToken(token="any", client_id="other", scopes=[])  # noqa: S106 - no secret
        monkeypatch.setattr(trail_recorder, "get_access_token", lambda: token)
        with pytest.raises(MCPError, match="no trail has the handle"):
            await read(walker, "/json")


async def test_without_its_package_a_picture_names_the_extra_and_a_flowchart_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    async with walking() as walker:
        await walker.search()
        with pytest.raises(MCPError, match=r"pip install 'kgnav-mcp\[pictures\]'"):
            await read(walker, "/svg")
        assert (await read(walker, "/mermaid")).text.startswith("flowchart LR")


async def test_without_the_toolset_there_are_no_trails_to_read() -> None:
    async with Client(build_server(App(Settings()))) as connected:
        templates = (await connected.list_resource_templates()).resource_templates
        assert [one.name for one in templates if "trail" in one.uri_template] == []
    async with walking() as walker:
        templates = (await walker.connected.list_resource_templates()).resource_templates
        names = [one.name for one in templates if "trail" in one.uri_template]
    assert names == ["trail", "trail_json", "trail_mermaid", "trail_svg"]
