"""A toolset is one value: in the list of toolsets, it is everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from mcp_types import Tool
from scripts.generate_docs import tools_table

from kgnav_mcp.config import TOOLSETS, Settings, ToolsetEntry, load_settings
from kgnav_mcp.config.toolsets import default_toolsets
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.server.toolsets import load_toolsets
from tests.server import notebook
from tests.server.clients import call, client, refused

NOTEBOOK = "notebook"
WITH_NOTEBOOK = (*default_toolsets(), NOTEBOOK)
ROW = "| `write_down(note, page?)` | Keep a note. Notebook; off by default: `--toolsets` has to name `notebook`. |"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toolset of this test is in the list, off by default."""
    monkeypatch.setitem(TOOLSETS, NOTEBOOK, ToolsetEntry("tests.server.notebook:TOOLSET", default=False))


async def tools_of(settings: Settings) -> dict[str, Tool]:
    async with client(settings) as connected:
        return {tool.name: tool for tool in (await connected.list_tools()).tools}


@pytest.mark.usefixtures("listed")
async def test_a_toolset_in_the_list_offers_its_tools_with_their_own_hints() -> None:
    tools = await tools_of(Settings(toolsets=WITH_NOTEBOOK))

    assert list(tools)[-1] == "write_down"
    hints = tools["write_down"].annotations
    assert hints is not None
    assert (hints.read_only_hint, hints.idempotent_hint, hints.destructive_hint) == (False, False, False)
    others = [tool.annotations for name, tool in tools.items() if name != "write_down"]
    assert all(hints is not None and hints.read_only_hint and hints.idempotent_hint for hints in others)
    assert await call("write_down", {"note": "so"}, Settings(toolsets=(NOTEBOOK,))) == "demo: so"


@pytest.mark.usefixtures("listed")
async def test_an_error_of_a_tool_that_changes_something_tries_no_example_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "NOTES", kept := list[str]())
    settings = Settings(toolsets=(NOTEBOOK,))

    error = await refused("write_down", {"note": "so", "page": "middle"}, settings)
    assert error.startswith("Invalid call: 'page' is not valid")
    assert "A call that works" not in error
    assert kept == []


@pytest.mark.usefixtures("listed")
async def test_the_instructions_say_what_its_tools_are_for_and_no_more_that_all_of_them_only_read() -> None:
    async with client() as connected:
        before = connected.instructions or ""
    async with client(Settings(toolsets=WITH_NOTEBOOK)) as connected:
        after = connected.instructions or ""

    *lines, last = before.replace(" Read-only.", "").split("\n")
    assert after.split("\n") == [*lines, "Keep: write_down(note) remembers it.", last]
    assert " Read-only." in before


@pytest.mark.usefixtures("listed")
async def test_its_prompt_has_the_method_the_graph_and_an_example_by_its_own_tools() -> None:
    async with client(Settings(toolsets=(NOTEBOOK,))) as connected:
        (prompt,) = (await connected.list_prompts()).prompts
        (message,) = (await connected.get_prompt(prompt.name, {"question": "Who?"})).messages

    assert (prompt.name, prompt.title) == ("take_notes", "Take notes")
    text = message.content.text if message.content.type == "text" else ""
    assert text.startswith("You write everything down.\n\nThe graph:\n")
    assert '\nwrite_down(note="' in text


@pytest.mark.usefixtures("listed")
def test_the_documentation_lists_its_tools_and_how_to_switch_them_on() -> None:
    assert ROW in tools_table().splitlines()


@pytest.mark.usefixtures("listed")
async def test_a_toolset_that_is_off_by_default_is_on_only_where_it_is_named() -> None:
    assert "write_down" not in await tools_of(Settings())
    assert list(await tools_of(load_settings({"toolsets": "notebook"}))) == ["write_down"]


@pytest.mark.usefixtures("listed")
def test_a_wrong_name_of_a_toolset_is_refused_with_all_there_are() -> None:
    known = [name for name in TOOLSETS if name != NOTEBOOK]
    with pytest.raises(ConfigurationError, match=f"{', '.join(map(repr, known))} or 'notebook'$"):
        load_settings({"toolsets": "notebok"})


def test_a_toolset_that_is_not_in_the_list_is_nowhere() -> None:
    with pytest.raises(ConfigurationError, match=f" or {[*TOOLSETS][-1]!r}$"):
        load_settings({"toolsets": NOTEBOOK})
    assert "write_down" not in tools_table()


def test_every_entry_leads_to_a_toolset_and_no_two_share_a_tool_or_a_prompt() -> None:
    toolsets = load_toolsets()
    assert set(toolsets) == set(TOOLSETS)
    names = [tool.name for toolset in toolsets.values() for tool in toolset.tools]
    names += [prompt.name for toolset in toolsets.values() for prompt in toolset.prompts]
    assert len(names) == len(set(names))


def test_an_entry_that_leads_elsewhere_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    location = "tests.server.notebook:NOT_A_TOOLSET"
    monkeypatch.setitem(TOOLSETS, "other", ToolsetEntry(location))
    with pytest.raises(TypeError, match=f"{location} is not a toolset"):
        load_toolsets(["other"])


@pytest.mark.usefixtures("listed")
def test_the_name_of_a_toolset_stands_in_the_list_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLSETS, "diary", TOOLSETS[NOTEBOOK])
    assert load_toolsets(["diary"]) == {"diary": notebook.TOOLSET}


@pytest.mark.usefixtures("listed")
async def test_a_new_tool_of_a_toolset_is_served_from_its_module_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    (tool,) = notebook.TOOLSET.tools
    more = replace(notebook.TOOLSET, tools=(tool, replace(tool, name="write_up")))
    monkeypatch.setattr(notebook, "TOOLSET", more)

    assert list(await tools_of(Settings(toolsets=(NOTEBOOK,)))) == ["write_down", "write_up"]
    assert await call("write_up", {"note": "so"}, Settings(toolsets=(NOTEBOOK,))) == "demo: so"


@pytest.mark.slow
def test_a_toolset_that_is_off_is_not_imported() -> None:
    program = (
        "import json, sys; from kgnav_mcp.app import App; from kgnav_mcp.config import Settings;"
        "from kgnav_mcp.server import build_server; build_server(App(Settings(toolsets=('sog',))));"
        "print(json.dumps([name for name in sys.modules if name.startswith('kgnav_mcp.server.toolsets.')]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert {name.rpartition(".")[2] for name in json.loads(done.stdout)} == {"sog"}


@pytest.mark.slow
def test_what_runs_plans_is_not_imported_before_the_first_plan() -> None:
    program = (
        "import json, sys; from kgnav_mcp.app import App; from kgnav_mcp.config import Settings;"
        "from kgnav_mcp.adapters import open_adapter; from kgnav_mcp.demo import demo_graph_path;"
        "from kgnav_mcp.port import AdapterOptions; from kgnav_mcp.server import build_server;"
        "build_server(App(Settings())); open_adapter(str(demo_graph_path()), AdapterOptions());"
        "print(json.dumps([name for name in sys.modules if name.startswith('kgnav_mcp.')]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    parts = [name.split(".")[1:] for name in json.loads(done.stdout)]
    assert ["server", "toolsets", "plans"] in parts
    for heavy in (["plan"], ["languages"], ["navigation", "plans"], ["adapters", "embedded", "plans"]):
        assert heavy not in parts
