"""`kgnav trail` writes what a server recorded; `kgnav maze` makes what is fun to record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kgnav_mcp.cli.trail import trail
from kgnav_mcp.config import TrailSettings
from kgnav_mcp.server.exports import EXPORT_FORMATS
from tests.cli.conftest import Kgnav

STORE = ("--trail-store", "trails.db")


@pytest.fixture
def handle(kgnav: Kgnav) -> str:
    """A trail in a file, with one step."""
    on = ("--toolsets", "sog,trail", *STORE)
    begun = kgnav("call", "start_trail", "question=Where is it?", "topic_entities=zundert", *on).stdout
    made = begun.partition("\n")[0].removeprefix("trail: ")
    assert kgnav("call", "search", "entity=zundert", "direction=outgoing", f"trail={made}", *on).exit_code == 0
    return made


def test_a_trail_is_written_in_each_format_from_where_the_server_keeps_it(kgnav: Kgnav, handle: str) -> None:
    assert "Question: Where is it?" in kgnav("trail", handle, *STORE).stdout
    assert json.loads(kgnav("trail", handle, *STORE, "--format", "json").stdout)["question"] == "Where is it?"
    assert kgnav("trail", handle, *STORE, "--format", "mermaid").stdout.startswith("flowchart LR\n")
    assert kgnav("trail", handle, *STORE, "--format", "svg", "-o", "walk.svg").stdout == ""
    assert Path("walk.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_everything_is_written_if_it_is_requested_and_json_by_page(kgnav: Kgnav, handle: str) -> None:
    for _ in range(8):
        kgnav(
            "call",
            "search",
            "entity=the_netherlands",
            "direction=outgoing",
            f"trail={handle}",
            "--toolsets",
            "sog,trail",
            *STORE,
        )
    some = kgnav("trail", handle, *STORE, "--format", "svg").stdout
    whole = kgnav("trail", handle, *STORE, "--format", "svg", "--all").stdout
    assert re.search(r">and \d+ more</text>", some)
    assert "(kgnav trail --all draws all)" in some
    assert not re.search(r">and \d+ more</text>|Left out", whole)
    first = kgnav("trail", handle, *STORE, "--format", "json")
    assert kgnav("trail", handle, *STORE, "--format", "json", "--page", "1").stdout == first.stdout
    assert kgnav("trail", handle, *STORE, "--format", "json", "--all").stdout == first.stdout
    refused = kgnav("trail", handle, *STORE, "--format", "json", "--page", "2")
    assert (refused.exit_code, "this trail has no such page" in refused.stderr) == (1, True)
    short = kgnav("trail", handle, *STORE, "--budget", "600").stdout
    assert "are summarised: kg://trail/" in short
    assert len(kgnav("trail", handle, *STORE, "--budget", "600", "--all").stdout.splitlines()) == 5 + 9


def test_every_format_of_the_server_can_be_written() -> None:
    (option,) = (one for one in trail.params if one.name == "format_name")
    assert list(getattr(option.type, "choices", ())) == list(EXPORT_FORMATS)


def test_a_trail_in_memory_cannot_be_read_and_says_what_can(kgnav: Kgnav) -> None:
    done = kgnav("trail", "trail-x", "--format", "svg")
    assert done.exit_code == 2
    assert "the memory of the server" in done.stderr
    assert "--trail-store" in done.stderr
    assert "kg://trail/trail-x/svg" in done.stderr


def test_an_unknown_trail_names_the_place_that_was_looked_at(kgnav: Kgnav, handle: str) -> None:
    done = kgnav("trail", f"{handle}x", *STORE)
    assert done.exit_code == 1
    assert "no trail has the handle" in done.stderr
    assert "trails.db has no such trail. Check that --trail-store" in done.stderr


def test_an_unknown_trail_in_redis_names_it_without_its_password(kgnav: Kgnav, redis_url: str) -> None:
    store = redis_url.replace("//", "//default:s3cret@")  # a Redis without passwords takes any for its default user
    done = kgnav("trail", "trail-x", "--trail-store", store)
    assert done.exit_code == 1
    assert f"{redis_url} has no such trail." in done.stderr
    assert "s3cret" not in done.stderr + repr(TrailSettings(store=store))


def test_a_place_without_trails_is_named_and_not_made(kgnav: Kgnav) -> None:
    done = kgnav("trail", "trail-x", "--trail-store", "other.db")
    assert done.exit_code == 1
    assert "other.db" in done.stderr
    assert not Path("other.db").exists()


def test_a_maze_is_made_the_same_from_the_same_seed(kgnav: Kgnav) -> None:
    first = kgnav("maze", "-o", "maze.kg", "--seed", "3")
    assert first.stdout.splitlines() == [
        "maze.kg: 10 x 10 cells, 50 of them walls",
        "From 9 to 95; the shortest path has 15 steps.",
        "Next: kgnav serve --graph maze.kg --toolsets trail,maze",
    ]
    cells = [row for row in kgnav("call", "describe_graph", "--graph", "maze.kg").stdout.splitlines() if "Cell" in row]
    assert any("100" in row for row in cells)
    assert kgnav("maze", "-o", "other.kg", "--seed", "3").stdout.splitlines()[1] == first.stdout.splitlines()[1]


def test_a_maze_takes_no_place_of_another_file(kgnav: Kgnav) -> None:
    Path("notes.txt").write_text("mine", encoding="utf-8")
    done = kgnav("maze", "-o", "notes.txt")
    assert done.exit_code == 1
    assert "notes.txt" in done.stderr
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"
