"""A graph file that is replaced, removed or spoilt while a server is running: noticed by the next call."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from mcp import Client

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import StoreUnavailable
from kgnav_mcp.server import build_server
from tests.server.clients import text_of
from tests.server.processes import PATIENCE_S


def fill(path: Path, tail: str, rows: int = 3) -> None:
    """Load a graph in which `ada` is friends with `rows` others, named after `tail`, over what is at the path."""
    source = path.with_suffix(".tsv")
    source.write_text("".join(f"ada\tfriend\t{tail} {row}\n" for row in range(rows)), encoding="utf-8")
    load([source], path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "friends.kg"
    fill(path, "Grace")
    return path


def serving(path: Path) -> App:
    """An app with the file as its one graph, and ten rows a page."""
    return App(Settings(graphs={"friends": GraphSettings(location=str(path))}, row_limit=10))


LOADS = 12
ALL: Mapping[str, object] = {"entity": "ada", "direction": "outgoing"}
LIST: Mapping[str, object] = {**ALL, "properties_to_filter_for": ["friend"]}


async def answer_text(server: Client, arguments: Mapping[str, object] = ALL, *, tool: str = "search") -> str:
    """The text of an answer or an error; a search for what leaves `ada` where nothing else is asked for."""
    return text_of(await server.call_tool(tool, dict(arguments)))


async def second_page_of(server: Client) -> Mapping[str, object]:
    """The arguments for the second page of the list; the first is asked for here."""
    return {**LIST, "cursor": (await answer_text(server, LIST)).partition('cursor "')[2].partition('"')[0]}


async def test_a_file_that_was_replaced_is_read_anew_with_all_that_was_known_of_it(path: Path):
    async with Client(build_server(serving(path))) as server:
        calls: list[tuple[str, Mapping[str, object]]] = [
            ("search", ALL),
            ("describe_graph", {}),
            ("find_node", {"hint": "Grase 1"}),
            ("get_relations", {"entity": "ada", "question": "Who is a friend?"}),
            ("search", {**ALL, "entity": "nobody at all"}),
        ]
        before = [await answer_text(server, arguments, tool=tool) for tool, arguments in calls]
        assert "Grace 1" in before[0]
        fill(path, "Klara", rows=4)
        after = [await answer_text(server, arguments, tool=tool) for tool, arguments in calls]
        assert "Klara 1" in after[0]
        assert "4 triples" in after[1]
        assert not any("Grace" in text for text in after)


async def test_a_cursor_of_the_file_before_is_refused(path: Path):
    async with Client(build_server(serving(path))) as server:
        fill(path, "Grace", rows=60)
        second_page = await second_page_of(server)
        assert "Grace" in await answer_text(server, second_page)
        fill(path, "Grace", rows=60)
        refused = await answer_text(server, second_page)
        assert "does not belong to this call" in refused
        assert "the graph may have changed" in refused


async def test_a_cursor_holds_when_a_copy_of_the_very_same_file_is_put_in_its_place(path: Path):
    async with Client(build_server(serving(path))) as server:
        fill(path, "Grace", rows=60)
        second_page = await second_page_of(server)
        second = await answer_text(server, second_page)
        assert "Grace" in second
        Path(shutil.copy(path, path.with_suffix(".copy"))).replace(path)
        assert await answer_text(server, second_page) == second


async def test_a_file_that_was_removed_is_missed_until_it_is_back(path: Path):
    async with Client(build_server(serving(path))) as server:
        assert "Grace" in await answer_text(server)
        path.unlink()
        assert f"Store down: the graph file {path} does not exist." in await answer_text(server)
        fill(path, "Klara")
        assert "Klara" in await answer_text(server)


async def test_a_file_that_was_replaced_by_something_else_is_refused_until_it_is_a_graph_again(path: Path):
    async with Client(build_server(serving(path))) as server:
        assert "Grace" in await answer_text(server)
        path.write_text("head\trelation\ttail\n", encoding="utf-8")
        assert f"Store unusable: {path} is not a graph file." in await answer_text(server)
        path.unlink()
        fill(path, "Klara")
        assert "Klara" in await answer_text(server)


async def test_calls_under_way_end_on_the_file_they_began_on_and_then_it_is_closed(path: Path):
    async with serving(path) as app:
        graph = app.graph()
        async with graph.adapter() as before:
            assert list(await before.describe(["Grace 1"])) == ["Grace 1"]
            fill(path, "Klara")
            async with graph.adapter() as after:
                assert list(await after.describe(["Grace 1", "Klara 1"])) == ["Klara 1"]
                # More at once than there are threads yet: none of them may open what is at the path now.
                found = await asyncio.gather(*(before.describe([f"Grace {row}", "Klara 1"]) for row in range(3)))
                assert [list(entities) for entities in found] == [["Grace 0"], ["Grace 1"], ["Grace 2"]]
            assert list(await before.describe(["Grace 0", "Grace 2"])) == ["Grace 0", "Grace 2"]
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match="closed"):
            await before.health()


async def test_no_call_fails_while_the_file_is_replaced_again_and_again_and_nothing_is_left_open(path: Path):
    replaced = 0
    seen: set[str] = set()

    async def call() -> None:
        while replaced < LOADS:
            text = await answer_text(server)
            assert text.startswith("3 rows"), text
            seen.add(text)

    async def replace() -> None:
        nonlocal replaced
        while replaced < LOADS:
            await asyncio.to_thread(fill, path, f"Friend of load {replaced}")
            replaced += 1

    async with Client(build_server(serving(path))) as server:
        await asyncio.gather(replace(), *(call() for _ in range(8)))
        assert len(seen) > 2, "the callers saw several of the files"
        await answer_text(server)
        async with asyncio.timeout(PATIENCE_S):
            while threads() > 4 or replaced_and_open(path):  # noqa: ASYNC110 - threads end without a word
                await asyncio.sleep(0.01)


def threads() -> int:
    """How many threads read graph files."""
    return sum(thread.name == "kgnav-file" for thread in threading.enumerate())


def replaced_and_open(path: Path) -> list[str]:
    """The files of this process that were at the path before, where the system tells."""
    descriptors = Path("/proc/self/fd")
    targets: list[str] = []
    for entry in descriptors.iterdir() if descriptors.is_dir() else ():
        with suppress(FileNotFoundError):  # closed by now
            targets.append(str(entry.readlink()))
    return [target for target in targets if str(path) in target and "(deleted)" in target]
