"""Trails as resources: a transcript, JSON, a flowchart and a picture, for those whose trails they are."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.server.auth.provider import AccessToken
from mcp_types import INVALID_PARAMS, TextResourceContents

from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
from kgnav_mcp.server import build_server, recording
from kgnav_mcp.trails import trail_schema
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


async def test_a_trail_is_read_by_the_caller_alone_who_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with walking() as walker:
        token = AccessToken(token="any", client_id="other", scopes=[])  # noqa: S106 - no secret
        monkeypatch.setattr(recording, "get_access_token", lambda: token)
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
